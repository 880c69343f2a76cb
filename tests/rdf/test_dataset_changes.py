"""Dataset changes: RDF Patch and SPARQL Update data."""

from __future__ import annotations

import gzip
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from millstream.errors import DataError, OptionError
from millstream.ingest import Want, chunks_of
from millstream.ingest.readers import dispatch
from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.limits import DEFAULT_LIMITS
from millstream.rdf import Rejected
from tests.readers import read_changes
from tests.suites import suite


def changes(text: str, **options: Any) -> tuple[list[str], list[Rejected]]:
    """The changes of a text, each statement parsed by itself; those that engines are given are the same."""
    rejected: list[Rejected] = []
    given = read_changes(text.encode(), on_rejected=rejected.append, blank_prefix="b", **options)
    found = [
        " ".join(["+" if c.insert else "-", *(str(t) for t in c.triples), *([f"in {c.graph}"] if c.graph else [])])
        for c in given
    ]
    assert taken_by_engines([text.encode()], **options) == (found, [str(r) for r in rejected], None)
    return found, rejected


def taken_by_engines(
    pieces: list[bytes], *, strict: bool = False, **options: Any
) -> tuple[list[str], list[str], str | None]:
    """The changes of a text that comes in pieces, as chunks have them; what is set aside, and what ends the reading."""
    dictionary, rejected, found, fault = Dictionary(), list[Rejected](), list[str](), None
    want = Want(changes=True, blank_prefix="b", on_rejected=None if strict else rejected.append, **options)
    try:
        for number, chunk in enumerate(chunks_of(Pieces(pieces), want)):
            columns = chunk.encode(dictionary, None)
            if columns.sign is not None and columns.graph is not None:
                changed = [["+" if sign > 0 else "-"] for sign in columns.sign]
                for ids, place in zip(columns.triples, columns.element, strict=True):
                    changed[place] += [dictionary.decode_one(i) for i in ids]
                for place, graph in dict(zip(columns.element.tolist(), columns.graph.tolist(), strict=True)).items():
                    changed[place] += [f"in {dictionary.decode_one(graph)}"] if graph >= 0 else []
                found += [" ".join(parts) for parts in changed]
            # Nothing is needed any longer: what another chunk needs is held.
            dictionary.forget_before(number)
            dictionary.settle()
            dictionary.sweep(1000)
            if columns.fault is not None:
                raise columns.fault
    except DataError as error:
        fault = str(error)
    return found, [str(r) for r in rejected], fault


class Pieces:
    """A file object that gives its bytes as they come."""

    name = "<bytes>"

    def __init__(self, pieces: list[bytes]) -> None:
        self._pieces = [piece for piece in pieces if piece]

    def read(self, size: int = -1) -> bytes:
        return self._pieces.pop(0) if self._pieces else b""


# RDF Patch


LINES = [
    "A <x:a> <x:p> <x:b> .",
    "D <x:a> <x:p> <x:b> .",
    "A <x:a> <x:p> <x:b> <x:g> .",
    "D _:n <x:p> _:n _:g .",
    '  A\t<x:a> <x:p> "c"@EN.',
    'A <x:a> <x:p> "1"^^<x:d> .',
    'A <x:a> <x:p> "\\u00e9" .',
    "A <x:a> <x:p> <_:n> .",
    "A e:a e:p 1 .",
    "A <x:a> <x:p> 'c' .",
    "A <a> <x:p> <x:b> .",
    "PA e: <x:> .",
    "PD e: .",
    "TX .",
    "TX .",
    "TC .",
    "TC .",
    "TA .",
    "H id <x:y> .",
    "",
    "   ",
    "# A <x:a> <x:p> <x:b> .",
    "A <x:a> <x:p> <x:b> . # no",
    "A <x:a> <x:p> .",
    "A<x:a> <x:p> <x:b> .",
    "X",
    "A <x:a> <x:p> <x:b> .\rA <x:a> <x:p> <x:b> .",
    "A <x:a> <x:p> <x:b> .\r",
    "A <x:a> <x:p> <x:b",
    "A <x:a> <x:p> <http://b/../c> .",
    "\x0cA <x:a> <x:p> <x:b> .",
    "\r",
    'A <x:a> <x:p> "\udcff" .',
    "A <x:a> <x:p> <<( <x:a> <x:p> <x:b> )>> .",
]


