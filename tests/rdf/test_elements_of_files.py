"""What an element is and when it happened, for each format and option."""

from __future__ import annotations

import gzip
import io
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import BlankNode

from millstream.errors import DataError, OptionError
from millstream.rdf import Rejected, StreamElement
from tests.readers import read_elements, read_quads

PROV = "<http://www.w3.org/ns/prov#generatedAtTime>"
TIME = "http://e/at"


def at(second: int) -> str:
    return f'"1970-01-01T00:00:{second:02}Z"^^<http://www.w3.org/2001/XMLSchema#dateTime>'


def quad(n: int, graph: str = "") -> str:
    return f"<http://e/s{n}> <http://e/p> <http://e/o> {graph} .\n"


def shown(elements: Iterator[StreamElement]) -> list[tuple[int, list[str]]]:
    return [(e.at_ms, [str(t.subject).removeprefix("<http://e/").removesuffix(">") for t in e.triples]) for e in elements]


def read(text: str, format: str, **options: object) -> tuple[list[tuple[int, list[str]]], list[Rejected]]:
    rejected: list[Rejected] = []
    return shown(read_elements(text.encode(), format=format, on_rejected=rejected.append, **options)), rejected  # type: ignore[arg-type]


# Named graphs


def test_a_named_graph_is_an_element_at_the_time_stated_before_it() -> None:
    text = f"<http://e/g> {PROV} {at(1)} .\n" + quad(1, "<http://e/g>") + quad(2, "<http://e/g>")
    assert read(text, "nquads") == ([(1000, ["s1", "s2"])], [])


def test_the_time_may_come_after_the_graph() -> None:
    text = (
        quad(1, "<http://e/g>")
        + f"<http://e/g> {PROV} {at(1)} .\n"
        + quad(2, "<http://e/h>")
        + f"<http://e/h> {PROV} {at(2)} .\n"
    )
    assert read(text, "nquads") == ([(1000, ["s1"]), (2000, ["s2"])], [])


def test_times_at_the_end_of_the_log_keep_the_order_of_the_graphs() -> None:
    text = (
        quad(1, "<http://e/g>") + quad(2, "<http://e/h>") + f"<http://e/h> {PROV} {at(2)} .\n<http://e/g> {PROV} {at(5)} .\n"
    )
    assert read(text, "nquads") == ([(5000, ["s1"]), (2000, ["s2"])], [])


def test_a_time_inside_the_graph_is_part_of_the_element() -> None:
    text = quad(1, "<http://e/g>") + f"<http://e/g> {PROV} {at(1)} <http://e/g> .\n"
    assert read(text, "nquads") == ([(1000, ["s1", "g"])], [])


def test_a_graph_name_can_serve_again_with_a_new_time_before_it() -> None:
    text = "".join(f"<http://e/g> {PROV} {at(n)} .\n" + quad(n, "<http://e/g>") for n in (1, 2))
    assert read(text, "nquads") == ([(1000, ["s1"]), (2000, ["s2"])], [])


def test_a_graph_name_can_serve_again_with_a_new_time_after_it() -> None:
    text = "".join(quad(n, "<http://e/g>") + f"<http://e/g> {PROV} {at(n)} .\n" for n in (1, 2))
    assert read(text, "nquads") == ([(1000, ["s1"]), (2000, ["s2"])], [])


def test_a_time_said_twice_is_said_once() -> None:
    stated = f"<http://e/g> {PROV} {at(1)} .\n"
    assert read(stated + stated + quad(1, "<http://e/g>") + stated + stated, "nquads") == ([(1000, ["s1"])], [])


def test_a_graph_without_a_time_is_set_aside_with_its_line() -> None:
    elements, (rejected,) = read("\n" + quad(1, "<http://e/g>"), "nquads")
    assert elements == []
    assert (rejected.line, rejected.reason) == (
        2,
        "graph <http://e/g> has no time: nothing says its prov:generatedAtTime",
    )


def test_a_time_that_is_none_is_set_aside() -> None:
    elements, rejected = read(f'<http://e/g> {PROV} "soon" .\n' + quad(1, "<http://e/g>"), "nquads")
    assert elements == []
    assert ["soon" in r.reason for r in rejected] == [True, False]


def test_other_statements_of_the_default_graph_are_set_aside() -> None:
    text = f"<http://e/g> {PROV} {at(1)} .\n" + quad(9) + quad(1, "<http://e/g>")
    elements, (rejected,) = read(text, "nquads")
    assert elements == [(1000, ["s1"])]
    assert (rejected.line, rejected.text) == (2, "<http://e/s9> <http://e/p> <http://e/o> .")


