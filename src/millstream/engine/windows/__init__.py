"""Window operators of an engine and the state they keep."""
