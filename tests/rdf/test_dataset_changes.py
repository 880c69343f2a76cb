"""Dataset changes: RDF Patch and SPARQL Update data."""

from __future__ import annotations

import gzip
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from millstream.errors import DataError, OptionError
from millstream.rdf import Rejected
from tests.readers import read_changes
from tests.suites import suite


def changes(text: str, **options: Any) -> tuple[list[str], list[Rejected]]:
    rejected: list[Rejected] = []
    found = read_changes(text.encode(), on_rejected=rejected.append, blank_prefix="b", **options)
    return [
        " ".join(["+" if c.insert else "-", *(str(t) for t in c.triples), *([f"in {c.graph}"] if c.graph else [])])
        for c in found
    ], rejected


# RDF Patch


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
