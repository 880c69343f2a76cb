"""`millstream watch`: the answers of a query at a server, as a table that changes in place, or a line a change in a pipe."""

from __future__ import annotations

import hashlib
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from millstream.cli.queries import read_query
from millstream.cli.terminal import INTERRUPTED, fail, note
from millstream.output.table import shown_time

if TYPE_CHECKING:
    from millstream.client import Change, Client


def watch_query(url: str, query: str, token: str | None) -> None:
    """Shows answers until interrupted, or until the query is closed."""
    try:
        from millstream.client import Client, ClientError
    except ImportError as error:
        fail(f"watching needs {error.name}: pip install 'millstream[server]'")
    if "://" not in url:
        fail(f"{url}: not the address of a server; write one such as http://127.0.0.1:7077")
    code = 0
    try:
        with Client(url, token) as client:
            name, is_ours = _registered(client, query)
            try:
                for number in (signal.SIGTERM, signal.SIGHUP):
                    # Also then the query is closed.
                    signal.signal(number, signal.default_int_handler)
                _show(client, name)
            except KeyboardInterrupt:
                code = INTERRUPTED
            finally:
                if is_ours:
                    client.close_query(name)
    except ClientError as error:
        fail(str(error))
    if code:
        raise typer.Exit(code)


def _registered(client: Client, query: str) -> tuple[str, bool]:
    """The name of a query at the server, and whether it was registered for this."""
    from millstream.client import ClientError

    if not Path(query).exists():
        try:
            return str(client.query(query)["name"]), False
        except ClientError as error:
            if error.status != 404:
                raise
    file = read_query(query)
    name = f"watch-{hashlib.sha256(file.text.encode()).hexdigest()[:12]}-{os.getpid()}"
    for warning in file.query.warnings:
        note("warning", str(warning))
    return client.register(file.text, name), True


class _Rows:
    """The answer set, added up from changes."""

    def __init__(self, variables: list[str], output: str) -> None:
        self.variables = variables
        self._replaces = output == "rstream"
        self._counts: dict[tuple[str, ...], int] = {}
        self.at_ms = 0

    def take(self, change: Change) -> None:
        self.at_ms = change.at_ms
        if change.is_snapshot or self._replaces:
            self._counts = {}
        for weight, rows in ((1, change.added), (-1, change.removed)):
            for row in rows:
                cells = self.cells(row)
                self._counts[cells] = self._counts.get(cells, 0) + weight
                if not self._counts[cells]:
                    del self._counts[cells]

    def cells(self, row: dict[str, Any]) -> tuple[str, ...]:
        return tuple(row[name]["value"] if name in row else "" for name in self.variables)

    def table(self, height: int) -> Table:
        found = Table(*self.variables, title=f"{shown_time(self.at_ms)}, {sum(self._counts.values())} answers", min_width=40)
        rows = sorted(cells for cells, count in self._counts.items() for _ in range(count))
        for cells in rows[: max(1, height - 6)]:
            found.add_row(*(Text(cell) for cell in cells))
        if len(rows) > height - 6:
            found.caption = f"and {len(rows) - max(1, height - 6)} more"
        return found


def _show(client: Client, name: str) -> None:
    described = client.query(name)
    rows = _Rows(described["variables"], described["output"])
    if not sys.stdout.isatty():
        for change in client.subscribe(name):
            for sign, some in (("+", change.added), ("-", change.removed)):
                for row in some:
                    print("\t".join((str(change.at_ms), f"{sign}1", *rows.cells(row))), flush=True)
        return
    console = Console(highlight=False, emoji=False)
    with Live(console=console, auto_refresh=False, screen=False) as live:
        for change in client.subscribe(name):
            rows.take(change)
            live.update(rows.table(console.height), refresh=True)
