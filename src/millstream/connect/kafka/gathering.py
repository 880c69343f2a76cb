"""Messages of a consumer as columns: they are taken apart a portion at a time, and only their bytes are kept.

A message of the client is an object that the garbage collector follows, and partitions that wait for each other keep
messages by the hundred thousand. A portion is gone before the collector looks, and its memory is that of the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from millstream.ingest.messages import Headers, Lane, Messages

PORTION = 500
"""Messages to ask a consumer for at once: fewer than objects after which the collector begins."""


class Gathering:
    """The messages of some portions."""

    def __init__(self) -> None:
        self._lane: list[int] = []
        self._offset: list[int] = []
        self._values: list[bytes | None] = []
        self._at_ms: list[int] = []
        self._keys: list[bytes | None] = []
        self._headers: dict[int, Headers] = {}
        """Of those that have some."""

    def __len__(self) -> int:
        return len(self._values)

    def add(self, numbers: Sequence[int], found: Sequence[Any]) -> None:
        """Messages, none of them an error, with the number of the lane of each."""
        first = len(self._values)
        self._lane += numbers
        self._offset += [message.offset() for message in found]
        self._values += [message.value() for message in found]
        self._keys += [message.key() for message in found]
        for message in found:
            kind, at_ms = message.timestamp()
            self._at_ms.append(at_ms if kind else -1)
        for place, message in enumerate(found, first):
            if headers := message.headers():
                self._headers[place] = headers

    def messages(self, lanes: Sequence[Lane]) -> Messages:
        """All of them."""
        keys, headers = self._keys, self._headers
        return Messages(
            lanes,
            np.array(self._lane, np.int64),
            np.array(self._offset, np.int64),
            self._values,
            np.array(self._at_ms, np.int64),
            keys.__getitem__,
            lambda place: headers.get(place, ()),
        )
