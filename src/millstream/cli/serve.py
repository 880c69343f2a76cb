"""`millstream serve`: settings from a file and from flags, a server, and what is said when it begins and ends."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

import typer

from millstream.cli.queries import read_query
from millstream.cli.run.arguments import StreamSource, check_path, duration_ms, graph_source, stream_source
from millstream.cli.run.options import RunOptions
from millstream.cli.run.sources import source_of
from millstream.cli.terminal import STORAGE, fail, note
from millstream.connect.kafka.options import is_address
from millstream.errors import MillstreamError, OptionError
from millstream.output.files import STANDARD


def serve_settings(
    config: str | None,
    *,
    streams: list[str],
    datasets: list[str],
    queries: list[str],
    flags: Mapping[str, str | int | None],
    durations: Mapping[str, str | None],
    time: str | None,
) -> None:
    """Serves until it is stopped; ends the command with the code that says how it went."""
    try:
        from millstream.server.serving import MillstreamServer
    except ImportError as error:
        fail(f"the server needs {error.name}: pip install 'millstream[server]'")
    logging.basicConfig(format="%(levelname)s: %(message)s", level=logging.WARNING)
    try:
        settings = _settings(config, streams, datasets, queries, {**flags, **durations}, time)
        server = MillstreamServer(settings, lambda message: note("warning", message))
    except MillstreamError as error:
        fail(str(error))

    def ready() -> None:
        note("serving", server.url)
        if settings.host not in ("127.0.0.1", "::1", "localhost"):
            note(
                "warning",
                "everybody who reaches this address can try tokens, and HTTP is not encrypted: see docs/operate.md",
            )
        if settings.state is None:
            note("warning", "nothing is kept when the server ends; give --state DIR")

    try:
        server.run(ready)
    except OptionError as error:
        fail(str(error))
    if server.failed:
        raise typer.Exit(STORAGE)
    note("stopped", "everything acknowledged is kept" if settings.state is not None else "nothing is kept")


def _settings(
    config: str | None,
    streams: list[str],
    datasets: list[str],
    queries: list[str],
    flags: Mapping[str, Any],
    time: str | None,
) -> Any:
    from millstream.server.durable.state import checked_name
    from millstream.server.settings import DatasetSetting, QuerySetting, Settings, StreamSetting, read_settings

    found = {} if config is None else read_settings(Path(config))
    for name, value in flags.items():
        if value is None:
            continue
        if name in ("state", "token_file"):
            found[name] = Path(value)
        elif name in ("lateness", "clock"):
            found[f"{name}_ms"] = duration_ms(value, f"--{name}")
        else:
            found[name] = value
    given = [stream_source(text) for text in streams]
    listed = [*found.get("streams", ()), *(StreamSetting(source.iri, source.path, time) for source in given)]
    found["streams"] = tuple(with_source(stream) for stream in listed)
    sources = [graph_source(text, "--dataset") for text in datasets]
    found["datasets"] = (*found.get("datasets", ()), *(DatasetSetting(source.path, source.graph) for source in sources))
    for dataset in found["datasets"]:
        check_path(dataset.path, "--dataset")
    named = []
    for text in queries:
        name, equals, path = text.partition("=")
        if not equals:
            raise OptionError(f"--query {text}: write NAME=FILE, as in --query hot=hot.rq")
        named.append(QuerySetting(checked_name(name), read_query(path).text))
    found["queries"] = (*found.get("queries", ()), *named)
    return Settings(**found)


def with_source(stream: Any) -> Any:
    """The same source that `millstream run --follow` would read."""
    check_path(stream.path, "--stream", may_come=True)
    if stream.path == STANDARD:
        raise OptionError("--stream: a server reads no standard input; push to /streams, or give a folder")
    options = RunOptions((), time=stream.time, element=stream.element, input_format=stream.format, follow=True)
    found = replace(stream, source=source_of(StreamSource(stream.iri, stream.path), options, Event()))
    # What is said of a topic is part of its source.
    return replace(found, time=None, element=None, format=None) if is_address(stream.path) else found
