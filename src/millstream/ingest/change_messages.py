"""Messages as changes of graphs: RDF Patch and SPARQL Update.

A change happens at the time of its message. A message is taken as a whole or not at all. Messages of plain SPARQL Update
data that follow each other are read together, all others one by one.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from millstream.errors import DataError, OptionError
from millstream.ingest.chunk import Want
from millstream.ingest.columns import NOTHING, Columns, Ids, joined
from millstream.ingest.messages import CONTENT_TYPE, MessageFaults, Messages, MessageTimes, message_time
from millstream.ingest.parts import Part
from millstream.ingest.readers.dispatch import read_changes
from millstream.ingest.readers.gathering import PlainEntries, encode_entries
from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.kernels.scanning.plain_updates import take_plain
from millstream.kernels.scanning.summary import Summary
from millstream.limits import DEFAULT_LIMITS, Limits
from millstream.rdf import BlankScope, OnRejected, Rejected, Rejections
from millstream.rdf.changes.changes import FORMATS
from millstream.rdf.changes.updates import plain_update
from millstream.rdf.inputs import memory
from millstream.rdf.statements import PlainChanges
from millstream.rdf.timing import FixedClock, TimeKind

_MEDIA_TYPES = {"application/rdf-patch": "rdfpatch", "text/rdf-patch": "rdfpatch", "application/sparql-update": "sparql"}


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
        plain: dict[int, PlainChanges] = {}

        def read_plain() -> None:
            """Those that have come since the last other one."""
            if plain:
                places = np.repeat(np.fromiter(plain, np.int64), [len(changes) for changes in plain.values()])
                found.append(_together(list(plain.values()), at_ms[places], faults, dictionary))
                origin.append(places)
                plain.clear()

        for place, value in enumerate(messages.values):
            if value is None or not value.strip() or place in faults.refused:
                continue
            if (changes := self._plain(messages, place, value)) is not None:
                plain[place] = changes
                continue
            read_plain()
            parts = self._changes(messages, place, value, int(at_ms[place]), faults, dictionary)
            if place not in faults.refused:
                found += parts
                origin += [np.full(part.elements, place) for part in parts]
        read_plain()
        columns = joined(found) if found else NOTHING
        return faults.cut(columns, np.concatenate([np.empty(0, np.int64), *origin]))

    def _plain(self, messages: Messages, place: int, value: bytes) -> PlainChanges | None:
        is_update = self._format_of(messages, place) == "sparql"
        return plain_update(value, self._limits, take_plain) if is_update else None

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


def _together(plain: list[PlainChanges], at_ms: Ids, faults: MessageFaults, dictionary: Dictionary) -> Columns:
    lines, signs = (b"".join(parts) for parts in zip(*((each.lines, each.signs) for each in plain), strict=True))
    entries = PlainEntries(PlainChanges(lines, signs), at_ms.tolist())
    return encode_entries([entries], Rejections("messages", faults.tell), dictionary, None, graphs=True)


def is_change_format(name: str) -> bool:
    """Whether a name or media type means a format of changes."""
    return _MEDIA_TYPES.get(name.strip().lower(), name.strip().lower()) in FORMATS


def change_format(name: str) -> str:
    """The format of changes that a name or media type means."""
    found = _MEDIA_TYPES.get(name.strip().lower(), name.strip().lower())
    if found not in FORMATS:
        raise OptionError(f"format {name!r} of changes is not known; it is one of {', '.join(FORMATS)}")
    return found
