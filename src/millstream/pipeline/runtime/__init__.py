"""Spark itself: sessions, Java, workers, errors."""
