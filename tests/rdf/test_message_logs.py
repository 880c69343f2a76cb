"""RDF Message Logs, after https://w3c-cg.github.io/rsp/spec/messages-tests."""

from __future__ import annotations

import pytest

from millstream.rdf import Rejected
from tests.readers import read_elements, read_quads

VERSION = 'VERSION "1.2-messages"\n'
SYNTAXES = ["ntriples", "nquads", "turtle", "trig"]


def messages(text: str, format: str) -> tuple[list[list[str]], list[Rejected]]:
    rejected: list[Rejected] = []
    elements = read_elements(text.encode(), format=format, time="rate:1", on_rejected=rejected.append)
    return [[str(t.subject) for t in e.triples] for e in elements], rejected


def triple(n: int) -> str:
    return f"<x:s{n}> <x:p> <x:o> .\n"


@pytest.mark.parametrize("format", SYNTAXES)
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (triple(1), [["<x:s1>"]]),
        (triple(1) + triple(2), [["<x:s1>", "<x:s2>"]]),
        (triple(1) + "MESSAGE\n" + triple(2), [["<x:s1>"], ["<x:s2>"]]),
        (triple(1) + "MESSAGE # with a comment\n" + triple(2), [["<x:s1>"], ["<x:s2>"]]),
        ("MESSAGE\n" + triple(1), [[], ["<x:s1>"]]),
        (triple(1) + "MESSAGE\nMESSAGE\n" + triple(2), [["<x:s1>"], [], ["<x:s2>"]]),
        (triple(1) + "MESSAGE\n", [["<x:s1>"]]),
    ],
)
def test_a_message_is_an_element(format: str, text: str, expected: list[list[str]]) -> None:
    assert messages(VERSION + text, format) == (expected, [])


@pytest.mark.parametrize("format", ["turtle", "trig"])
def test_the_old_style_of_directives(format: str) -> None:
    text = '@version "1.1-messages" .\n' + triple(1) + "@message .\n" + triple(2)
    assert messages(text, format) == ([["<x:s1>"], ["<x:s2>"]], [])


def test_default_and_named_graphs_of_a_message_are_one_element() -> None:
    text = VERSION + "PREFIX x: <x:>\nx:s1 x:p x:o .\nx:g { x:s2 x:p x:o . x:s3 x:p x:o }\nMESSAGE\nx:s4 x:p x:o ."
    assert messages(text, "trig") == ([["<x:s1>", "<x:s2>", "<x:s3>"], ["<x:s4>"]], [])


def test_a_prefix_holds_until_it_is_set_again() -> None:
    text = VERSION + "PREFIX e: <x:1>\ne:s e:p e:o .\nMESSAGE\ne:t e:p e:o .\nMESSAGE\nPREFIX e: <x:2>\ne:s e:p e:o ."
    assert messages(text, "turtle") == ([["<x:1s>"], ["<x:1t>"], ["<x:2s>"]], [])


@pytest.mark.parametrize("format", SYNTAXES)
def test_a_label_is_a_node_of_its_message(format: str) -> None:
    text = VERSION + "_:b <x:p> _:b .\nMESSAGE\n_:b <x:p> _:b .\n"
    (first,), (second,) = messages(text, format)[0]
    assert first != second


@pytest.mark.parametrize("format", SYNTAXES)
def test_a_delimiter_outside_of_a_message_log_is_malformed(format: str) -> None:
    rejected: list[Rejected] = []
    text = triple(1) + "MESSAGE\n" + triple(2)
    quads = list(read_quads(text.encode(), format=format, on_rejected=rejected.append))
    assert [str(quad.subject) for quad in quads] == ["<x:s1>", "<x:s2>"]
    assert [r.line for r in rejected] == [2]


def test_a_delimiter_inside_a_graph_is_malformed() -> None:
    text = VERSION + "<x:g> {\n<x:s1> <x:p> <x:o> .\nMESSAGE\n<x:s2> <x:p> <x:o> .\n}"
    elements, (rejected,) = messages(text, "trig")
    assert elements == [["<x:s1>", "<x:s2>"]]
    assert rejected.reason == "a message cannot end inside a graph"


def test_a_delimiter_with_more_than_its_dot_is_malformed() -> None:
    _, (rejected,) = messages(VERSION + triple(1) + "@message <x:invalid>", "turtle")
    assert rejected.line == 3


def test_a_log_is_announced_first() -> None:
    _, (rejected,) = messages(triple(1) + VERSION, "ntriples")
    assert "announced before" in rejected.reason


def test_a_media_type_can_announce_a_log() -> None:
    text = triple(1) + "MESSAGE\n" + triple(2)
    assert messages(text, "application/n-triples; version=1.2-messages") == ([["<x:s1>"], ["<x:s2>"]], [])


@pytest.mark.parametrize("format", ["ntriples", "nquads"])
def test_a_version_without_messages_changes_nothing(format: str) -> None:
    assert len(list(read_quads(('VERSION "1.2"\n' + triple(1)).encode(), format=format))) == 1


def test_the_time_of_a_message_is_stated_in_it() -> None:
    at = '<http://www.w3.org/ns/prov#generatedAtTime> "1970-01-01T00:00:0%dZ" .\n'
    text = VERSION + triple(1) + "<x:s1> " + at % 1 + "MESSAGE\nMESSAGE\n" + "<x:s2> " + at % 2
    elements = list(read_elements(text.encode(), format="ntriples"))
    assert [(e.at_ms, len(e.triples)) for e in elements] == [(1000, 2), (2000, 1)]


def test_what_the_default_graph_says_of_a_messages_own_graph_is_metadata() -> None:
    text = VERSION + '<x:g> <http://www.w3.org/ns/prov#generatedAtTime> "1970-01-01T00:00:01Z" . <x:g> { <x:a> <x:b> <x:c> }'
    (element,) = read_elements(text.encode(), format="trig")
    assert (element.at_ms, [str(t) for t in element.triples]) == (1000, ["<x:a> <x:b> <x:c>"])


def test_a_bad_line_in_a_message_costs_only_itself() -> None:
    elements, (rejected,) = messages(VERSION + triple(1) + "bad\n" + "MESSAGE\n" + triple(2), "nquads")
    assert elements == [["<x:s1>"], ["<x:s2>"]]
    assert rejected.line == 3
