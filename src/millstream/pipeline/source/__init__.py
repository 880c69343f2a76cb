"""The data source `rdf`."""
