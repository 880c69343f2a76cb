"""Syntax tree to algebra."""
