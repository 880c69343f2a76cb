"""Messages as changes of graphs: RDF Patch and SPARQL Update.

A change happens at the time of its message. A message is taken as a whole or not at all. Messages of RDF Patch that follow
each other are read together, and so are those of plain SPARQL Update data; all others one by one.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import groupby

import numpy as np

from millstream.errors import DataError, OptionError
from millstream.ingest.chunk import Want
from millstream.ingest.columns import NOTHING, Columns, Ids, joined
from millstream.ingest.messages import MessageFaults, Messages, MessageTimes, message_time
from millstream.ingest.parts import Part
from millstream.ingest.readers.dispatch import read_changes
from millstream.ingest.readers.gathering import PlainEntries, encode_entries
from millstream.ingest.readers.patching import encode_patches
from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.kernels.scanning.plain_updates import take_plain
from millstream.kernels.scanning.summary import Summary
from millstream.limits import DEFAULT_LIMITS, Limits
from millstream.rdf import BlankScope, OnRejected, Rejected, Rejections
from millstream.rdf.changes.changes import FORMATS
from millstream.rdf.changes.updates import plain_update
from millstream.rdf.inputs import is_compressed, memory
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

        def way_of(place: int) -> str:
            value = messages.values[place]
            assert value is not None
            format = self._format_of(messages, place)
            if format == "rdfpatch" and len(value) <= self._limits.statement_bytes and not is_compressed(value):
                return "patches"
            if format == "sparql" and (changes := plain_update(value, self._limits, take_plain)) is not None:
                plain[place] = changes
                return "plain"
            return "alone"

        values = enumerate(messages.values)
        places = (place for place, value in values if value and value.strip() and place not in faults.refused)
        for way, some in groupby(places, key=way_of):
            of_way = list(some)
            if way == "patches":
                columns, at = encode_patches(messages, of_way, self._base, self._limits, faults, dictionary)
                found.append(replace(columns, at_ms=at_ms[at]))
                origin.append(at)
            elif way == "plain":
                changes = [plain.pop(place) for place in of_way]
                at = np.repeat(np.array(of_way, np.int64), list(map(len, changes)))
                found.append(_together(changes, at_ms[at], faults, dictionary))
                origin.append(at)
            else:
                for place in of_way:
                    parts = self._changes(messages, place, int(at_ms[place]), faults, dictionary)
                    if place not in faults.refused:
                        found += parts
                        origin += [np.full(part.elements, place) for part in parts]
        # Where there are none, nobody knows their signs.
        found = [columns for columns in found if columns.elements]
        return faults.cut(joined(found) if found else NOTHING, np.concatenate([np.empty(0, np.int64), *origin]))

    def _changes(
        self, messages: Messages, place: int, at_ms: int, faults: MessageFaults, dictionary: Dictionary
    ) -> list[Columns]:
        def reject(rejected: Rejected) -> None:
            line, column = rejected.line, rejected.column
            faults.report(place, rejected.reason, line=line, column=column, text=rejected.text, whole=True)

        want = Want(
            self._format_of(messages, place), "arrival", clock_ms=FixedClock(at_ms), on_rejected=reject, changes=True
        )
        name, scope = messages.name(place), BlankScope(messages.scope(place))
        opened = partial(memory, messages.values[place] or b"")
        part = Part(None, Rejections(name, reject), scope, self._base, open=opened, limits=self._limits)
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
        return _MEDIA_TYPES.get((messages.content_type(place) or "").partition(";")[0].strip().lower())


def _together(plain: list[PlainChanges], at_ms: Ids, faults: MessageFaults, dictionary: Dictionary) -> Columns:
    lines, signs = (b"".join(parts) for parts in zip(*((each.lines, each.signs) for each in plain), strict=True))
    entries = PlainEntries(PlainChanges(lines, signs), at_ms.tolist())
    return encode_entries([entries], Rejections("messages", faults.tell), dictionary, None, graphs=True)


def is_change_format(name: str) -> bool:
    """Whether a name or media type means a format of changes."""
    return _MEDIA_TYPES.get(name.strip().lower(), name.strip().lower()) in FORMATS


def change_format(name: str) -> str:
    """The format of changes that a name or media type means."""
    if not is_change_format(name):
        raise OptionError(f"format {name!r} of changes is not known; it is one of {', '.join(FORMATS)}")
    return _MEDIA_TYPES.get(name.strip().lower(), name.strip().lower())
