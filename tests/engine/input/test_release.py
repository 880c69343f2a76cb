"""What was read is let go of as soon as it was taken: it must not wait until Python collects garbage."""

import gc
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pytest

import millstream as ms

LINES = "".join(f'<http://e/s{n}> <http://e/p> "{n}" .\n' for n in range(100))
PATCH = "".join(f"A {line}\n" for line in LINES.splitlines())


@pytest.fixture
def no_collection() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def table() -> pa.Table:
    terms = {"s": ["<http://e/s>"] * 2, "p": ["<http://e/p>"] * 2, "o": ['"1"', '"2"']}
    return pa.table({**terms, "at_ms": [1, 2], "element": [1, 2]})


@pytest.mark.usefixtures("no_collection")
def test_a_table_is_not_held_once_it_was_pushed() -> None:
    engine, given = ms.Engine(), table()
    query = engine.register("SELECT * { STREAM <urn:s> [RANGE 1s] { ?x <http://e/p> ?y } }")
    held = weakref.ref(given)
    engine.push_table("urn:s", given)
    del given
    assert held() is None
    assert query.take_table().num_rows == 2


CALLS: dict[str, Callable[[ms.Engine, Path], object]] = {
    "push_table": lambda engine, folder: engine.push_table("urn:s", table()),
    "push_many": lambda engine, folder: engine.push_many("urn:s", [(line, 3) for line in LINES.splitlines()]),
    "read": lambda engine, folder: engine.read("urn:other", folder / "a.nt", time="rate:1000"),
    "load": lambda engine, folder: engine.load(folder / "a.ttl"),
    "read_changes": lambda engine, folder: engine.read_changes(folder / "a.rdfp"),
    "insert": lambda engine, folder: engine.insert(LINES),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.usefixtures("no_collection")
def test_a_call_leaves_no_garbage(name: str, tmp_path: Path) -> None:
    for file, text in (("a.nt", LINES), ("a.ttl", LINES), ("a.rdfp", PATCH)):
        (tmp_path / file).write_text(text)
    engine = ms.Engine()
    engine.register("SELECT * { STREAM <urn:s> [RANGE 1s] { ?x <http://e/p> ?y } OPTIONAL { ?x <http://e/p> ?z } }")
    # What the first call imports and builds may leave some.
    CALLS[name](engine, tmp_path)
    gc.collect()
    CALLS[name](engine, tmp_path)
    assert gc.collect() == 0
