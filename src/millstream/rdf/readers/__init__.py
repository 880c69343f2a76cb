"""Readers of RDF formats, and the parser behind them."""
