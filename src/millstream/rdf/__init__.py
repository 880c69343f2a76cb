"""RDF at the edge of the system: terms, XSD values, formats, and readers that turn input into stream elements."""
