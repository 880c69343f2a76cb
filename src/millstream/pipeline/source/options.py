"""The options of the source `rdf`, read and checked when a reader is made.

| option               | means                                                                                             |
|----------------------|---------------------------------------------------------------------------------------------------|
| `path`, `paths`      | a file, folder or glob; `paths` is a JSON list of them                                            |
| `format`             | the format of all files; else their names tell it                                                 |
| `time`, `element`    | when an element happened, and what one is                                                         |
| `base`               | what relative IRIs are relative to                                                                |
| `maxFilesPerTrigger` | at most so many new files a trigger                                                               |
| `maxBytesPerTrigger` | at most so many bytes a trigger (512 MB), but one part at least                                   |
| `splitBytes`         | files longer than this are read in parts where that is sound                                      |
| `deadLetter`         | a folder for what is malformed                                                                    |
| `statement_bytes`, `literal_bytes`, `document_bytes` | how large each may be, as in `millstream.Limits`                  |
| `idle`               | after so long without a new file the source says that it is idle                                  |
| `end`                | `true`: the source ends with the files that are there at the start                                |
| `changes`            | `true`: files hold changes of graphs, RDF Patch or SPARQL Update data                             |
| `counted`            | `true`: elements are counted before they are read, also where cells could do that                 |
| `dataset`, `graph`   | `true`: files hold triples without times, for a graph; what `pack` asks for comes as blobs         |
| `ahead`              | which parts of the query are evaluated with them                                                  |
| `pack`, `source`     | what cells are to get instead of rows, and which of several streams this is                       |
| `tasks`              | how many tasks read a trigger that is not small; else 16, more if `splitBytes` is less than that  |
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from typing import Any

from millstream.errors import OptionError
from millstream.limits import DEFAULT_LIMITS, Limits
from millstream.rdf import named_format, parse_time_option
from millstream.rdf.grouping import check_element_option

_LIMITS = ("statement_bytes", "literal_bytes", "document_bytes")
_UNITS = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
SPLIT_BYTES = 64 << 20
MAX_BYTES = 512 << 20
"""Of a trigger: what cells get at once must fit into memory, whatever waits in a folder."""


@dataclass(frozen=True, slots=True)
class SourceOptions:
    """The options, checked."""

    paths: tuple[str, ...]
    format: str | None = None
    time: str | None = None
    element: str | None = None
    base: str | None = None
    max_files: int | None = None
    max_bytes: int = MAX_BYTES
    split_bytes: int = SPLIT_BYTES
    dead_letter: str | None = None
    idle_ms: int | None = None
    end: bool = False
    run: str = "once"
    open: bool = False
    changes: bool = False
    counted: bool = False
    dataset: bool = False
    graph: str | None = None
    ahead: str | None = None
    pack: str | None = None
    source: int = 0
    tasks: int | None = None
    limits: Limits = DEFAULT_LIMITS


def limit_options(limits: Limits) -> dict[str, str]:
    """The options that say how large input may be."""
    return {name: str(getattr(limits, name)) for name in _LIMITS}


def read_options(given: Mapping[str, str]) -> SourceOptions:
    """The options that a reader was given, by names in any case."""
    names = ("path", "paths", *_FIELDS, *_LIMITS)
    known = {name.lower(): name for name in names}
    options: dict[str, str] = {}
    for name, value in given.items():
        if name.lower() not in known:
            near = get_close_matches(name.lower(), known, 1)
            hint = f"did you mean {known[near[0]]!r}?" if near else f"it has {', '.join(names)}"
            raise OptionError(f"the source rdf has no option {name!r}; {hint}")
        options[known[name.lower()]] = value
    fields: dict[str, Any] = {field: read(name, options[name]) for name, (field, read) in _FIELDS.items() if name in options}
    if "format" in fields and not fields.get("changes"):
        named_format(fields["format"])
    if "time" in fields:
        parse_time_option(fields["time"])
    check_element_option(fields.get("element"))
    limits = Limits.of({name: _count(name, options[name]) for name in _LIMITS if name in options})
    return SourceOptions(_paths(options), **fields, limits=limits)


def _paths(options: Mapping[str, str]) -> tuple[str, ...]:
    paths = [options["path"]] if options.get("path") else []
    if options.get("paths"):
        try:
            listed = json.loads(options["paths"])
        except ValueError:
            listed = None
        if not isinstance(listed, list) or not all(isinstance(path, str) for path in listed):
            raise OptionError(f"paths must be a JSON list of texts, got {options['paths']!r}")
        paths += listed
    if not paths:
        raise OptionError("the source rdf needs a path: load(path), or the option path or paths")
    return tuple(without_scheme(path) for path in paths)


def without_scheme(path: str) -> str:
    if path.startswith("file:"):
        rest = path.removeprefix("file:")
        return "/" + rest.lstrip("/") if rest.startswith("/") else rest
    if "://" in path:
        raise OptionError(f"{path}: only files that this machine and all workers see as files can be read")
    return path


def _text(_: str, text: str) -> str:
    return text


def _count(name: str, text: str, least: int = 1) -> int:
    number, factor = text.strip().lower().removesuffix("b"), 1
    if number[-1:] in _UNITS:
        number, factor = number[:-1], _UNITS[number[-1]]
    if not (number.isascii() and number.isdigit()) or int(number) < least:
        raise OptionError(f"{name} must be a whole number, {least} or more, got {text!r}")
    return int(number) * factor


def _duration(name: str, text: str) -> int:
    # Durations come with the whole language, which most sources do without.
    from millstream.windows.durations import parse_duration

    try:
        ms = parse_duration(text).ms
    except ValueError as error:
        raise OptionError(f"{name} must be a duration such as 10s, got {text!r}") from error
    if ms <= 0:
        raise OptionError(f"{name} must be longer than 0, got {text!r}")
    return ms


def _flag(name: str, text: str) -> bool:
    if text.strip().lower() not in ("true", "false"):
        raise OptionError(f"{name} must be true or false, got {text!r}")
    return text.strip().lower() == "true"


_FIELDS: dict[str, tuple[str, Callable[[str, str], object]]] = {
    **{name: (name, _text) for name in ("format", "time", "element", "base", "run", "graph", "ahead", "pack")},
    **{name: (name, _flag) for name in ("end", "open", "changes", "counted", "dataset")},
    "maxFilesPerTrigger": ("max_files", _count),
    "maxBytesPerTrigger": ("max_bytes", _count),
    "splitBytes": ("split_bytes", _count),
    "deadLetter": ("dead_letter", lambda _, text: without_scheme(text) if text else None),
    "idle": ("idle_ms", _duration),
    "tasks": ("tasks", _count),
    "source": ("source", partial(_count, least=0)),
}
"""For each option the field that it is, and what reads it."""
