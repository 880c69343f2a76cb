"""The Python processes that do Spark's work on this machine, and the one that the demo kills while it does."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path

_LOOK_S, _LOOKS = 0.001, 30
_FELT_S = 0.5
"""How long Spark takes to miss a worker."""
_MOST = 3
"""A task is tried four times: so many may be killed, even if all had the same one."""
_PROC = Path("/proc")


def can_be_seen() -> bool:
    """Whether this system tells which processes there are, and what they do."""
    return (_PROC / "self" / "stat").exists()


class Killing:
    """Kills a worker as soon as it is seen at work, for the length of a block; `pids` are those that were killed.

    One that had just finished is not missed by anybody: `is_felt` says whether one was, and until then others follow.
    Workers are those of a Spark that `root` started, by default this process.
    """

    def __init__(self, is_felt: Callable[[], bool], root: int | None = None) -> None:
        self._root = os.getpid() if root is None else root
        self._is_felt = is_felt
        self.pids: list[int] = []
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Killing:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ends.set()
        self._thread.join()

    def _watch(self) -> None:
        while len(self.pids) < _MOST and not self._ends.is_set():
            pid = self._at_work()
            if pid is None or not _killed(pid):
                continue
            self.pids.append(pid)
            if self._ends.wait(_FELT_S) or self._is_felt():
                return

    def _at_work(self) -> int | None:
        """A worker that is in the middle of something; None after some looks, since others may have been started."""
        before = {pid: _ticks(pid) for pid in workers(self._root)}
        for _ in range(_LOOKS):
            if self._ends.wait(_LOOK_S):
                return None
            for pid, ticks in before.items():
                if _is_running(pid) or _ticks(pid) > ticks >= 0:
                    return pid
        return None


def _killed(pid: int) -> bool:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def workers(root: int) -> list[int]:
    """The Python workers of a Spark that a process started: children of PySpark's daemon."""
    parents = {int(path.name): _parent(path) for path in _PROC.iterdir() if path.name.isdigit()}
    below = {root}
    while more := {pid for pid, parent in parents.items() if parent in below} - below:
        below |= more
    return [pid for pid in sorted(below) if b"pyspark.daemon" in _command(parents.get(pid, 0))]


def _parent(process: Path) -> int:
    fields = _fields(int(process.name))
    return int(fields[1]) if fields else 0


def _ticks(pid: int) -> int:
    """Processor time that a process has had, in ticks of the system."""
    fields = _fields(pid)
    return int(fields[11]) + int(fields[12]) if fields else -1


def _is_running(pid: int) -> bool:
    fields = _fields(pid)
    return bool(fields) and fields[0] == "R"


def _fields(pid: int) -> list[str]:
    """What the system says of a process, behind its name."""
    try:
        return (_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def _command(pid: int) -> bytes:
    try:
        return (_PROC / str(pid) / "cmdline").read_bytes()
    except OSError:
        return b""
