"""What people type after the options of `millstream run`, turned into plain values; what cannot be is an OptionError."""

from __future__ import annotations

import glob
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from millstream.connect.kafka.options import is_address
from millstream.connect.kafka.source import kafka_source
from millstream.engine.options import named_iri
from millstream.errors import DataError, OptionError
from millstream.limits import Limits
from millstream.output.files import STANDARD
from millstream.rdf.inputs import files_of
from millstream.windows.durations import parse_duration

_DURATION = re.compile(r"(?:\d+(?:\.\d+)?\s*[A-Za-z]+\s*)+|\d+|[Pp][\w.]+")


@dataclass(frozen=True, slots=True)
class StreamSource:
    """Where the elements of a stream are: a file, folder, glob, `-` or `kafka://...`."""

    iri: str
    path: str


@dataclass(frozen=True, slots=True)
class GraphSource:
    """Where the triples of a graph, or its changes, are; None is the default graph."""

    graph: str | None
    path: str


def stream_source(text: str) -> StreamSource:
    """`IRI=PATH`; an IRI may hold equals signs, and may stand in angle brackets."""
    if is_address(text):
        raise OptionError("--stream kafka://...: write IRI=kafka://..., the stream that the topic is, before it")
    iri, path = _split(text)
    if iri is None:
        raise OptionError(f"--stream {text}: write IRI=PATH, as in --stream http://example.org/taxi=trips.nq")
    return StreamSource(named_iri(iri, "stream"), path)


def graph_source(text: str, option: str) -> GraphSource:
    """`PATH` for the default graph, or `GRAPH=PATH`."""
    is_path = text == STANDARD or is_address(text) or Path(text).exists()
    graph, path = (None, text) if is_path else _split(text)
    if not path:
        raise OptionError(f"{option} {text}: the path is missing; write PATH or GRAPH=PATH")
    return GraphSource(None if graph is None else named_iri(graph, "graph"), path)


def _split(text: str) -> tuple[str | None, str]:
    if text.startswith("<") and ">=" in text:
        iri, _, path = text[1:].partition(">=")
        return iri, path
    places = [match.start() for match in re.finditer("=", text)]
    for place in places:
        if _means_files(text[place + 1 :]):
            return text[:place], text[place + 1 :]
    if not places:
        return None, text
    return text[: places[0]], text[places[0] + 1 :]


def _means_files(path: str) -> bool:
    if is_address(path):
        return True
    try:
        return path == STANDARD or Path(path).exists() or (glob.has_magic(path) and bool(glob.glob(path, recursive=True)))
    except (OSError, ValueError):
        return False


def check_path(path: str, option: str, *, may_come: bool = False) -> None:
    """Complains about a path that means nothing, before anything runs; with `may_come`, a glob may match nothing yet."""
    if path == STANDARD or (may_come and glob.has_magic(path)):
        return
    if is_address(path):
        if option == "--dataset":
            raise OptionError("--dataset kafka://...: topics are streams or changes; use --stream or --changes")
        kafka_source(path)
        return
    try:
        next(files_of(path, any_ending=True), None)
    except DataError as error:
        raise OptionError(f"{option} {path}: {error.reason}") from None


def duration_ms(text: str, option: str) -> int:
    """A duration as queries write it: `5s`, `1h30m`, `PT10M`, `250` for milliseconds."""
    if not _DURATION.fullmatch(text.strip()):
        raise OptionError(f"{option} {text}: not a duration; write one such as 5s, 250ms or 1h30m")
    try:
        return parse_duration(text.strip()).ms
    except ValueError as error:
        raise OptionError(f"{option} {text}: {error}") from None


def limits(texts: Iterable[str]) -> Limits:
    """`NAME=VALUE`, each a limit; sizes are bytes, or `64k`, `16m`, `1g`."""
    found = {}
    for text in texts:
        name, _, value = text.partition("=")
        match = re.fullmatch(r"(\d{1,18})([kmg]?)", value.strip().lower())
        if match is None:
            raise OptionError(f"--limit {text}: write NAME=VALUE, as in --limit value_bytes=16m")
        found[name.strip()] = int(match[1]) << {"": 0, "k": 10, "m": 20, "g": 30}[match[2]]
    return Limits.of(found)
