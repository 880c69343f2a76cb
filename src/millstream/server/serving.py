"""A server from its settings: the state made or gone on with, a socket, uvicorn, and an orderly end."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from functools import partial

import uvicorn

from millstream.engine import Engine
from millstream.errors import MillstreamError, OptionError
from millstream.rdf.times import now_ms
from millstream.server.durable import commands as c
from millstream.server.durable.commands import Command
from millstream.server.durable.followed import Followed
from millstream.server.durable.state import DATA_LIMITS, ServerState
from millstream.server.durable.storage import Storage
from millstream.server.http.app import application
from millstream.server.http.protocol import timed_protocol
from millstream.server.http.tokens import ADMIN, Tokens, generated_token, read_tokens
from millstream.server.service import Service
from millstream.server.settings import Settings

LOG = logging.getLogger("millstream.server")
_GRACE_S = 10


class MillstreamServer:
    """Listens once it is made; serves until it is told to stop."""

    def __init__(self, settings: Settings, warn: Callable[[str], None] = LOG.warning) -> None:
        self._settings = settings
        self._storage = None if settings.state is None else Storage(settings.state, warn)
        try:
            self.token: str | None = None
            """The token that was generated, if none was given."""
            tokens = self._tokens()
            state = self._state(warn)
            self._socket = _listening(settings.host, settings.port)
        except BaseException:
            if self._storage is not None:
                self._storage.close()
            raise
        self.port: int = self._socket.getsockname()[1]
        self._make = partial(
            Service,
            state,
            self._storage,
            tokens,
            settings.limits,
            snapshot_bytes=settings.snapshot_bytes,
            progress_s=settings.progress_ms / 1000,
        )
        self._uvicorn: uvicorn.Server | None = None
        self._stopped = False
        self.failed = False
        """Whether it ended because nothing could be done any more."""

    @property
    def url(self) -> str:
        """Where it is, with the token if it was generated."""
        host = f"[{self._settings.host}]" if ":" in self._settings.host else self._settings.host
        link = "" if self.token is None else f"/?token={self.token}"
        return f"http://{host}:{self.port}{link}"

    def _tokens(self) -> Tokens:
        if self._settings.token_file is not None:
            return read_tokens(self._settings.token_file)
        self.token = generated_token(self._settings.state)
        return Tokens([(self.token, frozenset((ADMIN,)))])

    def _state(self, warn: Callable[[str], None]) -> ServerState:
        settings = self._settings
        found = self._storage.recover(settings.limits) if self._storage is not None else None
        if found is not None:
            if found.begun_with != (settings.lateness_ms, settings.max_jump_ms):
                warn("lateness and max_jump stay as they were when the state was begun")
            return found
        engine = Engine(
            lateness_ms=settings.lateness_ms,
            max_jump_ms=settings.max_jump_ms,
            max_pending=settings.limits.pending_answers,
            limits=DATA_LIMITS,
        )
        for dataset in settings.datasets:
            engine.load(dataset.path, dataset.graph)
        state = ServerState(engine, settings.limits, (settings.lateness_ms, settings.max_jump_ms))
        if self._storage is not None:
            self._storage.keep(state)
        return state

    # Running ----------------------------------------------------------------------------------------------------------

    def run(self, ready: Callable[[], None] = lambda: None) -> None:
        """Serves; comes back when it was stopped, by a signal or by `stop`."""
        asyncio.run(self._serve(ready))

    def stop(self) -> None:
        """Ends it, from any thread."""
        self._stopped = True
        if self._uvicorn is not None:
            self._uvicorn.should_exit = True

    async def _serve(self, ready: Callable[[], None]) -> None:
        service = self._make()
        limits, loop = self._settings.limits, asyncio.get_running_loop()
        service.worker.on_failure = self._fail
        service.worker.start(loop)
        followed = Followed(service, self._settings.streams, loop)
        moving: asyncio.Task[None] | None = None
        try:
            await self._register(service)
            config = uvicorn.Config(
                application(service, self._settings.origins),
                http=timed_protocol(limits.head_seconds),
                ws="none",
                lifespan="off",
                log_config=None,
                log_level="critical",
                access_log=False,
                server_header=False,
                proxy_headers=False,
                limit_concurrency=limits.connections,
                backlog=1024,
                timeout_keep_alive=30,
                timeout_graceful_shutdown=_GRACE_S,
                h11_max_incomplete_event_size=limits.header_bytes,
            )
            self._uvicorn = _Uvicorn(config, service)
            self._uvicorn.should_exit = self._stopped
            followed.start()
            if self._settings.clock_ms:
                moving = loop.create_task(_move_clock(service, self._settings.clock_ms, self._settings.lateness_ms))
            # What is there now stays: the collector need not look at it again and again.
            gc.freeze()
            loop.call_soon(ready)
            await self._uvicorn.serve(sockets=[self._socket])
        finally:
            if moving is not None:
                moving.cancel()
            followed.stop()
            service.one_offs.stop()
            await service.worker.stop()
            gc.unfreeze()
            if self._storage is not None:
                self._storage.close()

    async def _register(self, service: Service) -> None:
        """The queries of the settings: those that are new, or have another text than before."""
        for query in self._settings.queries:
            with contextlib.suppress(MillstreamError):
                known = await service.worker.ask(partial(_text_of, query.name))
                if known == query.text:
                    continue
                await service.worker.do(Command(c.CLOSE, {"name": query.name}))
            try:
                await service.worker.do(
                    Command(c.REGISTER, {"name": query.name, "text": query.text, "output": query.output})
                )
            except MillstreamError as error:
                raise OptionError(f"query {query.name}: {error}") from None

    def _fail(self) -> None:
        self.failed = True
        self.stop()


class _Uvicorn(uvicorn.Server):
    """Ends subscriptions first, which would not end by themselves."""

    def __init__(self, config: uvicorn.Config, service: Service) -> None:
        super().__init__(config)
        self._service = service

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Ends in order at the first signal, at once at the second; uvicorn itself would raise it again at the end."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        numbers = (signal.SIGINT, signal.SIGTERM)
        before = {number: signal.signal(number, self.handle_exit) for number in numbers}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._service.hub.close()
        await super().shutdown(sockets)


async def _move_clock(service: Service, every_ms: int, lateness_ms: int) -> None:
    """Lets event time follow the clock on the wall, for streams whose times are arrivals."""
    while True:
        await asyncio.sleep(every_ms / 1000)
        with contextlib.suppress(MillstreamError):
            await service.worker.do(Command(c.ADVANCE, {"at_ms": now_ms() - lateness_ms - every_ms}))


def _text_of(name: str, state: ServerState) -> str:
    return state.named(name).query.text


def _listening(host: str, port: int) -> socket.socket:
    # asyncio sends small responses at once only where the protocol is named.
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    found = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind((host, port))
        found.listen(1024)
        return found
    except (OSError, UnicodeError) as error:
        found.close()
        raise OptionError(f"cannot listen at {host}, port {port}: {getattr(error, 'strerror', None) or error}") from None
