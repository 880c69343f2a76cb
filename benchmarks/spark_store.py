"""A state store without Spark: a dictionary that takes over what an attempt wrote."""

from __future__ import annotations

from typing import Any


class DictStore:
    """What a cell keeps itself in."""

    def __init__(self) -> None:
        self.committed: dict[Any, Any] = {}
        self._pending: dict[Any, Any] = {}

    def ledger(self) -> str | None:
        return self.committed.get("ledger")

    def keep_ledger(self, text: str) -> None:
        self._pending["ledger"] = text

    def piece(self, version: int, number: int) -> bytes:
        data: bytes = self.committed[version, number]
        return data

    def keep_piece(self, version: int, number: int, data: bytes) -> None:
        self._pending[version, number] = data

    def drop_piece(self, version: int, number: int) -> None:
        self._pending[version, number] = None

    def commit(self) -> None:
        """Takes over what was written since."""
        for key, value in self._pending.items():
            if value is None:
                self.committed.pop(key, None)
            else:
                self.committed[key] = value
        self._pending = {}

    @property
    def bytes(self) -> int:
        """How much is kept."""
        return sum(len(value) for value in self.committed.values())