@settings(deadline=None, max_examples=300)
@given(
    st.lists(st.sampled_from(LINES), max_size=14),
    st.lists(st.integers(0, 400), max_size=4),
    st.sampled_from([None, None, "http://base/x"]),
    st.booleans(),
)
def test_a_patch_is_read_as_line_by_line_however_it_is_cut(
    lines: list[str], cuts: list[int], base: str | None, strict: bool
) -> None:
    data = "\n".join(lines).encode("utf-8", "surrogateescape")
    places = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    expected: list[str] = []
    rejected: list[Rejected] = []
    fault = None
    try:
        for c in read_changes(
            data, format="rdfpatch", base=base, strict=strict, on_rejected=rejected.append, blank_prefix="b"
        ):
            named = [f"in {c.graph}"] if c.graph else []
            expected.append(" ".join(["+" if c.insert else "-", *map(str, c.triples), *named]))
    except DataError as error:
        fault = str(error)
    pieces = [data[low:high] for low, high in pairwise(places)]
    found = taken_by_engines(pieces, format="rdfpatch", base=base, strict=strict)
    assert found == (expected, [str(r) for r in rejected], fault)


def test_a_line_of_rdf_patch_is_a_change() -> None:
    text = 'H id <uuid:1> .\nA <x:a> <x:b> "c d"@en .\nD <x:a> <x:b> <x:c> <x:g> .\n# comment\n'
    assert changes(text) == (['+ <x:a> <x:b> "c d"@en', "- <x:a> <x:b> <x:c> in <x:g>"], [])


def test_prefixes_of_rdf_patch() -> None:
    text = 'PA e: <x:> .\nPA "f" "x:f" .\nA e:a f:b 1 .\nPD e: .\nA e:a f:b 1 .\n'
    found, (rejected,) = changes(text)
    assert found == ['+ <x:a> <x:fb> "1"^^<http://www.w3.org/2001/XMLSchema#integer>']
    assert (rejected.line, rejected.reason) == (5, "The prefix e: has not been declared")


def test_a_transaction_comes_when_it_commits_and_not_when_it_aborts() -> None:
    text = "TX .\nA <x:a> <x:b> <x:c> .\nTC .\nTX .\nA <x:a> <x:b> <x:d> .\nTA .\n"
    assert changes(text) == (["+ <x:a> <x:b> <x:c>"], [])


def test_a_transaction_that_never_commits_is_told() -> None:
    found, (rejected,) = changes("TX .\nA <x:a> <x:b> <x:c> .\n")
    assert found == []
    assert (rejected.line, rejected.reason) == (1, "the transaction is not committed: its 1 changes are left out")


@pytest.mark.parametrize(
    "bad",
    [
        "A <x:a> <x:b> .",
        "A <x:a> <x:b> <x:c>",
        "A <x:a> <x:b> <x:c> <x:g> <x:h> .",
        "B <x:a> <x:b> <x:c> .",
        'A "a" <x:b> <x:c> .',
        "junk",
        "PA .",
        "TC .",
    ],
)
def test_a_bad_line_of_rdf_patch_costs_only_itself(bad: str) -> None:
    found, (rejected,) = changes(f"A <x:a> <x:b> <x:c> .\n{bad}\nD <x:a> <x:b> <x:c> .\n")
    assert found == ["+ <x:a> <x:b> <x:c>", "- <x:a> <x:b> <x:c>"]
    assert (rejected.line, rejected.text) == (2, bad)


def test_both_spellings_of_a_blank_node_mean_one_node() -> None:
    (found,), _ = changes("A _:a <x:b> <_:a> .\n")
    _, subject, _, node = found.split()
    assert subject == node


# SPARQL Update


def test_each_statement_of_update_data_is_a_change() -> None:
    text = "PREFIX e: <x:> INSERT DATA { e:a e:b e:c , e:d . e:e e:f e:g } ; DELETE DATA { e:a e:b e:c }"
    assert changes(text) == (
        ["+ <x:a> <x:b> <x:c> <x:a> <x:b> <x:d>", "+ <x:e> <x:f> <x:g>", "- <x:a> <x:b> <x:c>"],
        [],
    )


