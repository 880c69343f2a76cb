"""Windows: which stretch of a stream a pattern sees, one class a kind."""
