"""Statements from bytes.

- agreement: line by line pyoxigraph's parser is the judge of what is a statement, which terms it has, and what is none;
- cuts: the bytes may come in any pieces, the result is the same;
- garbage: whatever the bytes are, good lines around them are read;
- rows: scopes, graphs, indices, line numbers, caches across epochs.
"""

from __future__ import annotations

import mmap
import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyoxigraph as ox
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.kernels.scanning.scanner import Scanned, Scanner

relaxed = settings(deadline=None)  # other work on the machine must not fail a test

Row = tuple[str, str, str, str | None, int, int]

GOOD = b'<http://a> <http://b> "x" .\n'


def naive(data: bytes, graphs: bool) -> tuple[list[Row], list[int]]:
    """Rows and lines with errors, by pyoxigraph on each line for itself."""
    rows: list[Row] = []
    errors: list[int] = []
    form = ox.RdfFormat.N_QUADS if graphs else ox.RdfFormat.N_TRIPLES
    for number, line in enumerate(re.split(rb"\r\n|\n|\r", data), 1):
        try:
            quads = list(ox.parse(line, format=form))
        except SyntaxError:
            errors.append(number)
            continue
        for quad in quads:
            if isinstance(quad.object, ox.Triple) or (isinstance(quad.object, ox.Literal) and quad.object.direction):
                errors.append(number)
                continue
            graph = None if isinstance(quad.graph_name, ox.DefaultGraph) else str(quad.graph_name)
            rows.append((str(quad.subject), str(quad.predicate), str(quad.object), graph, len(rows), number))
    return rows, errors


def rows_of(dictionary: Dictionary, scanned: Scanned) -> list[Row]:
    columns = [dictionary.decode(ids).to_pylist() for ids in (scanned.s, scanned.p, scanned.o)]
    graphs = [None] * len(scanned.s) if scanned.g is None else dictionary.decode(scanned.g).to_pylist()
    return list(zip(*columns, graphs, scanned.index.tolist(), scanned.line.tolist(), strict=True))


def read(data: bytes, cuts: list[int], graphs: bool = False) -> tuple[list[Row], list[tuple[int, int, str, str]]]:
    dictionary = Dictionary()
    scanner = Scanner(dictionary, graphs=graphs)
    rows: list[Row] = []
    errors: list[tuple[int, int, str, str]] = []
    places = [0, *sorted(cut % (len(data) + 1) for cut in cuts), len(data)]
    for start, end in pairwise(places):
        scanned = scanner.feed(memoryview(data)[start:end], final=False)
        rows += rows_of(dictionary, scanned)
        errors += scanned.errors
    last = scanner.feed(b"", final=True)
    assert scanner.statements == scanner.kept == len(rows) + len(last.s)
    return rows + rows_of(dictionary, last), errors + last.errors


iri_parts = st.sampled_from(
    ["a", "b/", "//", "@", ":", "[", "]", "[::1]", "%41", "%4", "?", "#", "é", "\ue000",
     r"\u00e9", r"\u0020", r"\U0001F600",
     "~", "\x7f", "{", "\ufffe", " ", "\\", "long-enough-to-fill-a-vector-of-bytes"]
)  # fmt: skip
iris = st.builds(
    "<{}{}>".format,
    st.sampled_from(["http://", "http://a", "https://a.b/", "a:", "urn:x:", "", "http"]),
    st.lists(iri_parts, max_size=4).map("".join),
)
plain = st.sampled_from(["<http://a>", "<http://b/c#d>", "<http://www.Department0.University0.edu/GraduateStudent15>"])
labels = st.builds("_:{}".format, st.text("abZ09_-.:·é\u0301\u203f×", max_size=5))
text_parts = st.sampled_from(
    ["x", " ", "\t", "\x00", "\x7f", '"', r"\"", r"\\", "\\", r"\n", r"\'", r"\x", r"\u0041",
     r"\uD800", r"\u12", r"\U00110000", "é", "€", "😀", "\ufffe", "long enough to fill a vector of bytes"]
)  # fmt: skip
strings = st.lists(text_parts, max_size=4).map(lambda parts: '"' + "".join(parts) + '"')
suffixes = st.one_of(
    st.just(""),
    st.sampled_from(["@en", "@EN-gb", "@x", "@en-", "@en--ltr", " @de", "@ de", "^^<http://a>",
                     "^^<a>", " ^^ <http://a>", "^<http://a>",
                     "^^<http://www.w3.org/2001/XMLSchema#string>", "^^<http://www.w3.org/2001/XMLSchema#integer>"]),
)  # fmt: skip
literals = st.one_of(
    st.builds(str.__add__, strings, suffixes),
    st.sampled_from(['"5"', '"1.50"', '"true"']).map(lambda text: text + "^^<http://www.w3.org/2001/XMLSchema#integer>"),
)
tokens = st.one_of(
    plain, plain, plain, iris, labels, literals, st.sampled_from(["", ".", "#", "<<( <a:> <a:> <a:> )>>", "true", "5"])
)
blanks = st.sampled_from([" ", " ", " ", "", "\t", "  "])
statements = st.builds(
    lambda s, p, o, g, gaps, end: s + gaps[0] + p + gaps[1] + o + gaps[2] + g + gaps[3] + end,
    st.one_of(plain, plain, tokens),
    st.one_of(plain, plain, plain, tokens),
    tokens,
    st.one_of(st.just(""), st.just(""), tokens),
    st.tuples(blanks, blanks, blanks, blanks),
    st.sampled_from([".", ".", ".", ". # c", ".#c", "", "..", ". .", ". <http://a>"]),
)
lines = st.one_of(statements, statements, st.sampled_from(["", " ", "# comment", "#", "\ufeff", "@prefix a: <http://a> ."]))
texts = st.lists(
    st.builds(
        lambda line, end: line.encode() + end,
        lines,
        st.sampled_from([b"\n", b"\n", b"\r\n", b"\r", b"\n\n", b"\xff\n"]),
    ),
    max_size=8,
).map(b"".join)
cuts = st.lists(st.integers(0, 2000), max_size=6)


