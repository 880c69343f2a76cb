"""`python -m millstream`: the command line."""

from millstream.cli import main

main()
