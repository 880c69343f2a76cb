"""Messages as states of keys: one replaces what its key stated before, one without a value takes it back.

A triple is in the graph as long as any key states it. Of a key the last message counts, whatever its time says: so a message
whose time goes back happens when the one before it did.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Any, TypeAlias

import numpy as np

from millstream.errors import OptionError
from millstream.ingest.columns import Columns, Ids
from millstream.ingest.message_reader import MessageReader
from millstream.ingest.messages import Messages, message_time
from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.limits import DEFAULT_LIMITS, Limits
from millstream.operators.ticks import FOREVER
from millstream.rdf import OnRejected, Rejections

Row: TypeAlias = tuple[int, ...]
"""What is stated: ids of a triple, and before them whatever else tells one from another."""


def upsert_reader(
    format: str | None, time: str | None, element: str | None, base: str | None, limits: Limits = DEFAULT_LIMITS
) -> MessageReader:
    """Reads messages that are states of keys; their triples are of one graph, whatever they say."""
    if message_time(time).is_stated:
        raise OptionError("upserts: a message without a value states no time; use timestamp or header:NAME")
    if element not in (None, "message"):
        raise OptionError(f"upserts: the state of a key is a message, not a {element}")
    return MessageReader(format, time, None, base, limits)


def keys_of(messages: Iterable[tuple[Messages, int]], on_rejected: OnRejected | None) -> Iterator[tuple[int, bytes]]:
    """The keys of messages, each with its number among them; those that have none are set aside."""
    for number, (some, place) in enumerate(messages):
        key = some.key_of(place)
        if key is None:
            Rejections(some.name(place), on_rejected).reject("it has no key, so nobody knows what it replaces")
        else:
            yield number, key


class Upserts:
    """What each key states now."""

    def __init__(self, terms: int = 3) -> None:
        """`terms`: how many of the last numbers of a row are ids of terms, which are held as long as it is stated."""
        self._terms = terms
        self._stated: dict[Any, frozenset[Row]] = {}
        self._count: dict[Row, int] = {}

    def __contains__(self, key: Hashable) -> bool:
        return key in self._stated

    def items(self) -> Iterable[tuple[Any, frozenset[Row]]]:
        """The keys that state something, and what."""
        return self._stated.items()

    def replace(self, key: Hashable, new: frozenset[Row], dictionary: Dictionary) -> tuple[list[Row], list[Row]]:
        """What leaves and what comes when a key states something new; the ids of what leaves are good until the dictionary
        is settled.
        """
        old = self._stated.pop(key, frozenset())
        if new:
            self._stated[key] = new
        dictionary.hold(self._ids(new))
        leave, come = [], []
        for row in sorted(old - new):
            self._count[row] -= 1
            if not self._count[row]:
                del self._count[row]
                leave.append(row)
        for row in sorted(new - old):
            self._count[row] = self._count.get(row, 0) + 1
            if self._count[row] == 1:
                come.append(row)
        dictionary.release(self._ids(old), -FOREVER)
        return leave, come

    def _ids(self, rows: frozenset[Row]) -> Ids:
        return np.array([row[-self._terms :] for row in rows], np.int64).ravel()

    # In one process ---------------------------------------------------------------------------------------------------

    def changes(self, columns: Columns, keys: Iterable[bytes], dictionary: Dictionary) -> Columns:
        """What elements change, one after the other: first what leaves, then what comes."""
        triples: list[Row] = []
        element: list[int] = []
        times: list[int] = []
        signs: list[int] = []
        rows = list(map(tuple, columns.triples.tolist()))
        bounds = np.searchsorted(columns.element, np.arange(columns.elements + 1)).tolist()
        for place, (key, at_ms) in enumerate(zip(keys, columns.times().tolist(), strict=True)):
            leave, come = self.replace(key, frozenset(rows[bounds[place] : bounds[place + 1]]), dictionary)
            for some, sign in ((leave, -1), (come, 1)):
                if some:
                    triples += some
                    element += [len(times)] * len(some)
                    times.append(at_ms)
                    signs.append(sign)
        return Columns(
            np.array(triples, np.int64).reshape(-1, 3),
            np.array(element, np.int64),
            len(times),
            np.array(times, np.int64),
            np.bincount(np.array(element, np.int64), minlength=len(times)),
            sign=np.array(signs, np.int64),
            fault=columns.fault,
        )

    def dump(self, dictionary: Dictionary) -> dict[str, list[list[str]]]:
        """What is stated, as text."""
        return {
            key.hex(): [[str(term) for term in dictionary.texts(np.array(triple))] for triple in sorted(triples)]
            for key, triples in self._stated.items()
        }

    def load(self, stated: Mapping[str, list[list[str]]], dictionary: Dictionary) -> None:
        """What `dump` gave, in the dictionary of an engine that has its triples."""
        for key, triples in stated.items():
            found = frozenset(tuple(map(dictionary.encode_one, triple)) for triple in triples)
            self.replace(bytes.fromhex(key), found, dictionary)
