"""Regular expressions of XPath."""