def test_the_time_of_a_graph_that_never_comes_is_set_aside() -> None:
    elements, (rejected,) = read(f"<http://e/g> {PROV} {at(1)} .\n", "nquads")
    assert elements == []
    assert "no statements" in rejected.reason


def test_a_graph_waits_for_its_time_only_so_long() -> None:
    text = quad(0, "<http://e/lost>") + "".join(
        f"<http://e/g{n}> {PROV} {at(n)} .\n" + quad(n, f"<http://e/g{n}>") for n in range(1, 9)
    )
    rejected: list[Rejected] = []
    elements = read_elements(text.encode(), format="nquads", on_rejected=rejected.append, max_waiting=3)
    assert shown(elements) == [(n * 1000, [f"s{n}"]) for n in range(1, 9)]
    assert [r.line for r in rejected] == [1]


def test_trig_graphs_are_elements() -> None:
    text = f"@prefix : <http://e/> . :g {PROV} {at(1)} . :g {{ :s1 :p :o . :s2 :p :o }}"
    text += f" :h {{ :s3 :p :o }} :h {PROV} {at(2)} ."
    assert read(text, "trig") == ([(1000, ["s1", "s2"]), (2000, ["s3"])], [])


def test_graphs_at_a_rate_need_no_times() -> None:
    text = quad(1, "<http://e/g>") + quad(2, "<http://e/h>")
    assert read(text, "nquads", time="rate:1") == ([(0, ["s1"]), (1000, ["s2"])], [])


@given(
    st.lists(st.tuples(st.integers(0, 59), st.integers(1, 3), st.sampled_from(["before", "after", "inside"])), max_size=8)
)
def test_wherever_a_graphs_time_stands_the_elements_are_the_same(graphs: list[tuple[int, int, str]]) -> None:
    text, expected = "", []
    for n, (second, size, where) in enumerate(graphs):
        graph = f"<http://e/g{n}>"
        stated = f"{graph} {PROV} {at(second)}"
        subjects = [f"s{n}x{k}" for k in range(size)]
        body = "".join(f"<http://e/{s}> <http://e/p> <http://e/o> {graph} .\n" for s in subjects)
        match where:
            case "before":
                text += f"{stated} .\n{body}"
            case "after":
                text += f"{body}{stated} .\n"
            case "inside":
                text += f"{body}{stated} {graph} .\n"
                subjects.append(f"g{n}")
        expected.append((second * 1000, subjects))
    assert read(text, "nquads") == (expected, [])


# Other elements and times


def test_statements_of_n_triples_at_a_rate() -> None:
    assert read(quad(1) + quad(2) + quad(3), "ntriples", time="rate:2.5") == (
        [(0, ["s1"]), (400, ["s2"]), (800, ["s3"])],
        [],
    )


@pytest.mark.parametrize(
    ("rate", "expected"),
    [("3", [0, 333, 666]), ("2000", [0, 0, 1]), ("0.5", [0, 2000, 4000]), ("1/3", [0, 3000, 6000])],
)
def test_element_k_is_at_floor_1000_k_over_n(rate: str, expected: list[int]) -> None:
    elements, _ = read(quad(1) + quad(2) + quad(3), "ntriples", time=f"rate:{rate}")
    assert [at_ms for at_ms, _ in elements] == expected


def test_with_a_time_in_the_data_an_element_is_a_subject() -> None:
    text = "".join(quad(n) + f"<http://e/s{n}> <{TIME}> {at(n)} .\n" for n in (1, 2))
    assert read(text, "ntriples", time=f"predicate:{TIME}") == ([(1000, ["s1", "s1"]), (2000, ["s2", "s2"])], [])


def test_an_element_without_the_predicate_is_set_aside() -> None:
    elements, (rejected,) = read(
        quad(1) + f"<http://e/s2> <{TIME}> 5 .\n".replace("5", '"5"^^<http://www.w3.org/2001/XMLSchema#long>'),
        "ntriples",
        time=f"predicate:<{TIME}>",
    )
    assert elements == [(5, ["s2"])]
    assert (rejected.line, rejected.reason) == (1, f"the element has no time: nothing in it has <{TIME}>")


def test_a_turtle_sentence_is_an_element_with_all_that_is_nested_in_it() -> None:
    text = "@prefix : <http://e/> . :s1 :p [ :q 1 ] ; :r 2 . :s2 :p 1 ."
    elements, rejected = read(text, "turtle", time="rate:1")
    assert [len(subjects) for _, subjects in elements] == [3, 1]
    assert rejected == []


