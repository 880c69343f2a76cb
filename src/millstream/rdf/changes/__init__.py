"""Dataset changes: RDF Patch and SPARQL Update."""
