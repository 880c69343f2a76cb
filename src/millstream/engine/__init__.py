"""The engine in one process: streams, datasets and registered queries."""
