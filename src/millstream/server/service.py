"""What all routes work with: the worker, subscribers, one-off queries, tokens, limits and measures of one server."""

from __future__ import annotations

import time

from starlette.requests import Request

from millstream.server.durable import commands as c
from millstream.server.durable.commands import Command, Numbered
from millstream.server.durable.state import Outcome, ServerState
from millstream.server.durable.storage import Storage
from millstream.server.durable.worker import Worker
from millstream.server.http.tokens import Tokens
from millstream.server.hub import Hub
from millstream.server.limits import ServerLimits
from millstream.server.measures import Measures
from millstream.server.one_off.one_offs import OneOffs
from millstream.server.problems import NotFoundError
from millstream.server.watching import Watching


class Service:
    """One server. It hears of every command, in order, before who asked for it does."""

    def __init__(
        self,
        state: ServerState,
        storage: Storage | None,
        tokens: Tokens,
        limits: ServerLimits,
        *,
        snapshot_bytes: int,
        progress_s: float,
    ) -> None:
        self.limits = limits
        self.tokens = tokens
        self.progress_s = progress_s
        """How often subscribers hear the clock, if it moves."""
        self.measures = Measures()
        self.hub = Hub(limits)
        self.hub.clock_ms = state.engine.clock_ms
        self.one_offs = OneOffs(limits)
        self.worker = Worker(state, storage, self, snapshot_bytes=snapshot_bytes)
        self.worker.synced = self.measures.synced
        self.watching = Watching(self.worker)
        if limits.one_offs:
            self.one_offs.start(dataset_quads(state))

    def done(self, command: Command, number: int, outcome: Outcome, arrived_s: float) -> None:
        """A command is on disk."""
        measures = self.measures
        self.hub.clock_ms = max(self.hub.clock_ms, outcome.clock_ms)
        for registered, events in outcome.events:
            self.hub.publish(registered, events)
            measures.answered(registered.name, len(events), time.perf_counter() - arrived_s)
        if command.op in c.OF_DATASETS:
            measures.changes.inc()
            if outcome.error is None:
                self.one_offs.feed(Numbered(number, command))
            elif not isinstance(outcome.error, NotFoundError):
                # Some of it may have been done: the mirror begins anew.
                self.one_offs.stop()
        elif command.op in (c.PUSH, c.CHUNK) and outcome.value is not None:
            measures.came(command.options["iri"], outcome.value)
        elif command.op == c.CLOSE and outcome.error is None:
            self.hub.close(command.options["name"])
            measures.forget(command.options["name"])

    def allow(self, request: Request, right: str) -> None:
        """Raises unless the request's token has a right."""
        kind, _, token = request.headers.get("authorization", "").partition(" ")
        given: str | None = token.strip() if kind.lower() == "bearer" else None
        if given is None and request.method == "GET":
            # Browsers cannot give EventSource a header, nor a link.
            given = request.query_params.get("token")
        self.tokens.check(given, right)

    async def ensure_mirror(self) -> None:
        """Starts the mirror if it has died."""

        def told(quads: list[bytes]) -> None:
            if self.one_offs.needs_start:
                self.one_offs.start(quads)

        if self.one_offs.needs_start:
            await self.worker.ask(dataset_quads, told)


def dataset_quads(state: ServerState) -> list[bytes]:
    """All graphs in N-Quads."""
    store = state.engine.graph_store
    found = []
    for graph in store.sizes():
        for lines in store.statements(graph):
            # A graph that a blank node names goes by its label.
            name = "" if graph is None else f" {graph}" if graph.startswith("_:") else f" <{graph}>"
            found.append(lines.replace(b" .\n", f"{name} .\n".encode()))
    return found
