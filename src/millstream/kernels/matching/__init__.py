"""Elements as columns, and the patterns that they match."""
