"""The folder a server keeps its state in: a snapshot, and the log of the commands behind it.

    snapshot-000…042   the state after command 42, replaced as a whole
    log-000…042        the commands from 43 on

A new snapshot begins a new log; only then are older ones removed. So at every moment the newest snapshot and the logs
behind it are all that was ever answered.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable
from pathlib import Path

from millstream.errors import OptionError, SnapshotError
from millstream.output.files import replace_file, unwritten, with_digest, without_digest
from millstream.server.durable.commands import Numbered, packed, unpacked
from millstream.server.durable.log import LogReader, LogWriter, sync_folder
from millstream.server.durable.state import ServerState
from millstream.server.limits import ServerLimits

_MAGIC = b"millstream state 1 "
_DIGITS = 20
Warn = Callable[[str], None]


class Storage:
    """One server's folder; no other process may have it meanwhile."""

    def __init__(self, folder: Path, warn: Warn) -> None:
        self._folder = folder
        self._warn = warn
        self._log: LogWriter | None = None
        self.logged = 0
        """Bytes behind the snapshot."""
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise unwritten(folder, error) from None
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self._lock)
            raise OptionError(f"--state {folder}: another server has it open.") from None

    def _files(self, kind: str) -> list[tuple[int, Path]]:
        found = [(path.name.removeprefix(f"{kind}-"), path) for path in self._folder.glob(f"{kind}-*")]
        return sorted((int(digits), path) for digits, path in found if len(digits) == _DIGITS and digits.isdigit())

    def _path(self, kind: str, number: int) -> Path:
        return self._folder / f"{kind}-{number:0{_DIGITS}}"

    # Going on ---------------------------------------------------------------------------------------------------------

    def recover(self, limits: ServerLimits) -> ServerState | None:
        """The state after the last command that was answered, ready to be gone on with; None if there is none yet."""
        if self._log is not None:
            self._log.close()
            self._log = None
        snapshots, logs = self._files("snapshot"), self._files("log")
        if not snapshots:
            if logs:
                raise SnapshotError(f"the state has {logs[0][1].name}, but no snapshot that it begins with.")
            return None
        state = ServerState.load(self._read(snapshots[-1][1]), limits)
        for place, (begins, path) in enumerate(logs):
            reader = LogReader(path)
            for payload in reader.frames():
                for numbered in unpacked(payload):
                    self._replay(state, numbered, path)
            if reader.cut:
                if place + 1 < len(logs):
                    raise SnapshotError(f"{path.name} is damaged at byte {reader.length}, and {logs[-1][1].name} follows.")
                self._warn(f"{path.name}: the last {reader.cut} bytes were not written as a whole and are cut off")
            if place + 1 == len(logs) and begins == snapshots[-1][0]:
                self._log = LogWriter(path, length=None if reader.is_empty else reader.length)
        if self._log is None:
            self._log = LogWriter(self._path("log", state.number))
        self.logged = self._log.length
        return state

    def _replay(self, state: ServerState, numbered: Numbered, path: Path) -> None:
        if numbered.number <= state.number:
            return  # it is in the snapshot
        if numbered.number != state.number + 1:
            raise SnapshotError(f"{path.name} goes on with command {numbered.number}, and {state.number + 1} is missing.")
        state.apply(numbered.command)

    def _read(self, path: Path) -> bytes:
        content = without_digest(_MAGIC, path.read_bytes())
        if content is None:
            raise SnapshotError(f"{path.name} is damaged, or of another version; put back a copy of the state folder.")
        return content

    # Keeping ----------------------------------------------------------------------------------------------------------

    def append(self, commands: list[Numbered]) -> None:
        """Has commands on disk, all of them together; StorageError if that fails, and nobody may go on then."""
        assert self._log is not None, "a state is kept before commands are"
        self._log.append(packed(commands))
        self.logged = self._log.length

    def keep(self, state: ServerState) -> None:
        """A snapshot; what came before it is no longer needed."""
        replace_file(self._path("snapshot", state.number), with_digest(_MAGIC, state.dump()))
        sync_folder(self._folder)
        if self._log is not None:
            self._log.close()
        self._log = LogWriter(self._path("log", state.number))
        self.logged = self._log.length
        for kind in ("snapshot", "log"):
            for number, path in self._files(kind):
                if number != state.number:
                    path.unlink()
        for path in self._folder.glob("snapshot-*.new"):
            path.unlink()  # a server was killed while it wrote it

    def close(self) -> None:
        """Another server may have it."""
        if self._log is not None:
            self._log.close()
            self._log = None
        os.close(self._lock)
