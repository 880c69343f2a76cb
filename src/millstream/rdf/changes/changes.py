"""Changes of a dataset: RDF Patch and SPARQL Update data, read one change after another.

The format is told by the option `format` (`rdfpatch` or `sparql`), the file's ending (.rdfp, .rdfpatch, .patch; .ru,
.rq, .sparql), or else the content. Neither format says when a change happened: `time` can be `rate:N` (N changes a
second from 0), `arrival` (the clock passed in), or nothing, and then `at_ms` is None for the caller to fill in.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePath
from typing import TYPE_CHECKING

from millstream.errors import OptionError
from millstream.limits import Limits
from millstream.rdf.blanks import BlankScope
from millstream.rdf.element import Rejections
from millstream.rdf.inputs import ByteStream
from millstream.rdf.readers.bounds import read_whole
from millstream.rdf.statements import Change, PlainChanges
from millstream.rdf.timing import TimeKind, parse_time_option

if TYPE_CHECKING:
    from millstream.rdf.changes.updates import TakePlain

FORMATS = ("rdfpatch", "sparql")

_ENDINGS = {
    "rdfp": "rdfpatch",
    "rdfpatch": "rdfpatch",
    "patch": "rdfpatch",
    "ru": "sparql",
    "rq": "sparql",
    "sparql": "sparql",
}
_PATCH_LINE = re.compile(rb"^[ \t]*(?:[ADH][ \t]+[<_\"\w]|T[XCAB]\b|P[AD][ \t])", re.MULTILINE)
_UPDATE = re.compile(rb"\b(?:insert|delete)\s+data\s*\{", re.IGNORECASE)


def check_change_options(format: str | None, time: str | None) -> None:
    """Raises OptionError for what changes cannot be."""
    if format is not None and format not in FORMATS:
        raise OptionError(f"format {format!r} of changes is not known; it is one of {', '.join(FORMATS)}")
    if time is not None and parse_time_option(time).kind not in (TimeKind.RATE, TimeKind.ARRIVAL):
        raise OptionError(f"time {time!r} is not for changes; use rate:N or arrival, or give none")


def format_of_changes(stream: ByteStream, format: str | None, name: str) -> str | None:
    """The format that was named, or that a file's name or its content tells; None if there is nothing in it."""
    ending = PurePath(name).name.lower().removesuffix(".gz").rpartition(".")[2]
    chosen = format or _ENDINGS.get(ending)
    if chosen is None:
        head = stream.beginning(1 << 16)
        return _told_by(head, name) if head.strip() else None
    return chosen


def updates_in(
    stream: ByteStream,
    base: str | None,
    rejections: Rejections,
    scope: BlankScope,
    limits: Limits,
    take_plain: TakePlain | None = None,
) -> Iterator[Change | PlainChanges]:
    """The changes of SPARQL Update data; those that `take_plain` finds are handed on as they are written."""
    if (text := read_whole(stream, limits, rejections)) is not None:
        from millstream.rdf.changes.updates import read_update

        yield from read_update(text, scope, rejections, base=base, limits=limits, take_plain=take_plain)


def _told_by(head: bytes, name: str) -> str:
    patch, update = _PATCH_LINE.search(head), _UPDATE.search(head)
    if update is not None and (patch is None or update.start() < patch.start()):
        return "sparql"
    if patch is not None:
        return "rdfpatch"
    raise OptionError(f"{name}: neither RDF Patch nor SPARQL Update data; give the option format, rdfpatch or sparql")
