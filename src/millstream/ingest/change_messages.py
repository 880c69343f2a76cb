"""Messages as changes of graphs: RDF Patch and SPARQL Update, or the state of a key that replaces the one before.

A change happens at the time of its message. A message is taken as a whole or not at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

import numpy as np

from millstream.errors import DataError, OptionError
from millstream.ingest.chunk import Want
from millstream.ingest.columns import NOTHING, Columns, Ids, joined
from millstream.ingest.messages import CONTENT_TYPE, MessageFaults, Messages, MessageTimes, message_time
from millstream.ingest.parts import Part
from millstream.ingest.readers.dispatch import read_changes
from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.kernels.scanning.summary import Summary
from millstream.limits import DEFAULT_LIMITS, Limits
from millstream.operators.ticks import FOREVER
from millstream.rdf import BlankScope, OnRejected, Rejected, Rejections
from millstream.rdf.changes.changes import FORMATS
from millstream.rdf.inputs import memory
from millstream.rdf.timing import FixedClock, TimeKind

_MEDIA_TYPES = {"application/rdf-patch": "rdfpatch", "text/rdf-patch": "rdfpatch", "application/sparql-update": "sparql"}
Triples = frozenset[tuple[int, int, int]]


class ChangeReader:
    """Messages with changes to columns of changes."""

    def __init__(
        self, format: str | None = None, time: str | None = None, base: str | None = None, limits: Limits = DEFAULT_LIMITS
    ) -> None:
        self._format = None if format is None else change_format(format)
        option = message_time(time)
        if option.kind not in (TimeKind.TIMESTAMP, TimeKind.HEADER):
            raise OptionError(f"time {time!r} is not for changes; it is timestamp or header:NAME")
        self._times = MessageTimes(option)
        self._base = base
        self._limits = limits

    def encode(
        self, messages: Messages, dictionary: Dictionary, summary: Summary | None, on_rejected: OnRejected | None
    ) -> tuple[Columns, Ids]:
        """The changes of messages, and for each the place of its message."""
        faults = MessageFaults(messages, on_rejected)
        at_ms = self._times.of(messages, faults)
        assert at_ms is not None
        found: list[Columns] = []
        origin: list[Ids] = []
        for place, value in enumerate(messages.values):
            if value is None or not value.strip() or place in faults.refused:
                continue
            parts = self._changes(messages, place, value, int(at_ms[place]), faults, dictionary)
            if place not in faults.refused:
                found += parts
                origin += [np.full(part.elements, place) for part in parts]
        columns = joined(found) if found else NOTHING
        return faults.cut(columns, np.concatenate([np.empty(0, np.int64), *origin]))

    def _changes(
        self, messages: Messages, place: int, value: bytes, at_ms: int, faults: MessageFaults, dictionary: Dictionary
    ) -> list[Columns]:
        def reject(rejected: Rejected) -> None:
            line, column = rejected.line, rejected.column
            faults.report(place, rejected.reason, line=line, column=column, text=rejected.text, whole=True)

        want = Want(
            self._format_of(messages, place), "arrival", clock_ms=FixedClock(at_ms), on_rejected=reject, changes=True
        )
        name, scope = messages.name(place), BlankScope(messages.scope(place))
        part = Part(None, Rejections(name, reject), scope, self._base, open=partial(memory, value), limits=self._limits)
        try:
            found = [chunk.encode(dictionary, None) for chunk in read_changes(part, want)]
        except DataError as error:
            reject(Rejected(error.source, error.line, error.column, error.reason, error.text))
            return []
        except OptionError as error:
            # Its content tells no format.
            reject(Rejected(name, None, None, str(error), ""))
            return []
        return [columns for columns in found if columns.elements]

    def _format_of(self, messages: Messages, place: int) -> str | None:
        if self._format is not None:
            return self._format
        for name, value in messages.headers_of(place):
            if name.lower() == CONTENT_TYPE and value is not None:
                return _MEDIA_TYPES.get(value.decode("utf-8", "replace").partition(";")[0].strip().lower())
        return None


def is_change_format(name: str) -> bool:
    """Whether a name or media type means a format of changes."""
    return _MEDIA_TYPES.get(name.strip().lower(), name.strip().lower()) in FORMATS


def change_format(name: str) -> str:
    """The format of changes that a name or media type means."""
    found = _MEDIA_TYPES.get(name.strip().lower(), name.strip().lower())
    if found not in FORMATS:
        raise OptionError(f"format {name!r} of changes is not known; it is one of {', '.join(FORMATS)}")
    return found


class Upserts:
    """What each key states now: a message replaces what its key stated before, one without a value takes it back.

    A triple is in the graph as long as any key states it.
    """

    def __init__(self) -> None:
        self._stated: dict[bytes, Triples] = {}
        self._count: dict[tuple[int, int, int], int] = {}

    def changes(self, columns: Columns, keys: Iterable[bytes], dictionary: Dictionary) -> Columns:
        """What elements change, one after the other: first what leaves, then what comes."""
        triples: list[tuple[int, int, int]] = []
        element: list[int] = []
        times: list[int] = []
        signs: list[int] = []
        rows = list(map(tuple, columns.triples.tolist()))
        bounds = np.searchsorted(columns.element, np.arange(columns.elements + 1)).tolist()
        for place, (key, at_ms) in enumerate(zip(keys, columns.times().tolist(), strict=True)):
            new: Triples = frozenset(rows[bounds[place] : bounds[place + 1]])
            leave, come = self._replace(key, new, dictionary)
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

    def _replace(self, key: bytes, new: Triples, dictionary: Dictionary) -> tuple[list[Any], list[Any]]:
        old = self._stated.pop(key, frozenset())
        if new:
            self._stated[key] = new
        dictionary.hold(_ids(new))
        leave, come = [], []
        for triple in sorted(old - new):
            self._count[triple] -= 1
            if not self._count[triple]:
                del self._count[triple]
                leave.append(triple)
        for triple in sorted(new - old):
            self._count[triple] = self._count.get(triple, 0) + 1
            if self._count[triple] == 1:
                come.append(triple)
        # What leaves is good until the batch has been taken.
        dictionary.release(_ids(old), -FOREVER)
        return leave, come

    def dump(self, dictionary: Dictionary) -> dict[str, list[list[str]]]:
        """What is stated, as text."""
        return {
            key.hex(): [[str(term) for term in dictionary.texts(np.array(triple))] for triple in sorted(triples)]
            for key, triples in self._stated.items()
        }

    def load(self, stated: Mapping[str, list[list[str]]], dictionary: Dictionary) -> None:
        """What `dump` gave, in the dictionary of an engine that has its triples."""
        for key, triples in stated.items():
            ids = frozenset((*map(dictionary.encode_one, triple),) for triple in triples)
            self._replace(bytes.fromhex(key), ids, dictionary)  # type: ignore[arg-type]


def _ids(triples: Triples) -> Ids:
    return np.array(sorted(triples), np.int64).ravel()
