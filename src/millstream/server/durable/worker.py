"""The one place where the engine is touched: a thread that does jobs in order, and commits them in groups.

    jobs that wait ──► done one after the other ──► commands logged together, one sync ──► told to the event loop, in order

Nobody hears of anything before it is on disk: not who asked, not subscribers, not who only looks. What has come while a
group was being synced is the next group. If the engine fails at a command, the state is made again from disk without it.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from millstream.errors import ChangeLimitError, MillstreamError, StorageError
from millstream.server.durable.commands import Command, Numbered
from millstream.server.durable.state import Outcome, ServerState
from millstream.server.durable.storage import Storage
from millstream.server.problems import BusyError, TooManyError

LOG = logging.getLogger("millstream.server")
_GROUP = 512
_RETRY = {"Retry-After": "1"}


class Listener(Protocol):
    """Who is told what commands came to, on the event loop, in order, before who asked is."""

    def done(self, command: Command, number: int, outcome: Outcome, arrived_s: float) -> None: ...


@dataclass(slots=True, eq=False)
class _Job:
    what: Command | Callable[[ServerState], Any]
    future: asyncio.Future[Any]
    told: Callable[[Any], None]
    arrived_s: float = field(default_factory=time.perf_counter)
    number: int = 0
    outcome: Outcome = field(default_factory=Outcome)

    @property
    def size(self) -> int:
        return len(self.what.body) if isinstance(self.what, Command) else 0


class Worker:
    """Owns a server's state; asked from one event loop."""

    def __init__(self, state: ServerState, storage: Storage | None, listener: Listener, *, snapshot_bytes: int) -> None:
        self._state = state
        self._storage = storage
        self._listener = listener
        self._snapshot_bytes = snapshot_bytes
        self._limits = state.limits
        self._waiting: deque[_Job] = deque()
        self._size = 0
        self._changed = threading.Condition()
        self._ends = False
        self._thread = threading.Thread(target=self._run, name="millstream engine", daemon=True)
        self._loop: asyncio.AbstractEventLoop | None = None
        self.failure: str | None = None
        """Why nothing can be done any more."""
        self.on_failure: Callable[[], None] = lambda: None
        self.synced: Callable[[float, int], None] = lambda seconds, commands: None

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._thread.start()

    async def stop(self) -> None:
        """Does what waits, keeps a snapshot, and ends."""
        with self._changed:
            self._ends = True
            self._changed.notify()
        await asyncio.get_running_loop().run_in_executor(None, self._thread.join)

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    # Asking -----------------------------------------------------------------------------------------------------------

    async def do(self, command: Command) -> Any:
        """What a command came to, once it is on disk; raises what refused it."""
        return await self._submit(command)

    async def ask(self, look: Callable[[ServerState], Any], told: Callable[[Any], None] = lambda value: None) -> Any:
        """What somebody sees who looks at the state between two commands, and changes nothing.

        `told` is called with it before anything is told that came later, which cannot be said of who waits for it.
        """
        return await self._submit(look, told)

    def _submit(
        self, what: Command | Callable[[ServerState], Any], told: Callable[[Any], None] = lambda value: None
    ) -> asyncio.Future[Any]:
        job = _Job(what, asyncio.get_running_loop().create_future(), told)
        with self._changed:
            if self.failure is not None:
                raise BusyError(self.failure)
            if self._ends:
                raise BusyError("the server is being stopped.", headers=_RETRY)
            limits = self._limits
            if len(self._waiting) >= limits.waiting_requests or (
                self._waiting and self._size + job.size > limits.waiting_bytes
            ):
                raise BusyError("too many requests wait for the engine; try again later.", headers=_RETRY)
            self._waiting.append(job)
            self._size += job.size
            self._changed.notify()
        return job.future

    # Doing ------------------------------------------------------------------------------------------------------------

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._waiting and not self._ends:
                    self._changed.wait()
                group = [self._waiting.popleft() for _ in range(min(_GROUP, len(self._waiting)))]
                self._size -= sum(job.size for job in group)
            if not group:
                break
            try:
                self._do(group)
            except Exception as error:
                LOG.exception("the engine has stopped")
                kind = "its log cannot be written" if isinstance(error, StorageError) else "its engine has failed"
                self._fail(f"the server has stopped: {kind}.", group)
                return
        try:
            if self._storage is not None and self._storage.logged:
                self._storage.keep(self._state)
        except (MillstreamError, OSError):
            LOG.exception("no snapshot was written; the log has everything")

    def _do(self, group: list[_Job]) -> None:
        commands: list[Numbered] = []
        for job in group:
            if isinstance(job.what, Command):
                try:
                    numbered, job.outcome = self._state.apply(job.what)
                except Exception as error:
                    self._restore(commands, error)
                    commands = []
                    job.outcome = Outcome(error=_refusal(error))
                    continue
                job.number = numbered.number
                commands.append(numbered)
            else:
                try:
                    job.outcome.value = job.what(self._state)
                except MillstreamError as error:
                    job.outcome.error = error
        self._commit(commands)
        self._tell(group)
        if self._storage is not None and self._storage.logged > self._snapshot_bytes:
            self._storage.keep(self._state)

    def _commit(self, commands: list[Numbered]) -> None:
        if self._storage is not None and commands:
            began = time.perf_counter()
            self._storage.append(commands)
            self.synced(time.perf_counter() - began, len(commands))

    def _restore(self, commands: list[Numbered], error: Exception) -> None:
        """A command left the engine in no state to go on with: the one before it is made again from disk."""
        LOG.error("a command failed, and its effects are undone: %s", error, exc_info=not isinstance(error, MillstreamError))
        if self._storage is None:
            raise error
        self._commit(commands)
        state = self._storage.recover(self._limits)
        assert state is not None
        self._state = state

    def _tell(self, group: list[_Job]) -> None:
        assert self._loop is not None
        self._loop.call_soon_threadsafe(self._told, group)

    def _told(self, group: list[_Job]) -> None:
        for job in group:
            if isinstance(job.what, Command) and job.number:
                self._listener.done(job.what, job.number, job.outcome, job.arrived_s)
            if job.future.cancelled():
                continue
            if job.outcome.error is not None:
                job.future.set_exception(job.outcome.error)
            else:
                job.told(job.outcome.value)
                job.future.set_result(job.outcome.value)

    def _fail(self, reason: str, group: list[_Job]) -> None:
        with self._changed:
            self.failure = reason
            group += self._waiting
            self._waiting.clear()
        for job in group:
            job.number, job.outcome = 0, Outcome(error=BusyError(reason))
        self._tell(group)
        assert self._loop is not None
        self._loop.call_soon_threadsafe(self.on_failure)


def _refusal(error: Exception) -> MillstreamError:
    if isinstance(error, ChangeLimitError):
        return TooManyError("a query makes too many rows of this; nothing of it was taken.", status=413)
    return BusyError("the engine failed at this request; nothing of it was taken.", status=500)
