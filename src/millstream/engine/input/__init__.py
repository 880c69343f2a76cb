"""What enters an engine: elements, dataset changes, loads."""
