"""Checkpoint folders of jobs, looked at before Spark goes on from them: a file that is damaged is named, with the way out.

Spark keeps logs of text (offsets, commits, metadata), whose damage it tells in traces of Java, and state, of which only it
knows whether that can be read. Beside them, a run of the command line keeps a record of what it has written.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path

from millstream.errors import SnapshotError
from millstream.output.files import replace_file

WAY_OUT = "put back a copy of the checkpoint, or remove it and begin anew"
_VERSION = re.compile(r"v\d+")
_STATE = re.compile(
    r"CANNOT_LOAD_STATE_STORE|STATE_STORE|StateStore|RocksDB|rocksdb|LZ4|MetadataLog|StateSchema|StateMetadata|OffsetSeq"
)

_BUSY = "UNRELEASED_THREAD_ERROR"


def damaged(path: Path, reason: str) -> SnapshotError:
    """What to raise for a file of a checkpoint."""
    return SnapshotError(f"{path} is damaged: {reason}; {WAY_OUT}")


def check_checkpoint(folder: Path) -> None:
    """Refuses logs of Spark's that are not whole."""
    if (folder / "metadata").exists() and "id" not in _object(folder / "metadata"):
        raise damaged(folder / "metadata", "it does not say whose checkpoint this is")
    for path in numbered(folder / "offsets"):
        _check_log(path, 2)
    for path in numbered(folder / "commits"):
        _check_log(path, 1)
    for path in folder.glob("state/*/_metadata/v*/*"):
        if path.name.isdigit():
            _check_log(path, 1)


def numbered(folder: Path) -> list[Path]:
    """The files of a log, in order of their batches."""
    return sorted((path for path in folder.glob("*") if path.name.isdigit()), key=lambda path: int(path.name))


def _check_log(path: Path, least: int) -> None:
    """A log has a version, then lines of JSON; `-` stands for a source that has none."""
    version, *lines = _text(path).split("\n")
    if not _VERSION.fullmatch(version) or len(lines) < least:
        raise damaged(path, "it is cut off" if _VERSION.fullmatch(version) or not version else "it is no log of Spark's")
    for line in lines:
        if line != "-":
            _parsed(path, line)


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except OSError as error:
        raise damaged(path, f"it cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise damaged(path, "it is no text") from None


def _parsed(path: Path, text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise damaged(path, "it is cut off or garbled") from None


def _object(path: Path) -> dict[str, object]:
    found = _parsed(path, _text(path))
    if not isinstance(found, dict):
        raise damaged(path, "it is garbled")
    return found


def damage_told(text: str, folder: Path) -> str | None:
    """The file of a checkpoint that a failure of Spark's is about, or the checkpoint itself; None if it is about neither."""
    whole = str(folder.resolve())
    names: list[str] = re.findall(re.escape(whole) + r"/(?:\d+-[^/\s]+/)?state/[^\s,:;'\"\])]+", text)
    if names:
        return max(names, key=len)
    return f"{whole} (its state)" if _STATE.search(text) and _BUSY not in text else None


@dataclass(slots=True)
class Record:
    """Which batches a run has written, and where its outputs were then."""

    path: Path
    exists: bool = False
    batches: dict[str, int] = field(default_factory=dict)
    positions: dict[str, str] = field(default_factory=dict)
    answers: list[int] = field(default_factory=list)
    late: int = 0
    set_aside: int = 0
    letters: list[str] = field(default_factory=list)

    @classmethod
    def read(cls, path: Path) -> Record:
        """The record that an earlier run left, or an empty one."""
        if not path.exists():
            return cls(path)
        fields = _object(path)
        found = cls(path, exists=True)
        for name, kind, part in _FIELDS:
            value = fields.get(name)
            parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
            if type(value) is not kind or not all(type(each) is part for each in parts):
                raise damaged(path, f"it does not say {name} as it should")
            setattr(found, name, value)
        return found

    def check(self, number: int, folder: Path) -> None:
        """Refuses a record of another moment than Spark's checkpoint of a query: answers would be lost, or come twice."""
        written = self.batches.get(str(number), -1)
        begun = max((int(path.name) for path in numbered(folder / "offsets")), default=-1)
        done = max((int(path.name) for path in numbered(folder / "commits")), default=-1)
        if not done <= written <= begun:
            what = "says nothing of" if not self.exists else "is not of the same moment as"
            raise SnapshotError(f"{self.path} {what} {folder}, which has batches up to {done}; {WAY_OUT}")

    def keep(self) -> None:
        """Replaces what was there."""
        replace_file(self.path, json.dumps({name: getattr(self, name) for name, _, _ in _FIELDS}).encode())


_FIELDS = (
    ("batches", dict, int),
    ("positions", dict, str),
    ("answers", list, int),
    ("late", int, int),
    ("set_aside", int, int),
    ("letters", list, str),
)
