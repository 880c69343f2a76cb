"""Text to parse: grammar, lexer, LALR tables, errors."""