def test_a_subject_in_turtle_holds_what_is_nested_in_its_sentences() -> None:
    text = "@prefix : <http://e/> . :s1 :p [ :q 1 ] . :s1 :p 2 . :s2 :p 1 ."
    elements, _ = read(text, "turtle", time="rate:1", element="subject")
    assert [len(subjects) for _, subjects in elements] == [3, 1]


def test_a_whole_file_can_be_an_element() -> None:
    assert read(quad(1) + quad(2), "ntriples", time="rate:1", element="file") == ([(0, ["s1", "s2"])], [])


def test_repeats_within_an_element_are_dropped() -> None:
    assert read(quad(1) + quad(1), "ntriples", time="rate:1", element="file") == ([(0, ["s1"])], [])


def test_arrival_asks_the_clock_that_is_passed_in() -> None:
    ticks = iter((7, 9))
    elements = read_elements((quad(1) + quad(2)).encode(), format="nt", time="arrival", clock_ms=lambda: next(ticks))
    assert shown(elements) == [(7, ["s1"]), (9, ["s2"])]


def test_rdf_xml_elements_are_subjects() -> None:
    text = (
        '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e/">'
        '<rdf:Description rdf:about="http://e/s1"><e:p>1</e:p><e:q>2</e:q></rdf:Description>'
        '<rdf:Description rdf:about="http://e/s2"><e:p>1</e:p></rdf:Description></rdf:RDF>'
    )
    assert read(text, "rdfxml", time="rate:1") == ([(0, ["s1", "s1"]), (1000, ["s2"])], [])


# JSON-LD


def test_a_json_ld_line_without_graphs_is_an_element() -> None:
    text = '{"@id":"http://e/s1","http://www.w3.org/ns/prov#generatedAtTime":"1970-01-01T00:00:01Z"}\n'
    assert read(text, "jsonlines") == ([(1000, ["s1"])], [])


def test_a_named_graph_in_a_json_ld_line_is_an_element() -> None:
    text = (
        '{"@id":"http://e/g","http://www.w3.org/ns/prov#generatedAtTime":"1970-01-01T00:00:01Z",'
        '"@graph":[{"@id":"http://e/s1","http://e/p":1}]}\n'
    )
    assert read(text, "jsonlines") == ([(1000, ["s1"])], [])


def test_a_context_line_is_the_context_of_the_lines_after_it() -> None:
    text = '{"@context":{"@vocab":"http://e/"}}\n{"@id":"http://e/s1","p":1}\n{}\n{"@id":"http://e/s2","p":2}\n'
    assert read(text, "jsonlines", time="rate:1") == ([(0, ["s1"]), (1000, []), (2000, ["s2"])], [])


def test_a_bad_json_ld_line_is_set_aside_alone() -> None:
    text = '{"@id":"http://e/s1","http://e/p":1}\n{"@id": oops}\n{"@id":"http://e/s2","http://e/p":1}\n'
    elements, (rejected,) = read(text, "jsonlines", time="rate:1")
    assert elements == [(0, ["s1"]), (1000, ["s2"])]
    assert (rejected.line, rejected.column, rejected.text) == (2, 9, '{"@id": oops}')


def test_a_remote_context_is_refused_with_the_reason() -> None:
    _, (rejected,) = read('{"@context":"https://schema.org/","name":"x"}\n', "jsonlines")
    assert "remote @context is not fetched" in rejected.reason


# Options


@pytest.mark.parametrize("format", ["ntriples", "turtle", "rdfxml"])
def test_a_format_without_times_needs_the_option(format: str) -> None:
    text = (
        quad(1)
        if format != "rdfxml"
        else '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:List/></rdf:RDF>'
    )
    with pytest.raises(OptionError, match="rate:N"):
        read(text, format)


@pytest.mark.parametrize(
    "time",
    [
        "",
        "rate",
        "rate:",
        "rate:0",
        "rate:-1",
        "rate:x",
        "rate:1e999999",
        "predicate:",
        "predicate:a b",
        "prov:x",
        "now",
        "rate:1/0",
    ],
)
def test_a_time_option_that_cannot_be_is_refused_at_the_call(time: str) -> None:
    with pytest.raises(OptionError):
        read_elements(b"", format="nquads", time=time)


def test_other_options_that_cannot_be_are_refused_at_the_call() -> None:
    with pytest.raises(OptionError, match="graph, line, subject, file"):
        read_elements(b"", format="nquads", element="row")
    with pytest.raises(OptionError, match="clock_ms"):
        read_elements(b"", format="nquads", time="arrival")
    with pytest.raises(OptionError, match="ntriples, nquads"):
        read_elements(b"", format="docx")
    with pytest.raises(OptionError, match="format"):
        read_elements(b"")
    with pytest.raises(OptionError, match="int"):
        read_elements(5)


