"""N-Triples and N-Quads bytes to columns of ids."""
