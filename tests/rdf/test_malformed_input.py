"""Malformed input: the bad statement is set aside with its place, and nothing else is lost."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import RdfFormat

from millstream.errors import DataError
from millstream.rdf import BlankScope, Rejected, Rejections
from millstream.rdf.readers.lines import read_lines
from millstream.rdf.readers.sentences import Kind, next_sentence
from millstream.rdf.readers.turtle import read_turtle
from millstream.rdf.statements import Statement
from tests.readers import read_elements, read_quads

PREFIX = "@prefix : <http://e/> .\n"

# Sentences that are good by themselves, with what could be mistaken for their end.
GOOD = [
    ":a :p :o .",
    ":a :p 1.5 .",
    ":a :p 1 .",
    ":a :p 1.e5 .",
    ":a :p 1.E-5 .",
    ":a :p :x..y .",
    ":a :p :x.\\.y .",
    ":a :p :x.y .",
    ":a :p <http://e/x.y#z> .",
    ':a :p "a . b" .',
    ':a :p """a .\n. " b""" .',
    ":a :p '''a .\n# b''' .",
    ":a :p 'x'@en.",
    ":a :p [ :q :r ; :s ( 1 . 5 ) ] .".replace("1 . 5", "1 5"),
    ":a :p :o . # a comment .",
    ":a :p :b\\. .",
    ":a :p _:x.y .",
    ":a\n  :p :o ;\n  :q :r .",
]
# Slips, each of which must cost only itself.
BAD = [
    ":a :p .",
    ":a :p :o :x .",
    "no:prefix :p :o .",
    ":a <bad iri . > :o .",
    ':a :p "left open .',
    ":a :p [ :q :r .",
    ":a :p ( 1 2 .",
    ":a :p ] .",
    '"x" :p :o .',
    ":a :p 5e .",
    ':a :p "\\q" .',
    "@prefix broken .",
    "PREFIX broken",
    ":a :p 'x'^^5 .",
    ':a :p "\ufffe" ; ; : .',
]


def quads_of(text: str | bytes, format: str) -> tuple[list[str], list[Rejected]]:
    rejected: list[Rejected] = []
    data = text.encode() if isinstance(text, str) else text
    quads = [str(q) for q in read_quads(data, format=format, on_rejected=rejected.append, blank_prefix="b")]
    return quads, rejected


# Line formats


def test_only_the_bad_line_is_set_aside() -> None:
    lines = [b"<x:a> <x:b> <x:c> .", b'<x:a> <x:b> "left open .', b'<x:a> <x:b> "\xff" .', b"<x:a> <x:b> <x:d> ."]
    quads, rejected = quads_of(b"\n".join(lines), "ntriples")
    assert quads == ["<x:a> <x:b> <x:c>", "<x:a> <x:b> <x:d>"]
    assert [(r.source, r.line, r.column) for r in rejected] == [("<bytes>", 2, 13), ("<bytes>", 3, 14)]
    assert rejected[0].text == '<x:a> <x:b> "left open .'


def test_two_statements_on_a_line_are_a_bad_line() -> None:
    quads, rejected = quads_of("<x:a> <x:b> <x:c> . <x:a> <x:b> <x:d> .\n<x:a> <x:b> <x:e> .\n", "ntriples")
    assert quads == ["<x:a> <x:b> <x:e>"]
    assert len(rejected) == 1


def test_a_statement_must_not_go_on_in_the_next_line() -> None:
    quads, rejected = quads_of("<x:a> <x:b>\n<x:c> .\n<x:a> <x:b> <x:e> .\n", "nquads")
    assert quads == ["<x:a> <x:b> <x:e>"]
    assert [r.line for r in rejected] == [1, 2]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_are_counted_whatever_ends_them(end: str) -> None:
    _, rejected = quads_of(end.join(["<x:a> <x:b> <x:c> .", "# comment", "", "bad"]), "ntriples")
    assert [r.line for r in rejected] == [4]


def test_the_text_of_what_is_set_aside_is_bounded() -> None:
    _, (rejected,) = quads_of("<x:a> <x:b> " + "y" * 10_000, "ntriples")
    assert len(rejected.text) == 200


def test_without_a_receiver_the_first_fault_raises() -> None:
    elements = read_elements(b"<x:a> <x:b> <x:c> .\nbad\n", format="nt", time="rate:1")
    next_of = [next(elements)]
    with pytest.raises(DataError, match="<bytes>: line 2, column 1"):
        next_of.append(next(elements))
    assert len(next_of) == 1


def test_strict_raises_although_there_is_a_receiver() -> None:
    with pytest.raises(DataError):
        list(read_quads(b"bad", format="nt", on_rejected=lambda _: None, strict=True))


