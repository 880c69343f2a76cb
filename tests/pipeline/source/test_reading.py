"""Parts of files as columns: the same elements as the readers give, whatever a file is cut into."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from millstream.errors import DataError, OptionError
from millstream.ingest.columns import times_at_rate
from millstream.ingest.readers import gathering, scanning
from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.kernels.scanning.summary import Summary
from millstream.pipeline.source.files import Found, cuts_of, list_files, open_piece
from millstream.pipeline.source.reading import count_elements, read_part
from millstream.pipeline.source.splits import Split
from millstream.rdf import Rejected
from tests.readers import read_elements

LINES = [f'<http://e/s{i % 7}> <http://e/p{i % 3}> "{i}" .' for i in range(40)]
PROV = "http://www.w3.org/ns/prov#generatedAtTime"
TIME = "http://www.w3.org/2001/XMLSchema#dateTime"

Row = tuple[str, str, str, str | None, int, int]


def rows(part: Split, summary: Summary | None = None, rejected: list[Rejected] | None = None) -> list[Row]:
    """Triples as texts, graph, number of the element in the part, and its time; -1 where the rate tells it."""
    return list(_rows(part, summary, rejected if rejected is not None else []))


def _rows(part: Split, summary: Summary | None, rejected: list[Rejected]) -> Iterator[Row]:
    dictionary = Dictionary()
    before = 0
    for found in (r.columns for r in read_part(part, dictionary, summary, on_rejected=rejected.append)):
        for i, (s, p, o) in enumerate(found.triples):
            texts = [dictionary.decode_one(int(term)) for term in (s, p, o)]
            graph = None if found.graph is None or found.graph[i] < 0 else dictionary.decode_one(int(found.graph[i]))
            place = int(found.element[i])
            yield (*texts, graph, place + before, -1 if found.at_ms is None else int(found.at_ms[place]))
        before += found.elements


def part_of(path: Path, **more: object) -> Split:
    return Split(path=str(path), end=path.stat().st_size, **more)  # type: ignore[arg-type]


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.lists(st.sampled_from([*LINES, "", "# note", "_:a <http://e/p> _:b .", "bad", "bad too"]), max_size=12),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
    st.integers(1, 60),
)
def test_ranges_of_a_file_hold_each_line_once_and_tell_its_number(
    tmp_path: Path, lines: list[str], ending: str, ended: bool, split: int
) -> None:
    path = tmp_path / "a.nt"
    path.write_bytes((ending.join(lines) + (ending if ended else "")).encode())
    whole_rejected: list[Rejected] = []
    whole = rows(part_of(path, time="rate:1"), rejected=whole_rejected)
    found: list[Row] = []
    rejected: list[Rejected] = []
    file = Found(str(path), path.stat().st_size)
    cuts = cuts_of(file, format=None, time="rate:1", element=None, split_bytes=split)
    for start, end in pairwise(cuts):
        before = len(found)
        piece = rows(Split(path=str(path), start=start, end=end, time="rate:1"), rejected=rejected)
        found += [(*row[:4], row[4] + before, row[5]) for row in piece]
    assert found == whole
    assert rejected == whole_rejected


@pytest.mark.parametrize("chunk", [1, 100, 1 << 23])
def test_chunks_do_not_show(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunk: int) -> None:
    path = tmp_path / "a.nt"
    path.write_text("\n".join(LINES))
    whole = rows(part_of(path, time="rate:1"))
    monkeypatch.setattr(scanning, "CHUNK_BYTES", chunk)
    monkeypatch.setattr(gathering, "CHUNK_STATEMENTS", chunk)
    assert rows(part_of(path, time="rate:1")) == whole
    subjects = [row[4] for row in rows(part_of(path, time="rate:1", element="subject"))]
    assert subjects == list(range(40))


def test_only_what_the_summary_keeps_is_there_but_all_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "a.nt"
    path.write_text("\n".join(LINES))
    summary = Summary([(None, b"<http://e/p1>", None)])
    for element in ("line", "subject"):
        kept = rows(part_of(path, time="rate:1", element=element), summary)
        assert [row[4] for row in kept] == list(range(1, 40, 3))
    assert count_elements(part_of(path, time="rate:1")) == 40


def test_a_range_without_lines_of_its_own_is_empty(tmp_path: Path) -> None:
    path = tmp_path / "a.nt"
    path.write_text(LINES[0])
    (found,) = read_part(Split(path=str(path), start=5, end=9, time="rate:1"), Dictionary(), on_rejected=print)
    assert (found.columns.elements, len(found.columns.triples)) == (0, 0)


def test_blank_nodes_are_those_of_the_file_in_every_range_and_on_either_way(tmp_path: Path) -> None:
    a, b = tmp_path / "a.nt", tmp_path / "b.nt"
    text = "_:x <http://e/p> _:y .\n_:y <http://e/p> _:x .\n"
    a.write_text(text)
    b.write_text(text)
    first = rows(Split(path=str(a), start=0, end=10, time="rate:1"))
    second = rows(Split(path=str(a), start=10, end=len(text), time="rate:1"))
    assert (first[0][0], first[0][2]) == (second[0][2], second[0][0])
    assert [row[:3] for row in rows(part_of(a, time="rate:1", element="file"))] == [first[0][:3], second[0][:3]]
    assert not {row[0] for row in rows(part_of(b, time="rate:1"))} & {first[0][0], second[0][0]}
    assert not {row[0] for row in rows(part_of(a, time="rate:1", source=1))} & {first[0][0], second[0][0]}


def test_named_graphs_keep_their_names_and_times(tmp_path: Path) -> None:
    path = tmp_path / "a.nq.gz"
    text = f'<http://e/s> <http://e/p> 1 .\n<http://e/g> <{PROV}> "1970-01-01T00:00:01Z"^^<{TIME}> .\n'
    text += "<http://e/s> <http://e/p> <http://e/o> <http://e/g> .\n" * 2
    path.write_bytes(gzip.compress(text.encode()))
    rejected: list[Rejected] = []
    assert rows(part_of(path), rejected=rejected) == [
        ("<http://e/s>", "<http://e/p>", "<http://e/o>", "<http://e/g>", 0, 1000)
    ]
    assert [each.line for each in rejected] == [1]


@pytest.mark.parametrize(
    ("name", "text", "options"),
    [
        ("a.ttl", "@prefix e: <http://e/> . e:a e:p 1, 2, 1 ; e:q [ e:r e:s ] . e:b e:p 3 .", {"time": "rate:2"}),
        ("a.nq", "<http://e/a> <http://e/b> <http://e/c> <http://e/g> .\n" * 3, {"time": "rate:2", "element": "line"}),
        ("a.csv", "s,p,o,at_ms\n<http://e/a>,<http://e/b>,<http://e/c>,7\n", {}),
        ("a.jsonl", '{"@id":"http://e/a","http://e/p":1}\n{"@id":"http://e/b","http://e/p":2}\n', {"time": "rate:2"}),
        ("a.nt", 'VERSION "1.2-messages"\n' + LINES[0] + "\n" + LINES[1] + "\nMESSAGE\n" + LINES[2], {"time": "rate:2"}),
        ("a.nt", "\n".join(LINES), {"time": "rate:2", "element": "subject"}),
    ],
)
def test_elements_are_those_of_the_readers(tmp_path: Path, name: str, text: str, options: dict[str, str]) -> None:
    path = tmp_path / name
    path.write_text(text)
    found = rows(part_of(path, **options))
    expected = [
        (str(triple.predicate), number, element.at_ms)
        for number, element in enumerate(read_elements(path, **options))  # type: ignore[arg-type]
        for triple in element.triples
    ]
    rate = Fraction(2)
    times = [int(times_at_rate(np.array([row[4]]), rate)[0]) if row[5] < 0 else row[5] for row in found]
    assert [(row[1], row[4], at_ms) for row, at_ms in zip(found, times, strict=True)] == expected


def test_json_documents_a_line_are_cut_and_their_nodes_stay_apart(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"http://e/p":{"http://e/q":1}}\n' * 4)
    size = path.stat().st_size
    cuts = cuts_of(Found(str(path), size), format=None, time="rate:1", element=None, split_bytes=40)
    assert len(cuts) == 5
    pieces = [rows(Split(path=str(path), start=a, end=b, time="rate:1")) for a, b in pairwise(cuts)]
    assert [len(piece) for piece in pieces] == [2] * 4
    assert len({row[0] for piece in pieces for row in piece}) == 8


@pytest.mark.parametrize(
    ("name", "text", "options"),
    [
        ("a.nq", "<http://e/a> <http://e/b> <http://e/c> <http://e/g> .\n" * 9, {}),
        ("a.nt", "\n".join(LINES), {"time": "predicate:http://e/p"}),
        ("a.nt", 'VERSION "1.2-messages"\n' + "\n".join(LINES), {"time": "rate:1"}),
        ("a.ttl", "\n".join(LINES), {"time": "rate:1"}),
        ("a.csv", "s,p,o,at_ms\n" + "<http://e/a>,<http://e/b>,<http://e/c>,7\n" * 9, {}),
        ("a.nt", gzip.compress("\n".join(LINES).encode()), {"time": "rate:1"}),
        ("a.jsonl", '{"@id":"http://e/a","http://e/p":1}\n' * 9, {"element": "file", "time": "rate:1"}),
    ],
)
def test_what_goes_beyond_a_line_is_not_cut(tmp_path: Path, name: str, text: str | bytes, options: dict[str, str]) -> None:
    path = tmp_path / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    size = path.stat().st_size
    chosen = {"format": None, "time": None, "element": None, **options}
    assert cuts_of(Found(str(path), size), split_bytes=30, **chosen) == [0, size]  # type: ignore[arg-type]


def test_arrival_is_when_the_file_was_found(tmp_path: Path) -> None:
    path = tmp_path / "a.nt"
    path.write_text("\n".join(LINES))
    for element in ("line", "subject"):
        found = rows(part_of(path, time="arrival", element=element, arrival_ms=77))
        assert [row[5] for row in found] == [77] * 40


def test_times_at_a_rate_are_exact_and_bounded() -> None:
    assert times_at_rate(np.array([0, 1, 2, 3]), Fraction(3)).tolist() == [0, 333, 666, 1000]
    assert times_at_rate(np.array([1, 1 << 40]), Fraction(1, 10**18)).tolist() == [-1, -1]
    assert times_at_rate(np.array([1 << 55]), Fraction(10**18)).tolist() == [(1 << 55) * 1000 // 10**18]


def test_files_that_changed_or_are_gone_are_named(tmp_path: Path) -> None:
    path = tmp_path / "a.nt"
    path.write_text("\n".join(LINES))
    part = part_of(path, time="rate:1")
    path.write_text(LINES[0])
    with pytest.raises(DataError, match=r"a\.nt: was \d+ bytes long .* must not change"):
        rows(part)
    path.unlink()
    with pytest.raises(DataError, match=r"a\.nt: cannot be read: No such file"):
        rows(part)


def test_a_file_that_is_no_table_is_set_aside_as_a_whole(tmp_path: Path) -> None:
    for name, reason in (
        ("a.csv", "needs one column each of s, p, o, at_ms"),
        ("a.parquet", "not a readable parquet table"),
    ):
        path = tmp_path / name
        path.write_text("a,b\n1,2\n")
        rejected: list[Rejected] = []
        assert rows(part_of(path), rejected=rejected) == []
        assert [(each.source, each.reason[: len(reason)]) for each in rejected] == [(str(path), reason)]


@pytest.mark.parametrize(
    ("time", "element", "told"),
    [
        (None, None, "does not say when things happened"),
        ("column", None, "is for tables"),
        ("rate:1", "graph", "has no graphs"),
    ],
)
def test_options_that_cannot_be_are_told_before_anything_is_read(
    tmp_path: Path, time: str | None, element: str | None, told: str
) -> None:
    path = tmp_path / "a.nt"
    path.write_text(LINES[0])
    with pytest.raises(OptionError, match=told):
        cuts_of(Found(str(path), 40), format=None, time=time, element=element, split_bytes=100)


def test_a_listing_leaves_out_what_is_hidden_or_dead(tmp_path: Path) -> None:
    for name in ("b.nt", "a.nt", ".a.nt", "_a.nt", "dead/1.jsonl", "below/c.nq.gz", "notes.txt"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("")
    dead = str(tmp_path / "dead")

    def listed(path: str) -> list[str]:
        return [Path(f.path).name for f in list_files((path,), any_ending=False, outside=dead, awaited=True)]

    assert listed(str(tmp_path)) == ["a.nt", "b.nt", "c.nq.gz"]
    assert listed(str(tmp_path / "*a.nt")) == ["a.nt"]
    assert listed(str(tmp_path / "_a.nt")) == ["_a.nt"]
    assert listed(str(tmp_path / "none*.nt")) == []


def test_lines_before_a_piece_are_counted_as_the_scanner_does(tmp_path: Path) -> None:
    path = tmp_path / "a.nt"
    path.write_bytes(b"a\r\nb\rc\n\nd\n")
    with open_piece(str(path), 6, 10) as piece:
        assert (piece.start, piece.lines_before()) == (7, 3)
