"""HTTP: the application, connections, bodies, rights."""
