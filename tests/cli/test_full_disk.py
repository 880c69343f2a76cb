"""A disk that is full: one sentence, a code of its own, and nothing that was written in part counts as written.

What a test can have of a full disk: a limit on the length of files, and /dev/full.
"""

from __future__ import annotations

import errno
import io
import os
import resource
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from millstream.errors import StorageError
from millstream.output.files import OutputFile, replace_file
from tests.cli.running import PROGRAM, SEEN, element, millstream

STORAGE = 3
GOES_ON = "make room, the same command then goes on from its checkpoint"
FORMATS = ("csv", "tsv", "json", "ndjson", "parquet", "table")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "q.rq").write_text(SEEN.replace("SELECT", "SELECT CHANGES"))
    (tmp_path / "in").mkdir()
    for file in range(40):
        numbers = range(file * 50, file * 50 + 50)
        text = "".join(element(f"g{n}", 1000 + 40 * n, f"x{n % 7} p y{n % 11}") for n in numbers)
        (tmp_path / "in" / f"{file:03d}.nq").write_text(text + "this is no quad\n")
    return tmp_path


def arguments(*more: str, engine: str = "embedded") -> list[str]:
    given = ["run", "q.rq", "--engine", engine, "--stream", "http://e/a=in", "--time", "prov"]
    return [*given, "--output", "out.csv", "--dead-letter", "letters.jsonl", *more]


def run_with(most_bytes: int, *given: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """The command, in a process whose files cannot be longer."""

    def limit() -> None:
        # What is beyond the limit fails like a full disk instead of ending the process.
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, most_bytes))

    return subprocess.run(
        [PROGRAM, *given],
        capture_output=True,
        text=True,
        check=False,
        cwd=cwd,
        env=os.environ,
        timeout=120,
        preexec_fn=limit,
    )


def told(stderr: str) -> str:
    """The one error."""
    assert "Traceback" not in stderr
    assert "Exception ignored" not in stderr
    [line] = [line for line in stderr.splitlines() if line.startswith("error: ")]
    return line


@pytest.mark.parametrize("most_bytes", [100, 20_000])
def test_a_run_goes_on_when_there_is_room_again(folder: Path, most_bytes: int) -> None:
    given = arguments("--checkpoint", "checkpoint", "--checkpoint-every", "0.01s")
    found = run_with(most_bytes, *given, cwd=folder)
    assert found.returncode == STORAGE, found.stderr
    assert told(found.stderr).endswith(f": cannot be written: File too large; {GOES_ON}")
    millstream(*given, cwd=folder)
    written = {name: (folder / name).read_bytes() for name in ("out.csv", "letters.jsonl")}
    millstream(*arguments(), cwd=folder)
    assert written == {name: (folder / name).read_bytes() for name in written}


@pytest.mark.parametrize("format", ["csv", "ndjson"])
def test_what_is_there_is_whole(folder: Path, format: str) -> None:
    found = run_with(70_000, *arguments("--format", format), cwd=folder)
    assert found.returncode == STORAGE, found.stderr
    assert told(found.stderr) == "error: out.csv: cannot be written: File too large; make room, run it again"
    part = (folder / "out.csv").read_bytes()
    millstream(*arguments("--format", format), cwd=folder)
    whole = (folder / "out.csv").read_bytes()
    assert len(part) < len(whole)
    assert whole.startswith(part)
    assert part.endswith(b"\n") or not part


class Small(io.FileIO):
    """A file with room for ten bytes: what does not fit is written in part."""

    def write(self, data: Any, /) -> int:
        room = max(0, 10 - self.tell())
        if len(data) > room:
            super().write(bytes(data)[:room])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return super().write(data)


def test_a_piece_without_room_is_cut_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("millstream.output.files.io.FileIO", Small)
    file = OutputFile(tmp_path / "out")
    file.write(b"four")
    file.write(b"more")
    assert file.sync() == 8
    file.write(b"five!")
    assert file.tell() == 13
    for _ in range(2):
        with pytest.raises(StorageError, match=r"out: cannot be written: No space left on device"):
            file.flush()
        # Nothing comes behind what was lost, even if it were to fit.
        with pytest.raises(StorageError):
            file.write(b"x")
    file.close()
    assert (tmp_path / "out").read_bytes() == b"fourmore"


def test_a_file_is_replaced_as_a_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "kept"
    replace_file(path, b"before")

    def full(number: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StorageError, match="kept: cannot be written"):
        replace_file(path, b"after")
    assert [(each.name, each.read_bytes()) for each in tmp_path.iterdir()] == [("kept", b"before")]


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_tells_it_in_one_sentence(folder: Path, format: str) -> None:
    (folder / "out.csv").symlink_to("/dev/full")
    found = millstream(*arguments("--format", format), cwd=folder, code=STORAGE)
    assert told(found.stderr) == "error: out.csv: cannot be written: No space left on device; make room, run it again"


def test_dead_letters_are_outputs_too(folder: Path) -> None:
    (folder / "letters.jsonl").symlink_to("/dev/full")
    found = millstream(*arguments(), cwd=folder, code=STORAGE)
    assert told(found.stderr).startswith("error: letters.jsonl: cannot be written: No space left on device")


@pytest.mark.parametrize("format", ["csv", "json", "table"])
def test_standard_output_can_be_a_file_on_a_full_disk(folder: Path, format: str) -> None:
    given = ["run", "q.rq", "--engine", "embedded", "--stream", "http://e/a=in", "--time", "prov", "--format", format]
    with open("/dev/full", "wb") as full:
        found = subprocess.run(
            [PROGRAM, *given], stdout=full, stderr=subprocess.PIPE, text=True, check=False, cwd=folder, timeout=120
        )
    assert found.returncode == STORAGE, found.stderr
    assert told(found.stderr).startswith("error: standard output: cannot be written: No space left on device")


def test_mapping_tells_it_too(folder: Path) -> None:
    (folder / "rows.csv").write_text("a,b\n" + "1,2\n" * 10)
    (folder / "t.toml").write_text("[element]\ntriples = '''\n<http://e/{a}> <http://e/p> <http://e/{b}>\n'''\n")
    found = millstream(
        "map", "rows.csv", "--template", "t.toml", "--format", "nt", "--output", "/dev/full", cwd=folder, code=STORAGE
    )
    assert told(found.stderr) == "error: /dev/full: cannot be written: No space left on device; make room, run it again"


@pytest.mark.long
def test_on_spark_a_run_goes_on_when_there_is_room_again(folder: Path) -> None:
    given = arguments("--checkpoint", "checkpoint", engine="spark")
    (folder / "out.csv").symlink_to("/dev/full")
    found = millstream(*given, cwd=folder, code=STORAGE)
    assert told(found.stderr) == f"error: out.csv: cannot be written: No space left on device; {GOES_ON}"
    (folder / "out.csv").unlink()
    millstream(*given, cwd=folder)
    written = sorted((folder / "out.csv").read_text().splitlines())
    letters = (folder / "letters.jsonl").read_text().splitlines()
    millstream(*arguments(), cwd=folder)
    assert written == sorted((folder / "out.csv").read_text().splitlines())
    assert len(letters) == len(set(letters)) == 40
