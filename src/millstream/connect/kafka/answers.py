"""Answers as messages, by the mode of a sink.

| mode        | a message is                                                                                              |
|-------------|-----------------------------------------------------------------------------------------------------------|
| `changelog` | a change: an object with at_ms, weight and bindings; of CONSTRUCT the RDF Patch of one instant            |
| `istream`   | an answer that appears, without a weight; of CONSTRUCT the triples of one instant, as N-Triples           |
| `upsert`    | the answer of a key now, or none (a tombstone) if it is gone: a compacted topic is the answer set         |

What happens in one millisecond leaves before it comes: -1 stands before +1. The timestamp of a message is its answer's time,
so another query can read what CONSTRUCT sends as a stream (`istream`) or as changes of a graph (`changelog`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa

from millstream.errors import DataError, OptionError
from millstream.output.terms import json_term

MODES = ("changelog", "upsert", "istream")
TRIPLE = ("subject", "predicate", "object")
JSON, N_TRIPLES, RDF_PATCH = "application/json", "application/n-triples", "application/rdf-patch"


Change: TypeAlias = tuple[int, int, tuple[str | None, ...]]
"""When, how often, and the terms of an answer."""


class Record(NamedTuple):
    """A message to be sent."""

    key: bytes | None
    value: bytes | None
    at_ms: int
    content_type: str | None


class AnswerMessages:
    """Makes messages of answers; for `upsert` it knows what the topic holds."""

    def __init__(self, variables: Sequence[str], mode: str, key: Sequence[str] | None, *, construct: bool) -> None:
        if mode not in MODES:
            raise OptionError(f"mode {mode!r} of a sink is not known; it is one of {', '.join(MODES)}")
        for name in key or ():
            if name not in variables:
                raise OptionError(f"key {name!r}: the answers have no such variable; they have {', '.join(variables)}")
        self._variables = tuple(variables)
        self._mode = mode
        self._key = [self._variables.index(name) for name in key] if key else None
        self._is_construct = construct
        if mode == "upsert" and self._key is None:
            self._key = list(range(len(self._variables)))
        self._held: dict[bytes, dict[str, int]] = {}
        """For `upsert`: the answers of each key, and how often each is there."""

    def records(self, answers: pa.Table) -> list[Record]:
        """The messages of some answers, in order."""
        if not answers.num_rows:
            return []
        at_ms, weight = (answers.column(name).to_numpy() for name in ("at_ms", "weight"))
        order = np.lexsort((weight > 0, at_ms))
        terms = [answers.column(name).to_pylist() for name in self._variables]
        rows = [(int(at_ms[i]), int(weight[i]), tuple(column[i] for column in terms)) for i in order.tolist()]
        if self._mode == "upsert":
            return self.upserts(rows)
        if self._is_construct:
            return self._triples(rows)
        appear = self._mode == "istream"
        return [
            Record(self._key_of(row), _value(at, None if appear else w, self._variables, row), at, JSON)
            for at, w, row in rows
            if w > 0 or not appear
            for _ in range(w if appear else 1)
        ]

    def _triples(self, rows: list[Change]) -> list[Record]:
        found = []
        for at_ms, some in groupby(rows, key=lambda row: row[0]):
            if self._mode == "istream":
                lines = [f"{' '.join(map(str, row))} .\n" for _, weight, row in some if weight > 0]
                kind = N_TRIPLES
            else:
                lines = [f"{'A' if weight > 0 else 'D'} {' '.join(map(str, row))} .\n" for _, weight, row in some]
                kind = RDF_PATCH
            if lines:
                found.append(Record(None, "".join(lines).encode("utf-8", "replace"), at_ms, kind))
        return found

    # What a compacted topic holds -------------------------------------------------------------------------------------

    def hold(self, messages: Iterable[tuple[bytes | None, bytes | None]]) -> None:
        """What the topic has already, key by key."""
        for key, value in messages:
            if key is None:
                continue
            self._held.pop(key, None)
            if value is not None:
                try:
                    found = json.loads(value)
                    self._held[key] = {json.dumps(found["terms"]): int(found["weight"])}
                except (ValueError, KeyError, TypeError):
                    raise DataError("the topic has messages that no query of ours sent: use one of its own") from None

    def withdrawn(self) -> list[Record]:
        """Takes back all that the topic has."""
        found = [Record(key, None, 0, None) for key in self._held]
        self._held.clear()
        return found

    def upserts(self, rows: Iterable[Change]) -> list[Record]:
        """The messages of changes in order of time: for each key that has changed what it has now."""
        touched: dict[bytes, int] = {}
        before: dict[bytes, dict[str, int]] = {}
        for at_ms, weight, row in rows:
            key = self.key_of(row)
            if key not in touched:
                before[key] = dict(self._held.get(key, {}))
            touched[key] = at_ms
            held = self._held.setdefault(key, {})
            text = json.dumps(row)
            held[text] = held.get(text, 0) + weight
            if not held[text]:
                del held[text]
        found = []
        for key, at_ms in touched.items():
            held = self._held[key]
            if len(held) > 1 or any(count < 0 for count in held.values()):
                raise OptionError(f"the key does not tell answers apart: there are several with {key.decode()}")
            if not held:
                del self._held[key]
            if held == before[key]:
                continue
            value = None
            for text, count in held.items():
                value = _value(at_ms, count, self._variables, json.loads(text), terms=True)
            found.append(Record(key, value, at_ms, None if value is None else JSON))
        return found

    def key_of(self, row: Sequence[str | None]) -> bytes:
        """The key of an answer's message, where messages have keys."""
        return self._key_of(row) or b""

    def _key_of(self, row: Sequence[str | None]) -> bytes | None:
        if self._key is None:
            return None
        terms = [row[place] for place in self._key]
        text = str(terms[0]) if len(terms) == 1 and terms[0] is not None else json.dumps(terms, ensure_ascii=False)
        return text.encode("utf-8", "replace")


def _value(
    at_ms: int, weight: int | None, variables: Sequence[str], row: Sequence[str | None], *, terms: bool = False
) -> bytes:
    found: dict[str, Any] = {"at_ms": at_ms}
    if weight is not None:
        found["weight"] = weight
    found["bindings"] = {name: json_term(term) for name, term in zip(variables, row, strict=True) if term is not None}
    if terms:
        # As they are spelt: so whoever goes on knows what is there.
        found["terms"] = list(row)
    return json.dumps(found, ensure_ascii=False).encode("utf-8", "replace")
