"""ORDER BY and LIMIT: rows and terms in order."""
