"""Kafka: topics as sources of elements or of changes, and as sinks of answers."""

from millstream.connect.kafka.source import KafkaSource, kafka

__all__ = ["KafkaSource", "kafka"]