@relaxed
@given(texts, cuts, st.booleans())
def test_statements_and_errors_are_those_of_pyoxigraph_however_the_bytes_are_cut(
    data: bytes, cuts: list[int], graphs: bool
) -> None:
    rows, errors = read(data, cuts, graphs)
    expected_rows, expected_errors = naive(data, graphs)
    assert rows == expected_rows
    assert [line for line, *_ in errors] == expected_errors


fragments = st.sampled_from(
    [b"<", b">", b'"', b"\\", b"_:", b"http://a", b"\xc3", b"\xa9", b"\xf0\x9f",
     b"\r", b"\n", b".", b" ", b"#", b"@", b"^^", b"u0041"]
)  # fmt: skip


@relaxed
def long_text(seed: int, few: int, graphs: bool) -> bytes:
    """Lines with terms of all kinds, many more than are given their ids together; some repeat what came before them."""
    rng = np.random.default_rng(seed)
    kinds = [
        lambda n: f"<http://e/{n}>",
        lambda n: f"<http://e/\\u0041{n}>",
        lambda n: f"_:b{n}",
        lambda n: f'"{n}"',
        lambda n: f'"\\u0041{n}"@EN',
        lambda n: f'"{n}"^^<http://www.w3.org/2001/XMLSchema#integer>',
        lambda n: f'"0{n}"^^<http://www.w3.org/2001/XMLSchema#integer>',
        lambda n: "nothing",
    ]
    s = o = "<http://e/0>"
    lines = []
    for _ in range(rng.integers(1, 200)):
        n = [int(rng.integers(few)) for _ in range(4)]
        s = kinds[rng.integers(3)](n[0]) if rng.random() < 0.6 else s
        o = kinds[rng.integers(7) if rng.random() < 0.98 else 7](n[1]) if rng.random() < 0.6 else o
        g = kinds[rng.integers(3)](n[3]) if graphs and rng.random() < 0.5 else ""
        lines.append(f"{s} <http://p/{n[2] % 5}> {o} {g} .\n")
    return "".join(lines).encode()


@relaxed
@given(st.integers(0, 2**32), st.sampled_from([2, 20, 1_000]), st.booleans(), st.lists(st.integers(0, 2**16), max_size=3))
def test_long_texts_are_those_of_pyoxigraph(seed: int, few: int, graphs: bool, cuts: list[int]) -> None:
    data = long_text(seed, few, graphs)
    expected, wrong = naive(data, graphs)
    rows, errors = read(data, cuts, graphs)
    assert rows == expected
    assert [line for line, *_ in errors] == wrong


@given(st.one_of(st.binary(max_size=200), st.lists(fragments, max_size=40).map(b"".join)), cuts)
def test_garbage_never_hides_the_good_lines_around_it(garbage: bytes, cuts: list[int]) -> None:
    data = GOOD + garbage + b"\n" + GOOD
    rows, errors = read(data, cuts)
    expected_rows, expected_errors = naive(data, False)
    assert rows == expected_rows
    assert [line for line, *_ in errors] == expected_errors
    assert len(rows) >= 2


@relaxed
@given(st.binary(min_size=1, max_size=3), st.integers(0, 200))
def test_a_good_line_with_a_few_bytes_replaced_is_judged_as_pyoxigraph_does(change: bytes, place: int) -> None:
    line = b'<http://www.example.org/a> <http://b/c> "caf\xc3\xa9 \\n"@en <http://www.example.org/g> . # end\n'
    place %= len(line)
    data = line[:place] + change + line[place + len(change) :] + GOOD
    rows, errors = read(data, [place], graphs=True)
    expected_rows, expected_errors = naive(data, True)
    assert rows == expected_rows
    assert [line for line, *_ in errors] == expected_errors


def test_an_error_names_line_column_reason_and_text() -> None:
    _, errors = read(GOOD + b"# c\r\n" + "<http://é> <http://b c> <http://d> .\n".encode() + GOOD, [])
    assert errors == [(3, 12, "Invalid IRI code point ' '", "<http://é> <http://b c> <http://d> .")]


