"""Connectors: brokers and servers as sources of elements and sinks of answers, each in a module of its own."""
