"""File objects are read as the files they came from, the fast way and the other."""

from __future__ import annotations

import gzip
import io
from pathlib import Path
from typing import Any

import pytest

from millstream import Engine
from tests.engine.notation import S, T, emitted, nt, over

LINES = nt("a p b", "a p c") + "\nthis is no triple\n" + nt("d p e") + "\n"
FOUND = ["0 +a b", "1000 +a c", "2000 +d e"]


def read(source: Any, **options: Any) -> tuple[list[str], list[Any]]:
    engine = Engine()
    query = engine.register(over("RANGE 10s"))
    engine.read(S, source, time="rate:1", **options)
    return emitted(query), [(r.line, r.column, r.reason, r.text) for r in engine.rejected()]


@pytest.mark.parametrize(
    "source",
    [
        io.BytesIO(LINES.encode()),
        io.BytesIO(b"\xef\xbb\xbf" + LINES.encode()),
        io.BytesIO(gzip.compress(LINES.encode())),
        io.StringIO(LINES),
    ],
    ids=["bytes", "with a byte order mark", "compressed", "text"],
)
def test_lines_of_a_file_object_are_those_of_the_bytes(source: Any) -> None:
    assert read(source, format="nt") == read(LINES.encode(), format="nt")
    assert emitted_of(source) == FOUND


def emitted_of(source: Any) -> list[str]:
    source.seek(0)
    return read(source, format="nt")[0]


def test_an_open_file_is_read_from_where_it_stands_and_told_by_its_name(tmp_path: Path) -> None:
    path = tmp_path / "some.nt"
    path.write_text(nt("skipped p x") + "\n" + LINES)
    with path.open("rb") as file:
        file.readline()
        engine = Engine()
        query = engine.register(over("RANGE 10s"))
        engine.read(S, file, time="rate:1")
    assert emitted(query) == FOUND
    assert [(r.source, r.line) for r in engine.rejected()] == [(str(path), 3)]


def test_what_cannot_be_put_back_is_read_as_well() -> None:
    class Pipe(io.BytesIO):
        def seekable(self) -> bool:
            return False

    assert read(Pipe(LINES.encode()), format="nt")[0] == FOUND


def test_a_view_of_bytes_with_gaps_is_read_as_its_bytes() -> None:
    spread = b"".join(bytes([byte, 0]) for byte in LINES.encode())
    assert read(memoryview(spread)[::2], format="nt") == read(LINES.encode(), format="nt")


def test_a_message_log_is_read_by_messages() -> None:
    log = f'VERSION "1.2-messages"\n{nt("a p b", "a p c")}\nMESSAGE\n{nt("d p e")}\n'.encode()
    assert read(io.BytesIO(log), format="nt") == read(log, format="nt")


def test_datasets_are_loaded_from_file_objects() -> None:
    engine = Engine()
    assert engine.load(io.BytesIO(LINES.encode()), graph=T, format="nt") == 3