@pytest.mark.parametrize(
    ("line", "reason", "column"),
    [
        ('<http://a> <http://b> "x"@en--ltr .', "base directions of RDF 1.2 are not supported", 29),
        ("<http://a> <http://b> <<( <a:> <a:> <a:> )>> .", "triple terms of RDF 1.2 are not supported", 23),
    ],
)
def test_what_only_pyoxigraph_takes_is_refused_in_our_words(line: str, reason: str, column: int) -> None:
    _, errors = read(line.encode(), [])
    assert errors == [(1, column, reason, line)]


def test_a_fourth_term_is_an_error_in_n_triples_and_a_graph_in_n_quads() -> None:
    line = b"<http://a> <http://b> <http://c> <http://g> .\n<http://a> <http://b> <http://c> .\n"
    rows, errors = read(line, [])
    assert [row[5] for row in rows] == [2]
    assert [error[:2] for error in errors] == [(1, 34)]
    rows, errors = read(line, [], graphs=True)
    assert [row[3] for row in rows] == ["<http://g>", None]
    assert errors == []


def test_without_graphs_there_is_no_graph_column() -> None:
    assert Scanner(Dictionary()).feed(GOOD).g is None
    assert Scanner(Dictionary(), graphs=True).feed(GOOD).g.tolist() == [-1]


def test_the_last_line_needs_no_end() -> None:
    dictionary = Dictionary()
    scanner = Scanner(dictionary)
    assert len(scanner.feed(GOOD[:-1]).s) == 0
    assert len(scanner.feed(b"", final=True).s) == 1


def test_a_carriage_return_and_line_feed_in_two_pieces_end_one_line() -> None:
    scanner = Scanner(Dictionary())
    first = scanner.feed(GOOD[:-1] + b"\r")
    second = scanner.feed(b"\n" + GOOD)
    assert first.line.tolist() + second.line.tolist() == [1, 2]


def test_a_scope_keeps_labels_of_different_texts_apart() -> None:
    dictionary = Dictionary()
    data = b"_:b <http://p> _:b _:b .\n<http://a> <http://p> _:c .\n"
    one = Scanner(dictionary, graphs=True, scope="f1_").feed(data)
    two = Scanner(dictionary, graphs=True, scope="f2_").feed(data)
    assert rows_of(dictionary, one)[0][:4] == ("_:f1_b", "<http://p>", "_:f1_b", "_:f1_b")
    assert set(one.s[:1]) & set(two.s[:1]) == set()
    assert one.s[0] == one.o[0] == one.g[0]
    assert one.s[1] == two.s[1]


@pytest.mark.parametrize("scope", ["-a", "a b", "a:b", "é", "a.b"])
def test_a_scope_that_could_break_a_label_is_refused(scope: str) -> None:
    with pytest.raises(ValueError, match="a scope is made of"):
        Scanner(Dictionary(), scope=scope)


def test_ids_are_not_reused_from_a_cache_after_they_were_forgotten() -> None:
    dictionary = Dictionary()
    scanner = Scanner(dictionary)
    before = scanner.feed(GOOD)
    dictionary.forget_before(100)
    dictionary.settle()
    dictionary.sweep(100)
    dictionary.encode(["<http://x>", "<http://y>", "<http://z>"])
    after = scanner.feed(GOOD)
    assert rows_of(dictionary, after)[0][:3] == ("<http://a>", "<http://b>", '"x"')
    assert before.p[0] != after.p[0]


def test_many_different_and_long_predicates_are_told_apart() -> None:
    names = (
        [f"<http://p/{n}/same-end>" for n in range(1000)] + [f"<http://{'p' * 300}{n}>" for n in range(3)] + ["<a:>", "<b:>"]
    )
    data = "".join(f"<http://s> {name} <http://o> .\n" for name in names * 2).encode()
    rows, errors = read(data, [])
    assert [row[1] for row in rows] == names * 2
    assert errors == []


def test_a_long_line_in_many_pieces_and_a_term_larger_than_a_block_are_read() -> None:
    text = '"' + "y" * 300_000 + '"'
    data = f"<http://a> <http://b> {text} .\n".encode()
    dictionary = Dictionary()
    scanner = Scanner(dictionary)
    found = [scanner.feed(data[i : i + 1000]) for i in range(0, len(data), 1000)]
    assert rows_of(dictionary, found[-1])[0][2] == text


def test_memory_maps_and_arrays_are_read_in_place(tmp_path: Path) -> None:
    path = tmp_path / "data.nt"
    path.write_bytes(GOOD * 3)
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        assert len(Scanner(Dictionary()).feed(mapped).s) == 3
    assert len(Scanner(Dictionary()).feed(np.frombuffer(GOOD, np.uint8)).s) == 1


def test_columns_belong_to_the_caller() -> None:
    scanner = Scanner(Dictionary())
    first = scanner.feed(GOOD * 1000)
    copy = first.index.copy()
    scanner.feed(GOOD * 5000)
    assert first.index.flags.owndata
    assert (first.index == copy).all()


def test_only_bytes_are_read() -> None:
    with pytest.raises(TypeError):
        Scanner(Dictionary()).feed("text")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        Scanner(Dictionary()).feed(None)  # type: ignore[arg-type]
