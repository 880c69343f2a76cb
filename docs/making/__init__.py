"""What documentation shows and programs make. `python -m docs.making` makes all of it."""
