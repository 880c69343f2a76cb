"""The formats that can be read, and how one is recognised.

| name      | file name ends in                | media types                                                     |
|-----------|----------------------------------|-----------------------------------------------------------------|
| ntriples  | .nt                              | application/n-triples, text/plain                               |
| nquads    | .nq, .nquads                     | application/n-quads                                             |
| turtle    | .ttl, .turtle, .n3               | text/turtle, application/turtle, application/x-turtle, text/n3  |
| trig      | .trig                            | application/trig, application/x-trig                            |
| rdfxml    | .rdf, .owl, .xml                 | application/rdf+xml, application/xml, text/xml                  |
| jsonld    | .jsonld, .json                   | application/ld+json, application/json                           |
| jsonlines | .jsonl, .ndjson, .ndjsonld       | application/x-ld+ndjson, application/x-ndjson                   |
| parquet   | .parquet, .pq                    | application/vnd.apache.parquet                                  |
| arrow     | .arrow, .feather, .ipc, .arrows  | application/vnd.apache.arrow.file, ...arrow.stream              |
| csv       | .csv                             | text/csv                                                        |

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
    """A format by its name; `endings` and `media_types` are what it is recognised by."""

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


ENDINGS: dict[str, Format] = {
    "nt": Format.N_TRIPLES,
    "nq": Format.N_QUADS,
    "nquads": Format.N_QUADS,
    "ttl": Format.TURTLE,
    "turtle": Format.TURTLE,
    "n3": Format.TURTLE,
    "trig": Format.TRIG,
    "rdf": Format.RDF_XML,
    "owl": Format.RDF_XML,
    "xml": Format.RDF_XML,
    "jsonld": Format.JSON_LD,
    "json": Format.JSON_LD,
    "jsonl": Format.JSON_LINES,
    "ndjson": Format.JSON_LINES,
    "ndjsonld": Format.JSON_LINES,
    "parquet": Format.PARQUET,
    "pq": Format.PARQUET,
    "arrow": Format.ARROW,
    "arrows": Format.ARROW,
    "feather": Format.ARROW,
    "ipc": Format.ARROW,
    "csv": Format.CSV,
}

_MEDIA_TYPES: dict[str, Format] = {
    "application/n-triples": Format.N_TRIPLES,
    "text/plain": Format.N_TRIPLES,
    "application/n-quads": Format.N_QUADS,
    "text/turtle": Format.TURTLE,
    "application/turtle": Format.TURTLE,
    "application/x-turtle": Format.TURTLE,
    "text/n3": Format.TURTLE,
    "application/trig": Format.TRIG,
    "application/x-trig": Format.TRIG,
    "application/rdf+xml": Format.RDF_XML,
    "application/xml": Format.RDF_XML,
    "text/xml": Format.RDF_XML,
    "application/ld+json": Format.JSON_LD,
    "application/json": Format.JSON_LD,
    "application/x-ld+ndjson": Format.JSON_LINES,
    "application/ld+ndjson": Format.JSON_LINES,
    "application/x-ndjson": Format.JSON_LINES,
    "application/vnd.apache.parquet": Format.PARQUET,
    "application/vnd.apache.arrow.file": Format.ARROW,
    "application/vnd.apache.arrow.stream": Format.ARROW,
    "text/csv": Format.CSV,
}

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
    if plain in ENDINGS:
        return FormatChoice(ENDINGS[plain])
    for format in Format:
        if plain == format.value:
            return FormatChoice(format)
    raise OptionError(f"format {name!r} is not known; it is one of {', '.join(f.value for f in Format)}")


def format_of_path(path: str | PurePath) -> Format | None:
    """The format that a file's name tells, if any."""
    name = PurePath(path).name.lower().removesuffix(".gz")
    _, dot, ending = name.rpartition(".")
    return ENDINGS.get(ending) if dot else None
