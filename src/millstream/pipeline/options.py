"""The options of the source `rdf`, read and checked when a reader is made.

| option               | means                                                                                             |
|----------------------|---------------------------------------------------------------------------------------------------|
| `path`, `paths`      | a file, folder or glob; `paths` is a JSON list of them                                            |
| `format`             | the format of all files; else their names tell it                                                 |
| `time`, `element`    | when an element happened, and what one is                                                         |
| `base`               | what relative IRIs are relative to                                                                |
| `maxFilesPerTrigger` | at most so many new files a trigger                                                               |
| `maxBytesPerTrigger` | at most so many bytes a trigger, but one part at least                                            |
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
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from millstream.errors import OptionError
from millstream.limits import DEFAULT_LIMITS, Limits
from millstream.rdf import named_format, parse_time_option
from millstream.rdf.grouping import check_element_option

_NAMES = (
    "path", "paths", "format", "time", "element", "base", "maxFilesPerTrigger", "maxBytesPerTrigger", "splitBytes",
    "deadLetter", "idle", "end", "run", "open", "changes", "counted", "dataset", "graph", "ahead", "pack", "source",
    "statement_bytes", "literal_bytes", "document_bytes",
)  # fmt: skip
_LIMITS = ("statement_bytes", "literal_bytes", "document_bytes")
_UNITS = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
SPLIT_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class SourceOptions:
    """The options, checked."""

    paths: tuple[str, ...]
    format: str | None = None
    time: str | None = None
    element: str | None = None
    base: str | None = None
    max_files: int | None = None
    max_bytes: int | None = None
    split_bytes: int = SPLIT_BYTES
    dead_letter: str | None = None
    idle_ms: int | None = None
    end: bool = False
    run: str = ""
    open: bool = False
    changes: bool = False
    counted: bool = False
    dataset: bool = False
    graph: str | None = None
    ahead: str | None = None
    pack: str | None = None
    source: int = 0
    limits: Limits = DEFAULT_LIMITS


def limit_options(limits: Limits) -> dict[str, str]:
    """The options that say how large input may be."""
    return {name: str(getattr(limits, name)) for name in _LIMITS}


def read_options(given: Mapping[str, str]) -> SourceOptions:
    """The options that a reader was given, by names in any case."""
    known = {name.lower(): name for name in _NAMES}
    options: dict[str, str] = {}
    for name, value in given.items():
        if name.lower() not in known:
            near = get_close_matches(name.lower(), known, 1)
            hint = f"did you mean {known[near[0]]!r}?" if near else f"it has {', '.join(_NAMES)}"
            raise OptionError(f"the source rdf has no option {name!r}; {hint}")
        options[known[name.lower()]] = value
    if "format" in options and not _flag(options, "changes"):
        named_format(options["format"])
    if "time" in options:
        parse_time_option(options["time"])
    check_element_option(options.get("element"))
    return SourceOptions(
        paths=_paths(options),
        format=options.get("format"),
        time=options.get("time"),
        element=options.get("element"),
        base=options.get("base"),
        max_files=_count(options, "maxFilesPerTrigger"),
        max_bytes=_count(options, "maxBytesPerTrigger"),
        split_bytes=_count(options, "splitBytes") or SPLIT_BYTES,
        dead_letter=without_scheme(options["deadLetter"]) if options.get("deadLetter") else None,
        idle_ms=_duration(options, "idle"),
        end=_flag(options, "end"),
        run=options.get("run", "once"),
        open=_flag(options, "open"),
        changes=_flag(options, "changes"),
        counted=_flag(options, "counted"),
        dataset=_flag(options, "dataset"),
        graph=options.get("graph"),
        ahead=options.get("ahead"),
        pack=options.get("pack"),
        source=_count(options, "source", least=0) or 0,
        limits=Limits.of({name: size for name in _LIMITS if (size := _count(options, name)) is not None}),
    )


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


def _count(options: Mapping[str, str], name: str, least: int = 1) -> int | None:
    text = options.get(name)
    if text is None:
        return None
    number, factor = text.strip().lower().removesuffix("b"), 1
    if number[-1:] in _UNITS:
        number, factor = number[:-1], _UNITS[number[-1]]
    if not (number.isascii() and number.isdigit()) or int(number) < least:
        raise OptionError(f"{name} must be a whole number, {least} or more, got {text!r}")
    return int(number) * factor


def _duration(options: Mapping[str, str], name: str) -> int | None:
    text = options.get(name)
    if text is None:
        return None
    # Durations come with the whole language, which most sources do without.
    from millstream.windows.durations import parse_duration

    try:
        ms = parse_duration(text).ms
    except (ValueError, KeyError, IndexError) as error:
        raise OptionError(f"{name} must be a duration such as 10s, got {text!r}") from error
    if ms <= 0:
        raise OptionError(f"{name} must be longer than 0, got {text!r}")
    return ms


def _flag(options: Mapping[str, str], name: str) -> bool:
    text = options.get(name, "false").strip().lower()
    if text not in ("true", "false"):
        raise OptionError(f"{name} must be true or false, got {text!r}")
    return text == "true"
