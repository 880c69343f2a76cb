"""Terms as values of XML Schema, and how these compare."""
