"""What a server is told: flags, or a file in TOML, as plain values, checked before anything is opened."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from millstream.engine.options import graph_iri, named_iri
from millstream.errors import OptionError
from millstream.ingest import Source
from millstream.plan.passes import output_named
from millstream.server.durable.state import checked_name
from millstream.server.limits import ServerLimits
from millstream.windows.durations import parse_duration


@dataclass(frozen=True, slots=True)
class StreamSetting:
    """A source that the server reads by itself."""

    iri: str
    path: str
    time: str | None = None
    element: str | None = None
    format: str | None = None
    source: Source | None = None
    """Where its chunks come from, once somebody has made it of the path."""


@dataclass(frozen=True, slots=True)
class DatasetSetting:
    """A file that is loaded when a server begins without a state."""

    path: str
    graph: str | None = None


@dataclass(frozen=True, slots=True)
class QuerySetting:
    """A query that is registered from the beginning."""

    name: str
    text: str
    output: str | None = None


@dataclass(frozen=True, slots=True)
class Settings:
    """All of it."""

    host: str = "127.0.0.1"
    port: int = 7077
    state: Path | None = None
    token_file: Path | None = None
    streams: tuple[StreamSetting, ...] = ()
    datasets: tuple[DatasetSetting, ...] = ()
    queries: tuple[QuerySetting, ...] = ()
    origins: tuple[str, ...] = ()
    """Whose pages may call the server from a browser."""
    lateness_ms: int = 0
    max_jump_ms: int | None = None
    progress_ms: int = 1000
    clock_ms: int = 0
    """How often the clock on the wall moves the engine's; 0: only elements do."""
    snapshot_bytes: int = 64 << 20
    """How long the log becomes before a snapshot replaces it."""
    limits: ServerLimits = field(default_factory=ServerLimits)

    def __post_init__(self) -> None:
        if not 0 <= self.port <= 65535:
            raise OptionError(f"the port is a number up to 65535, got {self.port}.")
        for kind, names in (("query", [q.name for q in self.queries]), ("stream", [s.iri for s in self.streams])):
            for name in names:
                if names.count(name) > 1:
                    raise OptionError(f"the {kind} {name!r} is given twice.")


_PLAIN: dict[str, tuple[str, Any]] = {
    "host": ("host", str),
    "port": ("port", int),
    "state": ("state", str),
    "token_file": ("token_file", str),
    "origins": ("origins", list),
    "lateness": ("lateness_ms", str),
    "max_jump": ("max_jump_ms", str),
    "progress": ("progress_ms", str),
    "clock": ("clock_ms", str),
    "snapshot_bytes": ("snapshot_bytes", int),
}
_DURATIONS = ("lateness", "max_jump", "progress", "clock")
_PATHS = ("state", "token_file")


def read_settings(path: Path) -> dict[str, Any]:
    """The settings of a file, as arguments of `Settings`; paths in it are seen from its folder."""
    try:
        found = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise OptionError(f"{path}: cannot be read: {error.strerror or error}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise OptionError(f"{path}: not TOML: {error}") from None
    try:
        return _settings(found, path.parent)
    except OptionError as error:
        raise OptionError(f"{path}: {error}") from None


def _settings(found: dict[str, Any], folder: Path) -> dict[str, Any]:
    tables = ("streams", "datasets", "queries", "limits")
    settings: dict[str, Any] = {}
    value: Any
    for name, value in found.items():
        if name in tables:
            continue
        if name not in _PLAIN:
            raise OptionError(f"there is no setting {name!r}; there are {', '.join((*_PLAIN, *tables))}.")
        key, kind = _PLAIN[name]
        if type(value) is not kind:
            raise OptionError(f"{name} is a {kind.__name__}, got {value!r}.")
        settings[key] = value
        if name in _DURATIONS:
            settings[key] = _duration(name, value)
        elif name in _PATHS:
            settings[key] = folder / value
        elif name == "origins":
            settings[key] = tuple(map(str, value))
    settings["streams"] = tuple(
        StreamSetting(named_iri(iri, "stream"), **_fields(f"streams.{iri}", given, "path", "time element format", folder))
        for iri, given in _table(found, "streams").items()
    )
    given_datasets = found.get("datasets", [])
    if not isinstance(given_datasets, list):
        raise OptionError("datasets are given as [[datasets]] with a path and maybe a graph.")
    settings["datasets"] = tuple(
        DatasetSetting(**_fields("datasets", given, "path", "graph", folder)) for given in given_datasets
    )
    settings["queries"] = tuple(_query(name, given, folder) for name, given in _table(found, "queries").items())
    settings["limits"] = ServerLimits.of(dict(_table(found, "limits")))
    return settings


def _duration(name: str, text: str) -> int:
    try:
        return parse_duration(text.strip()).ms
    except ValueError:
        raise OptionError(f"{name} is a duration such as 5s, 250ms or 1h30m, got {text!r}.") from None


def _table(found: dict[str, Any], name: str) -> Mapping[str, Any]:
    table = found.get(name, {})
    if not isinstance(table, dict):
        raise OptionError(f"{name} is a table.")
    return table


def _fields(what: str, given: Any, needed: str, others: str, folder: Path) -> dict[str, Any]:
    names = (*needed.split(), *others.split())
    if not isinstance(given, dict) or not given.keys() <= set(names) or not all(isinstance(v, str) for v in given.values()):
        raise OptionError(f"{what} has {', '.join(names)}, each a text.")
    for name in needed.split():
        if name not in given:
            raise OptionError(f"{what} needs a {name}.")
    path = given["path"]
    if "://" not in path:
        path = str(folder / path)
    graph = {"graph": graph_iri(given["graph"])} if "graph" in given else {}
    return {**given, "path": path, **graph}


def _query(name: str, given: Any, folder: Path) -> QuerySetting:
    if (
        not isinstance(given, dict)
        or not given.keys() <= {"file", "text", "output"}
        or ("file" in given) == ("text" in given)
    ):
        raise OptionError(f"queries.{name} has a file or a text, and maybe an output.")
    text = given["text"] if "text" in given else read_query(folder / str(given["file"]))
    output = given.get("output")
    return QuerySetting(checked_name(name), str(text), None if output is None else output_named(output).value)


def read_query(path: Path) -> str:
    """The text of a query file."""
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise OptionError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or 'not UTF-8 text'}") from None
