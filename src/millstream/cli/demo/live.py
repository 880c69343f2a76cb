"""The demo's city as it goes on now, on the live page of a server: for people who sit at a terminal."""

from __future__ import annotations

import random
import sys
import tempfile
import threading
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from millstream.cli.demo import city
from millstream.cli.terminal import heading
from millstream.rdf.times import now_ms

QUERY = city.QUERY.replace("5m", "30s").replace("3m", "20s")
"""With shorter windows, so that one sees warnings go."""
_TURN_S = 0.5


def offer(console: Console) -> None:
    """Asks whether to open the page; where nobody can answer, says how to get there."""
    heading(console, "Next")
    if not (console.is_terminal and sys.stdin.isatty()) or not _has_server():
        console.print("millstream serve: queries over HTTP, with a live page in the browser.")
        console.print("millstream run --help: your own files, topics and queries.")
        return
    try:
        said = console.input("See it live in the browser? A server starts on this machine. [Y/n] ")
    except EOFError:
        return
    if said.strip().lower() in ("", "y", "yes"):
        serve(console)


def _has_server() -> bool:
    try:
        import millstream.server.serving
    except ImportError:
        return False
    return bool(millstream.server.serving.MillstreamServer)


def serve(console: Console) -> None:
    """Serves the city as it goes on, until Ctrl-C."""
    from millstream.errors import OptionError
    from millstream.server.serving import MillstreamServer
    from millstream.server.settings import DatasetSetting, QuerySetting, Settings

    with tempfile.TemporaryDirectory(prefix="millstream-demo-") as folder:
        street_map = Path(folder) / "map.nt"
        street_map.write_text("".join(f"{line}\n" for line in city.map_lines()))
        datasets, queries = (DatasetSetting(str(street_map)),), (QuerySetting("jams", QUERY),)
        settings = Settings(datasets=datasets, queries=queries, clock_ms=500)
        try:
            server = MillstreamServer(settings)
        except OptionError:
            # Somebody else has the usual port.
            server = MillstreamServer(replace(settings, port=0))
    ends = threading.Event()
    feeding = threading.Thread(target=feed, args=(server.url, ends), daemon=True)

    def ready() -> None:
        console.print(f"\n  {server.url}#/q/jams\n\nOpen this link; Ctrl-C ends it.")
        feeding.start()

    try:
        server.run(ready)
    finally:
        ends.set()


def feed(url: str, ends: threading.Event) -> None:
    """Rides, reports and changes of the map, as they happen now."""
    from millstream.client import Client, ClientError

    chance, changes = random.Random(), city.map_changes()
    turn = 0
    with Client(url) as client:
        while not ends.wait(_TURN_S):
            at_ms = now_ms()
            try:
                for _ in range(6):
                    client.push(city.RIDES, city.ride(chance), at_ms)
                if turn % 3 == 0:
                    client.push(city.JAMS, city.jam(chance.choice(city.STREETS)), at_ms)
                if turn % 10 == 9:
                    change = changes[turn // 10 % len(changes)]
                    client.update(change.update)
            except ClientError:
                # The server is being stopped, or is busy.
                continue
            turn += 1