@given(st.lists(st.one_of(st.integers(0, 99), st.binary(max_size=20)), max_size=20))
def test_garbage_between_lines_loses_no_line(parts: list[int | bytes]) -> None:
    lines, good = [], []
    for part in parts:
        if isinstance(part, int):
            lines.append(f"<x:s{part}> <x:p> <x:o> .".encode())
            good.append(f"<x:s{part}> <x:p> <x:o>")
        else:
            lines.append(b"\\" + part.replace(b"\n", b" ").replace(b"\r", b" "))
    quads, rejected = quads_of(b"\n".join(lines), "ntriples")
    assert quads == good
    assert len(rejected) == len(parts) - len(good)


@given(
    st.lists(st.sampled_from([b"_:a <x:p> _:b .\n", b'<x:s> <x:p> "\xc3\xa9" .\r\n', b"bad\n", b"# c\n", b"\n"])),
    st.integers(1, 30),
)
def test_lines_mean_the_same_however_they_are_cut(lines: list[bytes], chunk: int) -> None:
    text = b"".join(lines)

    def read(size: int) -> tuple[list[object], list[Rejected]]:
        rejected: list[Rejected] = []
        source = io.BytesIO(text)
        events = read_lines(source, RdfFormat.N_TRIPLES, BlankScope("b"), Rejections("t", rejected.append), chunk=size)
        return list(events), rejected

    assert read(chunk) == read(1 << 20)


# Turtle and TriG


@pytest.mark.parametrize("bad", BAD)
def test_a_bad_sentence_costs_only_itself(bad: str) -> None:
    text = PREFIX + ":a :p :before .\n" + bad + "\n" + ":a :p :after .\n"
    quads, rejected = quads_of(text, "turtle")
    assert quads == ["<http://e/a> <http://e/p> <http://e/before>", "<http://e/a> <http://e/p> <http://e/after>"]
    assert [r.line for r in rejected] == [3]
    assert rejected[0].text == bad


@pytest.mark.parametrize("bad", [bad for bad in BAD if not bad.startswith(("@", "PREFIX"))])
def test_a_bad_sentence_in_a_graph_costs_only_itself(bad: str) -> None:
    text = PREFIX + ":g { :a :p :before .\n" + bad + "\n:a :p :after }\n:h { :a :p :o }"
    quads, rejected = quads_of(text, "trig")
    assert quads == [
        "<http://e/a> <http://e/p> <http://e/before> <http://e/g>",
        "<http://e/a> <http://e/p> <http://e/after> <http://e/g>",
        "<http://e/a> <http://e/p> <http://e/o> <http://e/h>",
    ]
    assert [r.line for r in rejected] == [3]


@given(st.lists(st.sampled_from(GOOD + BAD), max_size=8), st.integers(1, 40))
def test_good_sentences_survive_among_bad_ones_however_they_are_cut(sentences: list[str], chunk: int) -> None:
    text = (PREFIX + "\n".join(sentences)).encode()

    def read(size: int) -> tuple[list[Statement], list[Rejected]]:
        rejected: list[Rejected] = []
        rejections = Rejections("t", rejected.append)
        events = read_turtle(io.BytesIO(text), BlankScope("b"), rejections, graphs=False, chunk=size)
        return [event for event in events if isinstance(event, Statement)], rejected

    statements, rejected = read(1 << 20)
    assert len(statements) == sum(sentence in GOOD for sentence in sentences)
    assert len(rejected) == sum(sentence in BAD for sentence in sentences)
    assert read(chunk) == (statements, rejected)


def test_prefixes_and_base_hold_after_a_bad_sentence() -> None:
    quads, _ = quads_of("@base <http://b/> . @prefix x: <x/> . x:a x:b . <y> x:p x:o .", "turtle")
    assert quads == ["<http://b/y> <http://b/x/p> <http://b/x/o>"]


def test_the_place_of_a_fault_is_exact() -> None:
    _, (rejected,) = quads_of(PREFIX + ':a :p "ü" . :a\n   :p\n   no:prefix .', "turtle")
    assert (rejected.line, rejected.column) == (4, 4)


def test_a_long_string_left_open_costs_its_own_sentence() -> None:
    quads, rejected = quads_of(PREFIX + ':a :p """left open .\n:a :p :o .\n:a :p :x .', "turtle")
    assert quads == ["<http://e/a> <http://e/p> <http://e/o>", "<http://e/a> <http://e/p> <http://e/x>"]
    assert [r.line for r in rejected] == [2]


