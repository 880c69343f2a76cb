"""Elements of one stream that follow each other, gathered to be pushed as one table: many times as fast as one by one.

Answers never depend on how input is cut into batches, so only speed does. Elements with blank nodes are pushed by
themselves: labels in a table are nodes of that table, and these are nodes of their source.
"""

from __future__ import annotations

import pyarrow as pa

from millstream.cli.feeds import Item
from millstream.engine import Engine

_MOST = 2048
_MOST_BYTES = 16 << 20
# A table has a price of its own.
_FEWEST = 8


class Gathered:
    """Holds elements back for a moment; whoever wants to see the engine's state pushes them first."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._stream = ""
        self._items: list[Item] = []
        self._texts: list[list[str]] = []
        self._size = 0

    def add(self, stream: str, item: Item) -> None:
        texts = [f"{triple} ." for triple in item.triples]
        if not texts or any("_:" in text for text in texts):
            self.push()
            assert item.at_ms is not None
            self._engine.push(stream, item.triples, at_ms=item.at_ms)
            return
        if stream != self._stream or len(self._items) >= _MOST or self._size >= _MOST_BYTES:
            self.push()
            self._stream = stream
        self._items.append(item)
        self._texts.append(texts)
        self._size += sum(map(len, texts))

    def push(self) -> None:
        """Everything gathered enters the engine."""
        items, texts = self._items, self._texts
        self._items, self._texts, self._size = [], [], 0
        if len(items) < _FEWEST:
            for item, lines in zip(items, texts, strict=True):
                assert item.at_ms is not None
                self._engine.push(self._stream, "\n".join(lines), at_ms=item.at_ms)
            return
        numbers = [number for number, item in enumerate(items) for _ in item.triples]
        triples = [triple for item in items for triple in item.triples]
        table = pa.table(
            {
                "s": [str(triple.subject) for triple in triples],
                "p": [str(triple.predicate) for triple in triples],
                "o": [str(triple.object) for triple in triples],
                "at_ms": pa.array([items[number].at_ms for number in numbers], pa.int64()),
                "element": pa.array(numbers, pa.int64()),
            }
        )
        self._engine.push_table(self._stream, table)
