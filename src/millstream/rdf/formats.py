"""The formats that can be read, and how one is recognised: by name, by the ending of a file's name, by media type.

A `.gz` at the end is ignored: compression is recognised by content. N-Triples, N-Quads, Turtle and TriG become RDF
Message Logs by their own `VERSION "1.2-messages"` line, or by a media type with such a `version` parameter. `.n3` is
read as Turtle: files of that name rarely hold more, and a formula is set aside like any malformed statement.
"""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass
from pathlib import PurePath

from millstream.errors import OptionError


class Format(enum.Enum):
    """A format by its name."""

    N_TRIPLES = "ntriples"
    N_QUADS = "nquads"
    TURTLE = "turtle"
    TRIG = "trig"
    RDF_XML = "rdfxml"
    JSON_LD = "jsonld"
    JSON_LINES = "jsonlines"
    PARQUET = "parquet"
    ARROW = "arrow"
    CSV = "csv"

    @property
    def is_table(self) -> bool:
        """Whether it has rows with columns s, p, o."""
        return self in (Format.PARQUET, Format.ARROW, Format.CSV)

    @property
    def has_graphs(self) -> bool:
        """Whether it can name graphs."""
        return self in (Format.N_QUADS, Format.TRIG, Format.JSON_LD, Format.JSON_LINES)


_RECOGNISED = {
    Format.N_TRIPLES: ("nt", "application/n-triples text/plain"),
    Format.N_QUADS: ("nq nquads", "application/n-quads"),
    Format.TURTLE: ("ttl turtle n3", "text/turtle application/turtle application/x-turtle text/n3"),
    Format.TRIG: ("trig", "application/trig application/x-trig"),
    Format.RDF_XML: ("rdf owl xml", "application/rdf+xml application/xml text/xml"),
    Format.JSON_LD: ("jsonld json", "application/ld+json application/json"),
    Format.JSON_LINES: ("jsonl ndjson ndjsonld", "application/x-ld+ndjson application/ld+ndjson application/x-ndjson"),
    Format.PARQUET: ("parquet pq", "application/vnd.apache.parquet"),
    Format.ARROW: ("arrow arrows feather ipc", "application/vnd.apache.arrow.file application/vnd.apache.arrow.stream"),
    Format.CSV: ("csv", "text/csv"),
}
_ENDINGS = {ending: format for format, (endings, _) in _RECOGNISED.items() for ending in endings.split()}
_MEDIA_TYPES = {media_type: format for format, (_, types) in _RECOGNISED.items() for media_type in types.split()}
_VERSION = re.compile(r';\s*version\s*=\s*"?[^";]*-messages"?', re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class FormatChoice:
    """A format, and whether it was announced to be an RDF Message Log."""

    format: Format
    messages: bool = False


def named_format(name: str | Format) -> FormatChoice:
    """The format that a name (`nquads`, `n-quads`), a file name ending or a media type means.

    >>> named_format("application/n-quads; version=1.2-messages")
    FormatChoice(format=<Format.N_QUADS: 'nquads'>, messages=True)
    """
    if isinstance(name, Format):
        return FormatChoice(name)
    if not isinstance(name, str):
        raise OptionError(f"format must be a name, got {name!r}")
    text = name.strip().lower()
    media_type, semicolon, _ = text.partition(";")
    if media_type.strip() in _MEDIA_TYPES:
        return FormatChoice(_MEDIA_TYPES[media_type.strip()], bool(semicolon and _VERSION.search(text)))
    plain = re.sub(r"[\s._/-]", "", text.removesuffix(".gz"))
    if plain in _ENDINGS:
        return FormatChoice(_ENDINGS[plain])
    for format in Format:
        if plain == format.value:
            return FormatChoice(format)
    raise OptionError(f"format {name!r} is not known; it is one of {', '.join(f.value for f in Format)}")


def format_of_path(path: str | PurePath) -> Format | None:
    """The format that a file's name tells, if any."""
    name = PurePath(path).name.lower().removesuffix(".gz")
    _, dot, ending = name.rpartition(".")
    return _ENDINGS.get(ending) if dot else None
