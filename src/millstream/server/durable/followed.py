"""Sources that a server reads by itself: a thread each, chunk by chunk, from the position that was kept.

A chunk is taken like a request: it is logged with the elements it had and the position behind it, so every element of a
source is taken once, whatever happens in between. Each source is in order by itself; they are not merged by time, so
where several are read, or requests come between, `lateness` says how far they may be apart.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable

from millstream.engine.snapshot import pack
from millstream.errors import MillstreamError
from millstream.ingest import Chunk, Files, Want
from millstream.ingest.plain_columns import plain
from millstream.rdf import Rejected
from millstream.rdf.times import now_ms
from millstream.server.durable import commands as c
from millstream.server.durable.commands import Command
from millstream.server.durable.state import DATA_LIMITS, ServerState
from millstream.server.problems import BusyError
from millstream.server.service import Service
from millstream.server.settings import StreamSetting

LOG = logging.getLogger("millstream.server")
_IDLE_S = 0.1


class Followed:
    """All sources of a server."""

    def __init__(self, service: Service, streams: tuple[StreamSetting, ...], loop: asyncio.AbstractEventLoop) -> None:
        self._service = service
        self._streams = streams
        self._loop = loop
        self._ends = threading.Event()

    def start(self) -> None:
        for number, stream in enumerate(self._streams):
            name = f"millstream source {number}"
            threading.Thread(target=self._read, args=(stream, number), name=name, daemon=True).start()

    def stop(self) -> None:
        self._ends.set()

    def _read(self, stream: StreamSetting, number: int) -> None:
        source = stream.source or Files(stream.path, follow=True)
        want = Want(
            stream.format,
            stream.time,
            stream.element,
            clock_ms=now_ms,
            on_rejected=self._set_aside,
            limits=DATA_LIMITS,
            blank_prefix=f"s{number}",
        )
        # Its address may hold secrets, and may change.
        name = stream.iri
        try:
            since = self._ask(lambda state: state.positions.get(name))
            for chunk in source.chunks(want, since):
                if self._ends.is_set():
                    return
                self._take(stream.iri, name, chunk)
                if chunk.is_idle:
                    self._ends.wait(_IDLE_S)
        except BusyError:
            return  # the server ends
        except MillstreamError as error:
            LOG.error("the source of stream <%s> has ended: %s", stream.iri, error)
        except RuntimeError:
            if not self._ends.is_set():
                raise

    def _take(self, iri: str, name: str, chunk: Chunk) -> None:
        """Encodes a chunk where the engine is, and takes it as a command."""

        def look(state: ServerState) -> bytes | None:
            arrivals = state.engine.arrivals
            columns = arrivals.encode(iri, chunk)
            if not columns.elements and not columns.fault:
                return None
            # The terms may be gone when the command comes, so they are written out.
            return pack({"columns": plain(columns, arrivals.dictionary), "position": chunk.position}, compress=False)

        body = self._ask(look)
        if body is not None:
            self._do(Command(c.CHUNK, {"iri": iri, "source": name}, body))

    def _ask(self, look: Callable[[ServerState], bytes | None]) -> bytes | None:
        found: bytes | None = asyncio.run_coroutine_threadsafe(self._service.worker.ask(look), self._loop).result()
        return found

    def _do(self, command: Command) -> None:
        asyncio.run_coroutine_threadsafe(self._service.worker.do(command), self._loop).result()

    def _set_aside(self, rejected: Rejected) -> None:
        self._service.measures.rejected.inc()