def test_options_that_do_not_fit_the_format_are_refused() -> None:
    with pytest.raises(OptionError, match="has no graphs"):
        read(quad(1), "ntriples", time="rate:1", element="graph")
    with pytest.raises(OptionError, match="for tables"):
        read(quad(1), "ntriples", time="column")


# Sources


def test_a_file_is_read_by_its_ending_compressed_or_not(tmp_path: Path) -> None:
    (tmp_path / "a.nt").write_text(quad(1))
    (tmp_path / "b.nt.gz").write_bytes(gzip.compress(quad(2).encode()) + gzip.compress(quad(3).encode()))
    assert shown(read_elements(tmp_path / "a.nt", time="rate:1")) == [(0, ["s1"])]
    assert shown(read_elements(str(tmp_path / "b.nt.gz"), time="rate:1")) == [(0, ["s2"]), (1000, ["s3"])]


def test_a_folder_and_a_glob_are_their_files_by_name(tmp_path: Path) -> None:
    for n, name in enumerate(["b.nt", "a.ttl", "_SUCCESS", ".hidden.nt"]):
        (tmp_path / name).write_text(quad(n))
    expected = [(0, ["s1"]), (1000, ["s0"])]
    assert shown(read_elements(tmp_path, time="rate:1")) == expected
    assert shown(read_elements(f"{tmp_path}/[ab].*", time="rate:1")) == expected


def test_a_file_of_no_known_ending_in_a_folder_is_set_aside(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("hello")
    rejected: list[Rejected] = []
    assert list(read_elements(tmp_path, time="rate:1", on_rejected=rejected.append)) == []
    assert rejected[0].source.endswith("notes.txt")


@pytest.mark.parametrize(
    "source",
    ["no/such/file.nt", "no/such/*.nt", "<http://e/s> <http://e/p> <http://e/o> .\n", "x" * 10_000, "nul\0.nt"],
)
def test_a_path_to_nothing_is_a_data_error(source: str) -> None:
    with pytest.raises(DataError):
        list(read_elements(source, time="rate:1"))


def test_file_objects_of_bytes_and_of_text_are_read() -> None:
    assert shown(read_elements(io.BytesIO(quad(1).encode()), format="nt", time="rate:1")) == [(0, ["s1"])]
    assert shown(read_elements(io.StringIO(quad(1)), format="nt", time="rate:1")) == [(0, ["s1"])]


def test_lines_are_one_text_and_documents_are_many() -> None:
    lines = ["_:a <http://e/p> _:b .", "_:a <http://e/p> _:c .\n"]
    first, second = read_elements(lines, format="ntriples", time="rate:1")
    assert first.triples[0].subject == second.triples[0].subject
    documents = ["@prefix : <http://e/> . _:a :p 1, 2 .", "@prefix : <http://f/> . _:a :p 1 ."]
    first, second = read_elements(documents, format="turtle", time="rate:1")
    assert [len(first.triples), len(second.triples)] == [2, 1]
    assert first.triples[0].subject != second.triples[0].subject


def test_labels_are_nodes_of_their_file(tmp_path: Path) -> None:
    for name in ("a.nt", "b.nt"):
        (tmp_path / name).write_text("_:x <http://e/p> _:x .\n" * 2)
    nodes = [quad.subject for quad in read_quads(tmp_path)]
    assert nodes[0] == nodes[1] != nodes[2] == nodes[3]


def test_with_a_prefix_a_file_has_the_same_nodes_each_time() -> None:
    text = b"_:x <http://e/p> [ <http://e/q> ( 1 2 ) ] . [] <http://e/p> _:x ."
    first, second = (list(read_quads(text, format="ttl", blank_prefix="f1")) for _ in range(2))
    assert first == second
    assert any(isinstance(q.object, BlankNode) for q in first)


def test_a_byte_order_mark_is_no_part_of_the_text() -> None:
    assert len(list(read_quads(b"\xef\xbb\xbf" + quad(1).encode(), format="nt"))) == 1


def test_damage_to_the_compression_keeps_what_came_before() -> None:
    data = gzip.compress("".join(quad(n) for n in range(20_000)).encode())
    rejected: list[Rejected] = []
    kept = list(read_quads(data[: len(data) // 2], format="nt", on_rejected=rejected.append))
    assert len(kept) > 1000
    assert "cut short" in rejected[0].reason


def test_elements_come_before_the_file_has_been_read() -> None:
    served = []

    def lines() -> Iterator[str]:
        for n in range(10_000):
            served.append(n)
            yield quad(n)

    next(read_elements(lines(), format="nt", time="rate:1"))
    assert len(served) <= 3
