"""Window operators (stream-to-relation) and graphs."""
