"""A source can be gone on with from the position of any chunk: together with a snapshot, every element is taken once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from millstream import Chunk, DataError, Engine, OptionError, Want, files
from millstream.ingest import chunks_of
from millstream.ingest.columns import Columns

STREAM = "http://e/s"
QUERIES = (
    f"SELECT CHANGES ?a ?c WHERE {{ STREAM <{STREAM}> [RANGE 4s] {{ ?a <http://e/p0> ?b . ?b <http://e/p1> ?c }} }}",
    f"SELECT CHANGES ?a WHERE {{ STREAM <{STREAM}> [TRIPLES 3] {{ ?a <http://e/p1> ?b }} }}",
)
PROV = "<http://www.w3.org/ns/prov#generatedAtTime>"
NODES = ["<http://e/a>", "<http://e/b>", "_:n"]

triples = st.builds(
    "{} {} {}".format, st.sampled_from(NODES), st.sampled_from(["<http://e/p0>", "<http://e/p1>"]), st.sampled_from(NODES)
)
elements = st.lists(st.one_of(st.lists(triples, min_size=1, max_size=3), st.just(["oops"])), max_size=8)


def n_triples(some: list[list[str]]) -> str:
    return "".join(f"{triple} .\n" for element in some for triple in element)


def n_quads(some: list[list[str]]) -> str:
    graphs = [(f"<http://g/{number}>", number * 1000, element) for number, element in enumerate(some)]
    time = '"{}"^^<http://www.w3.org/2001/XMLSchema#integer>'
    return "".join(
        "".join(f"{t} {graph} .\n" for t in element) + f"{graph} {PROV} {time.format(at_ms)} .\n"
        for graph, at_ms, element in graphs
    )


def trig(some: list[list[str]]) -> str:
    graphs = [(f"<http://g/{n}>", n * 1000, ". ".join(found)) for n, found in enumerate(some) if found != ["oops"]]
    return "".join(f"{graph} {{ {text} }}\n{graph} {PROV} {at_ms} .\n" for graph, at_ms, text in graphs)


FORMATS: dict[str, tuple[Any, dict[str, str]]] = {
    "nt": (n_triples, {"time": "rate:2"}),
    "nq": (n_quads, {}),
    "trig": (trig, {}),
}


def engine_with_queries() -> Engine:
    engine = Engine()
    for query in QUERIES:
        engine.register(query)
    return engine


def outcome(engine: Engine) -> tuple[list[Any], dict[str, int], int]:
    """Answers without the names of blank nodes, counts, and how much was set aside."""
    engine.finish()
    tables = [query.take_table().select(["at_ms", "weight"]) for query in engine.queries]
    rows = [sorted(map(str, table.to_pylist())) for table in tables]
    return rows, {name: engine.stats[name] for name in ("elements", "triples", "late", "rejected")}, len(engine.rejected())


class Cut:
    """A source that breaks off behind some of its chunks."""

    def __init__(self, path: Path, chunks: int) -> None:
        self._path = path
        self._left = chunks

    def chunks(self, want: Want, since: bytes | None = None) -> Iterator[Chunk]:
        for chunk in files(self._path).chunks(want, since):
            if not self._left:
                raise OSError
            self._left -= 1
            yield chunk


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from(sorted(FORMATS)),
    st.lists(elements, min_size=1, max_size=3),
    st.lists(st.integers(0, 4), min_size=1, max_size=4),
    st.sampled_from([1, 60, 1 << 20]),
)
def test_a_source_goes_on_where_a_snapshot_was(
    tmp_path_factory: pytest.TempPathFactory, ending: str, contents: list[list[list[str]]], cuts: list[int], size: int
) -> None:
    folder = tmp_path_factory.mktemp("in")
    write, options = FORMATS[ending]
    for number, content in enumerate(contents):
        (folder / f"{number}.{ending}").write_text(write(content))
    whole = engine_with_queries()
    whole.read(STREAM, files(folder), **options)
    engine = engine_with_queries()
    with (
        patch("millstream.ingest.readers.scanning.CHUNK_BYTES", size),
        patch("millstream.ingest.readers.gathering.CHUNK_STATEMENTS", 2),
    ):
        for cut in cuts:
            try:
                engine.read(STREAM, Cut(folder, cut), since=engine.positions.get(STREAM), **options)
            except OSError:
                # What was set aside since the snapshot is told by whoever goes on.
                engine = Engine.restore(engine.snapshot())
        engine.read(STREAM, files(folder), since=engine.positions.get(STREAM), **options)
    found, wanted = outcome(engine), outcome(whole)
    assert found[:2] == wanted[:2]


def taken(source: object, since: bytes | None = None, **options: Any) -> list[tuple[int, bytes]]:
    """How many elements each chunk has, and the position behind it."""
    from millstream.kernels.dictionary.dictionary import Dictionary

    dictionary = Dictionary()
    found = []
    for chunk in chunks_of(source, Want(**options), since):
        columns: Columns = chunk.encode(dictionary, None)
        found.append((columns.elements, chunk.position))
    return found


def test_blank_nodes_keep_their_names_when_a_file_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "a.nt"
    path.write_text("_:x <http://e/p0> <http://e/b> .\n<http://e/b> <http://e/p1> _:x .\n")
    engine = Engine()
    loop = f"SELECT ?a WHERE {{ STREAM <{STREAM}> [RANGE 1h] {{ ?a <http://e/p0> ?b . ?b <http://e/p1> ?a }} }}"
    query = engine.register(loop)
    with patch("millstream.ingest.readers.scanning.CHUNK_BYTES", 35), pytest.raises(OSError):
        engine.read(STREAM, Cut(path, 1), time="rate:1")
    assert engine.stats["elements"] == 1
    engine.read(STREAM, path, time="rate:1", since=engine.positions[STREAM])
    assert [answer.at_ms for answer in query.take()] == [1000]


def test_a_file_that_has_lost_elements_is_told(tmp_path: Path) -> None:
    path = tmp_path / "a.nt"
    path.write_text("<http://e/a> <http://e/p0> <http://e/b> .\n" * 3)
    position = taken(path, time="rate:1")[0][1]
    path.write_text("<http://e/a> <http://e/p0> <http://e/b> .\n")
    with pytest.raises(DataError, match="has only 1 elements, of which 3 were taken before: it has changed"):
        taken(path, position, time="rate:1")


@pytest.mark.parametrize(
    "since", [b"7", b"{}x", b'{"done": 3}', b'{"taken": -1}', b'{"other": 1}', b'{"prefix": "x> <"}', b"\xff"]
)
def test_what_is_no_position_is_told(tmp_path: Path, since: bytes) -> None:
    (tmp_path / "a.nt").write_text("")
    with pytest.raises(OptionError, match="is no position in files"):
        taken(tmp_path / "a.nt", since, time="rate:1")


def test_a_document_of_several_chunks_has_its_position_behind_the_last() -> None:
    class Messages:
        def chunks(self, want: Want, since: bytes | None = None) -> Iterator[Chunk]:
            for number in range(int(since or 0), 2):
                yield from want.read(b"<http://e/a> <http://e/p0> <http://e/b> .\n" * 2, position=b"%d" % (number + 1))

    engine = Engine()
    clock = iter(range(9)).__next__
    engine.read(STREAM, Messages(), format="nt", time="arrival", clock_ms=clock)
    assert (engine.stats["elements"], engine.positions) == (4, {STREAM: b"2"})

    class Broken(Messages):
        def chunks(self, want: Want, since: bytes | None = None) -> Iterator[Chunk]:
            for chunk in super().chunks(want, since):
                yield chunk
                if not chunk.position:
                    raise OSError

    with pytest.raises(OSError):
        engine.read(STREAM, Broken(), format="nt", time="arrival", clock_ms=clock)
    assert (engine.stats["elements"], engine.positions) == (6, {STREAM: b"2"})


def test_what_a_source_gives_wrongly_is_set_aside() -> None:
    class Careless:
        def chunks(self, want: Want, since: bytes | None = None) -> Iterator[Chunk]:
            good = "<http://e/a> <http://e/p0> <http://e/b> ."
            yield want.elements([(good, 0), ("oops", 1), (good, 2**60), (good, 3), (7, 4)], position=b"x")

    engine = Engine()
    engine.read(STREAM, Careless())
    assert (engine.stats["elements"], engine.stats["rejected"], engine.positions) == (2, 3, {STREAM: b"x"})
    with pytest.raises(DataError):
        Engine(strict=True).read(STREAM, Careless())


def test_files_that_come_later_are_followed(tmp_path: Path) -> None:
    engine, line = Engine(), "<http://e/a> <http://e/p0> <http://e/b> .\n"
    (tmp_path / "0.nt").write_text(line)

    class Stop:
        """Followed files until five elements were taken; a file comes whenever there is nothing new."""

        def chunks(self, want: Want, since: bytes | None = None) -> Iterator[Chunk]:
            number = 1
            for chunk in files(tmp_path, follow=True).chunks(want, since):
                yield chunk
                if engine.stats["elements"] == 5:
                    return
                if chunk.is_idle and not (tmp_path / f"{number}.nt").exists():
                    (tmp_path / f"{number}.nt").write_text(line * 2)
                    number += engine.stats["elements"] > 2 * number - 2

    with patch("millstream.ingest.sources.LISTED_EVERY_S", 0), patch("millstream.engine.engine._IDLE_S", 0):
        engine.read(STREAM, Stop(), time="rate:1")
    assert engine.clock_ms == 4000