def test_graphs_of_update_data() -> None:
    text = "PREFIX e: <x:> INSERT DATA { e:a e:b e:c GRAPH e:g { e:a e:b e:d . e:a e:b e:e } . e:a e:b e:f"
    text += " GRAPH <x:h> { } }"
    assert changes(text) == (
        ["+ <x:a> <x:b> <x:c>", "+ <x:a> <x:b> <x:d> in <x:g>", "+ <x:a> <x:b> <x:e> in <x:g>", "+ <x:a> <x:b> <x:f>"],
        [],
    )


def test_a_bad_statement_of_update_data_costs_only_itself() -> None:
    text = 'PREFIX e: <x:>\nINSERT DATA { e:a e:b e:c . e:a no:b e:c . e:a e:b "open . } ;\nDELETE DATA { e:a e:b e:d }'
    found, rejected = changes(text)
    assert found == ["+ <x:a> <x:b> <x:c>", "- <x:a> <x:b> <x:d>"]
    assert [(r.line, r.column, r.text) for r in rejected] == [(2, 33, "e:a no:b e:c ."), (2, 52, 'e:a e:b "open .')]


def test_a_missing_brace_costs_no_other_operation() -> None:
    found, (rejected,) = changes("INSERT DATA { <x:a> <x:b> <x:c> . ;\nDELETE DATA { <x:a> <x:b> <x:d> }")
    assert found[-1] == "- <x:a> <x:b> <x:d>"
    assert rejected.line == 1


def test_other_operations_are_set_aside_as_a_whole() -> None:
    text = "DELETE { ?s ?p ?o } WHERE { ?s ?p ?o } ; CLEAR ALL ; INSERT DATA { <x:a> <x:b> <x:c> }"
    found, rejected = changes(text, format="sparql")
    assert found == ["+ <x:a> <x:b> <x:c>"]
    assert len(rejected) == 3


def test_titles_between_operations_are_passed_over_unless_strict() -> None:
    text = "INSERT DATA { <x:a> <x:b> <x:c> };\n\n======\nchanges of today, no. 5\n\nINSERT DATA { <x:a> <x:b> <x:d> };"
    assert changes(text) == (["+ <x:a> <x:b> <x:c>", "+ <x:a> <x:b> <x:d>"], [])
    with pytest.raises(DataError):
        list(read_changes(text.encode()))


def test_delete_data_cannot_name_blank_nodes() -> None:
    found, (rejected,) = changes("DELETE DATA { _:a <x:b> <x:c> . <x:a> <x:b> <x:c> }")
    assert found == ["- <x:a> <x:b> <x:c>"]
    assert "blank" in rejected.reason


def test_labels_are_nodes_of_their_operation() -> None:
    found, _ = changes("INSERT DATA { _:a <x:b> 1 . _:a <x:b> 2 } ; INSERT DATA { _:a <x:b> 1 }")
    nodes = [change.split()[1] for change in found]
    assert nodes[0] == nodes[1] != nodes[2]


def test_changes_have_times_only_if_they_are_told() -> None:
    text = b"A <x:a> <x:b> <x:c> .\nA <x:a> <x:b> <x:d> .\n"
    assert [c.at_ms for c in read_changes(text)] == [None, None]
    assert [c.at_ms for c in read_changes(text, time="rate:2")] == [0, 500]
    assert [c.at_ms for c in read_changes(text, time="arrival", clock_ms=lambda: 9)] == [9, 9]
    with pytest.raises(OptionError):
        read_changes(text, time="prov")


def test_a_text_that_is_neither_format_is_refused() -> None:
    with pytest.raises(OptionError, match="rdfpatch or sparql"):
        list(read_changes(b"hello"))


@pytest.mark.parametrize("format", ["rdfpatch", "sparql"])
@given(text=st.text(st.sampled_from('AD <>:x{}."\n#;@_GRAPHINSERTDELETEDATA'), max_size=80))
def test_any_text_gives_changes_or_is_set_aside(format: str, text: str) -> None:
    changes(text, format=format)


