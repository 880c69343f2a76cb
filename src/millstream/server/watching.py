"""Queries that somebody watches: CPU time of their operators is taken as long as it is asked for."""

from __future__ import annotations

import asyncio
from typing import Any

from millstream.errors import MillstreamError
from millstream.server.durable.state import ServerState
from millstream.server.durable.worker import Worker

KEPT_ON_S = 10.0
"""How long time is taken after somebody asked."""


class Watching:
    """Which queries are watched, and until when; used from one event loop."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker
        self._ends: dict[str, asyncio.TimerHandle] = {}
        self._ending: set[asyncio.Task[None]] = set()

    async def operators(self, name: str) -> dict[str, Any]:
        """The operators of a query with their counts; their time is taken from now on."""

        def look(state: ServerState) -> dict[str, Any]:
            query = state.named(name).query
            query.measure()
            return query.operators().as_dict()

        found: dict[str, Any] = await self._worker.ask(look)
        if name in self._ends:
            self._ends[name].cancel()
        self._ends[name] = asyncio.get_running_loop().call_later(KEPT_ON_S, self._end, name)
        return found

    def _end(self, name: str) -> None:
        del self._ends[name]
        task = asyncio.get_running_loop().create_task(self._stop(name))
        # The loop itself holds tasks weakly.
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    async def _stop(self, name: str) -> None:
        def stop(state: ServerState) -> None:
            if name in state.queries:
                state.queries[name].query.measure(False)

        try:
            await self._worker.ask(stop)
        except MillstreamError:
            # The server is being stopped, or too busy for it: whoever asks next begins anew.
            return