def test_a_missing_brace_is_told_and_the_graphs_are_kept() -> None:
    quads, rejected = quads_of(PREFIX + ":g { :a :p :o . :h { :b :p :o . }", "trig")
    assert quads == [
        "<http://e/a> <http://e/p> <http://e/o> <http://e/g>",
        "<http://e/b> <http://e/p> <http://e/o> <http://e/h>",
    ]
    assert [r.reason for r in rejected] == ["a graph begins before the } of the one before it"]


def test_what_stands_in_a_graph_of_no_name_is_set_aside() -> None:
    quads, rejected = quads_of(PREFIX + "GRAPH { :a :p :o } no:prefix { :a :p :o } :g { :a :p :o }", "trig")
    assert quads == ["<http://e/a> <http://e/p> <http://e/o> <http://e/g>"]
    assert len(rejected) == 4


def test_a_graph_that_the_text_ends_in_is_told_and_kept() -> None:
    quads, rejected = quads_of(PREFIX + ":g { :a :p :o .", "trig")
    assert len(quads) == 1
    assert [r.reason for r in rejected] == ["the text ends before the graph's }"]


def test_an_anonymous_graph_is_one_graph() -> None:
    quads, _ = quads_of(PREFIX + "[] { :a :p :o . :b :p :o } [] { :c :p :o }", "trig")
    graphs = [quad.rsplit(" ", 1)[1] for quad in quads]
    assert graphs[0] == graphs[1] != graphs[2]


def test_a_relative_iri_without_a_base_says_what_to_do() -> None:
    _, (rejected,) = quads_of("<a> <x:b> <x:c> .", "turtle")
    assert "give the option base" in rejected.reason


@given(st.binary(max_size=200), st.booleans())
def test_the_splitter_always_moves_on(text: bytes, graphs: bool) -> None:
    position = 0
    for _ in range(len(text) + 2):
        sentence = next_sentence(text, position, ended=True, graphs=graphs)
        assert sentence.kind is not Kind.MORE
        if sentence.kind is Kind.END:
            return
        assert sentence.end > position
        position = sentence.end
    raise AssertionError("no end")


@pytest.mark.parametrize("format", ["ntriples", "nquads", "turtle", "trig", "rdfxml", "jsonld", "jsonlines"])
@given(text=st.binary(max_size=200))
def test_any_bytes_give_quads_or_are_set_aside(format: str, text: bytes) -> None:
    quads_of(text, format)


# Documents


def test_rdf_xml_is_kept_up_to_its_fault() -> None:
    text = (
        '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e/">\n'
        '<rdf:Description rdf:about="http://e/s"><e:p>1</e:p></rdf:Description>\n'
        '<rdf:Description rdf:about="http://e/s"><e:p>2</e:q></rdf:Description></rdf:RDF>'
    )
    quads, (rejected,) = quads_of(text, "rdfxml")
    assert quads == ['<http://e/s> <http://e/p> "1"']
    assert rejected.line == 3


def test_of_a_malformed_json_ld_document_nothing_is_kept() -> None:
    quads, (rejected,) = quads_of('{"@id":"http://e/s",\n"http://e/p":1,}', "jsonld")
    assert quads == []
    assert rejected.line == 2


@pytest.mark.parametrize(
    ("format", "text"),
    [
        (
            "ntriples",
            "<x:s> <x:p> " + "<<( <x:s> <x:p> " * 50_000 + '"x"' + " )>>" * 50_000 + " .\n<x:a> <x:b> <x:c> .",
        ),
        ("turtle", "<x:s> <x:p> " + "<<( <x:s> <x:p> " * 50_000 + '"x"' + " )>>" * 50_000 + " .\n<x:a> <x:b> <x:c> ."),
        ("jsonlines", '{"x:p":' * 50_000 + "1" + "}" * 50_000 + '\n{"@id":"x:a","x:b":"c"}'),
    ],
)
def test_what_would_overflow_the_stack_is_set_aside(format: str, text: str) -> None:
    quads, rejected = quads_of(text, format)
    assert len(quads) == 1
    assert [r.reason for r in rejected] == ["nested more than 200 deep"]


def test_xml_that_would_overflow_the_stack_is_set_aside() -> None:
    text = '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e/">'
    text += "<e:a><e:b>" * 200_000 + "</e:b></e:a>" * 200_000 + "</rdf:RDF>"
    _, (rejected,) = quads_of(text, "rdfxml")
    assert "deep" in rejected.reason


@pytest.mark.parametrize("encoding", ["UF-8", "utf-16", "shift-jis", "base64", "UTF-7"])
def test_a_document_in_an_encoding_that_is_not_known_is_set_aside(encoding: str) -> None:
    text = f'<?xml version="1.0" encoding="{encoding}"?><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"/>'
    rejected: list[Rejected] = []
    assert list(read_quads(text.encode(), format="rdfxml", on_rejected=rejected.append)) == []
    assert len(rejected) == 1