def test_of_the_wikidata_log_exactly_the_statements_that_do_not_parse_are_set_aside() -> None:
    rejected: list[Rejected] = []
    path = suite("wikidata-updates") / "sample_result.txt.gz"
    found = list(read_changes(path, on_rejected=rejected.append))
    assert len(rejected) == 276
    assert len(found) == 24_245 - 276
    assert all(r.line and r.column and "not been declared" in r.reason for r in rejected)
    lines = gzip.decompress(path.read_bytes()).decode().split("\n")
    bad_inserts = sum(lines[(r.line or 0) - 1].startswith("INSERT") for r in rejected)
    assert sum(c.insert for c in found) + bad_inserts == 9_471


_PIECES = [
    *("<http://e/a>", "<http://e>", "<http://e:80/a/b?c=d#e/f>", "<http://e/a/../b>", "<http://e/.a>", "<http://e/a%zz>"),
    *(
        "<http://e/a#b#c>",
        "<a>",
        "<http://e/é>",
        "<HTTP://e/a>",
        "<http://e:x/>",
        "<urn:a>",
        "<http://e/a b>",
        "<http://e/?a[]>",
    ),
    *(
        '"a"',
        '"a # . } b"',
        '"a\\"b"',
        "'a'",
        '"a"@en',
        '"a"@en-GB',
        '"a"@e',
        '"a"@EN',
        '"é"',
        '"""a"""',
        "5",
        "true",
        "e:a",
    ),
    *('"1"^^<http://www.w3.org/2001/XMLSchema#integer>', '"01"^^<http://www.w3.org/2001/XMLSchema#integer>'),
    *('"a"^^<http://www.w3.org/2001/XMLSchema#string>', '"a"^^<http://www.w3.org/1999/02/22-rdf-syntax-ns#langString>'),
    *("_:b", "a", ";", ",", ".", "}", "{", "GRAPH <http://e/g> {", "# no\n", "\n"),
]
_TERM = st.sampled_from(_PIECES)
_USUAL = st.sampled_from(_PIECES[:3])
_WRITTEN = st.one_of(
    st.tuples(_USUAL, _USUAL, st.one_of(_USUAL, _TERM)).map(" ".join),
    st.lists(st.one_of(_USUAL, _TERM), max_size=5).map(" ".join),
)
_OPERATIONS = st.tuples(
    st.sampled_from(
        [
            "INSERT DATA {",
            "DELETE DATA {",
            "INSERT DATA { GRAPH <http://e/g> {",
            "insert data{",
            "Delete\nDATA\t{",
            "# title\nINSERT DATA {",
            "INSERT DATA { GRAPH _:g {",
            "INSERTDATA {",
            "DELETE # no\nDATA {",
            "LOAD {",
            "BASE <http://e/x/>\nINSERT DATA {",
        ]
    ),
    st.lists(st.tuples(_WRITTEN, st.sampled_from([" .\n", " .\n", ".", " ", ";"])).map("".join), max_size=8).map("".join),
    st.sampled_from(["}", "} }", "} ;\n", "", "};", "}} ;", "} # that was all\n"]),
)


def same_as_parsed(text: str, most: int | None = None) -> None:
    """Whether the changes of an update are those that there are when no statement is taken as it is written."""
    limits = DEFAULT_LIMITS if most is None else replace(DEFAULT_LIMITS, literal_bytes=most)
    for strict in (False, True):
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(dispatch, "take_plain", None)
            expected = taken_by_engines([text.encode()], strict=strict, format="sparql", limits=limits)
        assert taken_by_engines([text.encode()], strict=strict, format="sparql", limits=limits) == expected


@pytest.mark.parametrize("place", range(3))
def test_a_statement_with_any_term_of_an_update_is_what_the_parser_reads(place: int) -> None:
    for piece in _PIECES:
        terms = ["<http://e/a>", "<http://e/p>", "<http://e/b>"]
        terms[place] = piece
        for most in (None, 4):
            same_as_parsed(f"INSERT DATA {{ {' '.join(terms)} .\n <http://e/a> <http://e/p> <http://e/c> . }}", most)


@settings(deadline=None, max_examples=200)
@given(st.lists(_OPERATIONS.map("".join), max_size=4).map("\n".join), st.sampled_from([None, 30]))
def test_plain_statements_of_an_update_are_what_the_parser_reads(text: str, most: int | None) -> None:
    same_as_parsed(text, most)
