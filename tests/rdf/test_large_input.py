"""Small inputs that become large ones, and statements beyond the limits: set aside with their place, the rest is read."""

from __future__ import annotations

import gzip
import io
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pyoxigraph import RdfFormat, parse

from millstream.errors import DataError
from millstream.limits import Limits
from millstream.rdf import BlankScope, Rejected, Rejections
from millstream.rdf.readers import parsing
from millstream.rdf.readers.bounds import Cut, bounded_lines
from millstream.rdf.readers.faults import fault_of
from millstream.rdf.readers.lines import read_lines
from millstream.rdf.readers.parsing import quads_of
from millstream.rdf.readers.turtle import read_turtle
from millstream.rdf.statements import Statement
from tests.readers import read_changes, read_quads

MIB = 1 << 20
LONG = "x" * (17 * MIB)
"""Longer than any token that the parser takes."""


def quads_and_rejected(text: str | bytes, format: str, **limits: int) -> tuple[list[str], list[Rejected]]:
    rejected: list[Rejected] = []
    data = text.encode() if isinstance(text, str) else text
    found = read_quads(data, format=format, on_rejected=rejected.append, blank_prefix="b", limits=Limits.of(limits))
    return [str(quad) for quad in found], rejected


def within_memory(code: str, megabytes: int) -> str:
    """Runs Python in a process of its own, which must not come to hold more than it held at first by so much."""
    program = f"""
import gzip, io, resource
import millstream.rdf, tests.readers
from millstream.limits import Limits
def held(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
before = held()
{code}
assert held() - before < {megabytes}, held() - before
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


# Long strings


@pytest.mark.parametrize("format", ["ntriples", "nquads", "turtle", "trig"])
def test_a_statement_past_16_mib_is_read(format: str) -> None:
    text = f'<x:a> <x:b> <x:c> .\n<x:a> <x:b> "{LONG}\\n"@en .\n<x:a> <x:b> <x:d> .\n'
    quads, rejected = quads_and_rejected(text, format)
    assert rejected == []
    assert quads == ["<x:a> <x:b> <x:c>", f'<x:a> <x:b> "{LONG}\\n"@en', "<x:a> <x:b> <x:d>"]


@pytest.mark.parametrize("format", ["nquads", "turtle"])
@pytest.mark.parametrize("bad", [f'<x:a> <x:b> "{LONG} .', f"<x:{LONG}> <x:b> 1 .", f'<x:a> <x:b> "{LONG}\\q" .'])
def test_a_malformed_statement_past_16_mib_costs_only_itself(format: str, bad: str) -> None:
    quads, rejected = quads_and_rejected(f"<x:a> <x:b> <x:c> .\n{bad}\n<x:a> <x:b> <x:d> .\n", format)
    assert quads == ["<x:a> <x:b> <x:c>", "<x:a> <x:b> <x:d>"]
    assert [r.line for r in rejected] == [2]


def test_a_long_comment_is_passed_over() -> None:
    quads, rejected = quads_and_rejected(f"<x:a> <x:b> # {LONG}\n <x:c> . # {LONG}\n<x:a> <x:b> <x:d> .", "turtle")
    assert (quads, rejected) == (["<x:a> <x:b> <x:c>", "<x:a> <x:b> <x:d>"], [])


_TEXT = st.lists(
    st.sampled_from(
        ["a", "é", "😀", "\\n", "\\\\", '\\"', "\\'", "\\u00e9", "\\U0001F600", "\\q", "\n", '"', "'", '""', " # "]
    ),
    max_size=40,
)


@given(_TEXT, st.sampled_from(['"', "'", '"""', "'''"]), st.integers(11, 40))
@example(['""', "\\U0001F600"], '"""', 11)
def test_a_long_string_means_what_the_parser_says(parts: list[str], quote: str, piece: int) -> None:
    token = f"{quote}{''.join(parts)}{quote}".encode()

    def by_parser(text: bytes) -> str | None:
        try:
            (quad,) = parse(input=b"<x:s> <x:p> " + text + b" .", format=RdfFormat.TURTLE)
        except (SyntaxError, ValueError):
            return None
        return str(quad.object)

    # Only what is one token comes to be read in pieces.
    pattern = parsing.LONG_STRING if len(quote) == 3 else parsing.SHORT_STRING
    if parsing.re.fullmatch(pattern, token, parsing.re.DOTALL) is None:
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parsing, "_LONG", 0)
        patch.setattr(parsing, "_PIECE", piece)
        try:
            quads = parsing._with_long_strings(b"<x:s> <x:p> " + token + b" .", RdfFormat.TURTLE, None)
            found = str(quads[0].object)
        except DataError:
            found = None
    assert found == by_parser(token)


# Lines beyond the limit


@given(st.lists(st.sampled_from([b"", b"ab", b"abcdefghij", b"abcdefghijk", b"x" * 50]), max_size=8),
       st.sampled_from([b"\n", b"\r\n", b"\r"]), st.booleans(), st.integers(1, 30))  # fmt: skip
def test_lines_up_to_the_limit_pass_however_they_are_cut(lines: list[bytes], end: bytes, ended: bool, size: int) -> None:
    text = end.join(lines) + (end if ended else b"")
    pieces = [text[i : i + size] for i in range(0, len(text), size)]
    passed, cut, held = [], 0, b""
    for piece in bounded_lines(pieces, 10):
        if isinstance(piece, Cut):
            held, cut = held[: max(held.rfind(b"\n"), held.rfind(b"\r")) + 1], cut + 1
        else:
            held += piece
    passed = held.splitlines()
    expected = [b"" if len(line) > 10 else line for line in text.splitlines()]
    if expected and not ended and len(lines[-1]) > 10:
        expected.pop()  # a last line that has no end leaves nothing
    assert passed == expected
    assert cut == sum(len(line) > 10 for line in lines)


def test_nobody_holds_more_of_a_line_than_the_limit() -> None:
    def endless() -> Iterator[bytes]:
        for _ in range(1000):
            yield b"x" * 100

    held = 0
    for piece in bounded_lines(endless(), 1000):
        held = 0 if isinstance(piece, Cut) else held + len(piece)
        assert held <= 1100


GOOD = "<x:a> <x:b> <x:c> ."
TOO_LONG = f'<x:a> <x:b> "{"y" * 200}" .'


@pytest.mark.parametrize("format", ["ntriples", "nquads", "turtle", "trig"])
def test_a_statement_beyond_the_limit_is_set_aside_with_its_place(format: str) -> None:
    text = f"{GOOD}\n{TOO_LONG}\n{GOOD}\nbad .\n"
    quads, rejected = quads_and_rejected(text, format, statement_bytes=100)
    assert quads == [GOOD[:-2]] * 2
    assert [(r.line, r.column) for r in rejected] == [(2, 1), (4, 1)]
    assert rejected[0].reason == "a statement of more than 100 bytes (limit statement_bytes)"
    assert rejected[0].text.startswith('<x:a> <x:b> "yyy')


@pytest.mark.parametrize("format", ["ntriples", "nquads", "turtle", "trig", "jsonlines"])
def test_a_literal_beyond_the_limit_is_set_aside(format: str) -> None:
    good, long = GOOD, TOO_LONG
    if format == "jsonlines":
        good, long = '{"@id":"x:a","x:b":{"@id":"x:c"}}', json.dumps({"@id": "x:a", "x:b": "y" * 200})
    quads, rejected = quads_and_rejected(f"{good}\n{long}\n{good}\n", format, literal_bytes=150)
    assert quads == [GOOD[:-2]] * 2
    assert [r.line for r in rejected] == [2]
    assert "literal_bytes" in rejected[0].reason


def test_changes_beyond_the_limit_are_set_aside() -> None:
    rejected: list[Rejected] = []
    patch = f"A {GOOD}\nA {TOO_LONG}\nD {GOOD}\n".encode()
    found = read_changes(patch, format="rdfpatch", on_rejected=rejected.append, limits=Limits(statement_bytes=100))
    assert [change.insert for change in found] == [True, False]
    assert [r.line for r in rejected] == [2]
    update = f"INSERT DATA {{ {GOOD} {TOO_LONG} {GOOD} }}".encode()
    found = read_changes(update, format="sparql", on_rejected=rejected.append, limits=Limits(statement_bytes=100))
    assert len(list(found)) == 2
    assert len(rejected) == 2


SENTENCES = [
    ":a :p :o .",
    ":a :p 1.5 .",
    ':a :p """a .\n. " b""" .',
    ":a :p [ :q ( 1 2 ) ] .",
    ":a\n  :p :o .",
]
# Each longer than the limit, with what could be mistaken for its end.
TOO_LONG_SENTENCES = [
    ':a :p """' + ":no :no :no .\n" * 12 + '""" .',
    ":a :p '''" + "x \" . \\' \n" * 20 + "''' .",
    ':a :p "' + 'no . \\" ' * 20 + '"@en .',
    ":a :p <http://e/" + "x.y" * 50 + "> .",
    ":a :p :" + "x.y" * 50 + " .",
    ":a :p " + " , ".join(f"{n}.5" for n in range(40)) + " .",
    ":a :p [ " + " ; ".join(f":q{n} (1 [] . )".replace(" . )", " )") for n in range(20)) + " ] .",
    ":a :p # " + "no . " * 40 + "\n :o .",
    ":a :p :o" + " " * 150 + ".",
]


@pytest.mark.parametrize("graphs", [False, True])
@given(st.lists(st.sampled_from(SENTENCES + TOO_LONG_SENTENCES), max_size=6), st.integers(1, 60))
def test_sentences_beyond_the_limit_cost_only_themselves_however_they_are_cut(
    graphs: bool, sentences: list[str], chunk: int
) -> None:
    body = "\n".join(sentences)
    text = ("@prefix : <http://e/> .\n" + (f":g {{ {body}\n}} :h {{ :a :p :o }}" if graphs else body)).encode()

    def read(size: int) -> tuple[list[Any], list[Any]]:
        rejected: list[Rejected] = []
        rejections = Rejections("t", rejected.append)
        events = read_turtle(
            io.BytesIO(text), BlankScope("b"), rejections, graphs=graphs, chunk=size, limits=Limits(statement_bytes=100)
        )
        statements = [(event.line, len(event.quads)) for event in events if isinstance(event, Statement)]
        return statements, [(r.line, r.reason) for r in rejected]

    statements, rejected = read(1 << 20)
    assert len(statements) == sum(sentence in SENTENCES for sentence in sentences) + graphs
    assert len(rejected) == sum(sentence in TOO_LONG_SENTENCES for sentence in sentences)
    assert all("statement_bytes" in reason for _, reason in rejected)
    assert read(chunk) == (statements, rejected)


def test_a_text_that_ends_in_a_sentence_beyond_the_limit_is_told() -> None:
    quads, rejected = quads_and_rejected(GOOD + '\n<x:a> <x:b> """' + GOOD * 20_000, "turtle", statement_bytes=1000)
    assert quads == [GOOD[:-2]]
    assert [r.line for r in rejected] == [2]


# Compressed

RDF_XML = (
    '<!DOCTYPE rdf:RDF [{}]><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e/">'
    '<rdf:Description rdf:about="http://e/a"><e:p>1</e:p><e:p>{}</e:p></rdf:Description></rdf:RDF>'
)


@pytest.mark.parametrize("format", ["ntriples", "trig"])
def test_a_long_line_in_a_small_file_is_not_held(format: str) -> None:
    out = within_memory(
        f"""
data = gzip.compress(b'<x:a> <x:b> <x:c> .\\n<x:a> <x:b> "' + b"x" * (100 << 20) + b'" .\\n<x:a> <x:b> <x:d> .\\n', 1)
before = held()
rejected = []
limits = Limits(statement_bytes=1 << 20)
quads = list(tests.readers.read_quads(data, format={format!r}, on_rejected=rejected.append, limits=limits))
print([str(quad.object) for quad in quads], [r.line for r in rejected])
""",
        60,
    )
    assert out.strip() == "['<x:c>', '<x:d>'] [2]"


def test_a_long_text_in_a_small_document_is_not_held() -> None:
    out = within_memory(
        f"""
data = gzip.compress({RDF_XML!r}.replace("{{}}", "").encode().replace(b"<e:p></e:p>", b"<e:p>" + b"x" * (100 << 20)), 1)
before = held()
rejected = []
limits = Limits(literal_bytes=4 << 20)
quads = list(tests.readers.read_quads(data, format="rdfxml", on_rejected=rejected.append, limits=limits))
print([str(quad.object) for quad in quads], [r.reason for r in rejected])
""",
        60,
    )
    assert out.strip() == (
        "['\"1\"'] ['a literal of more than 4194304 bytes (limit literal_bytes); the document is kept up to here']"
    )


@pytest.mark.parametrize(("format", "text"), [("jsonld", b"["), ("rdfxml", b"<"), ("parquet", b"P"), ("arrow", b"A")])
def test_a_document_beyond_the_limit_is_not_held(format: str, text: bytes) -> None:
    out = within_memory(
        f"""
data = gzip.compress({text!r} + b" " * (100 << 20), 1)
before = held()
rejected = []
limits = Limits(document_bytes=8 << 20)
quads = list(tests.readers.read_quads(data, format={format!r}, on_rejected=rejected.append, limits=limits))
print(len(quads), len(rejected))
""",
        60,
    )
    assert out.strip() == "0 1"


# What a text becomes


def laughs(times: int, depth: int) -> str:
    names = (f'<!ENTITY e{n} "{f"&e{n - 1};" * times}">' for n in range(1, depth))
    return '<!ENTITY e0 "haha">' + "".join(names)


def test_entities_are_replaced_where_they_are_few() -> None:
    quads, rejected = quads_and_rejected(RDF_XML.format(laughs(10, 3), "&e2;&lt;"), "rdfxml")
    assert rejected == []
    assert quads[1] == f'<http://e/a> <http://e/p> "{"haha" * 100}<"'


@pytest.mark.parametrize(
    "declarations", [laughs(10, 12), laughs(2, 40), "<!-- " + laughs(10, 12) + " -->", laughs(10, 12) * 2]
)
def test_entities_that_become_gigabytes_are_refused_before_they_do(declarations: str) -> None:
    quads, rejected = quads_and_rejected(RDF_XML.format(declarations, "&e11;"), "rdfxml")
    assert quads == []
    assert len(rejected) == 1
    assert "document_bytes" in rejected[0].reason


@given(st.integers(1, 40))
def test_entities_are_counted_however_the_document_is_cut(size: int) -> None:
    text = RDF_XML.format(laughs(10, 12), "&e11;").encode()

    class Slow(io.BytesIO):
        def read(self, _: int | None = -1, /) -> bytes:
            return super().read(size)

    rejected: list[Rejected] = []
    assert list(read_quads(Slow(text), format="rdfxml", on_rejected=rejected.append)) == []
    assert ["document_bytes" in r.reason for r in rejected] == [True]


def test_a_single_large_entity_used_often_is_refused() -> None:
    text = RDF_XML.format(f'<!ENTITY a "{"x" * 10_000}">', "&a;" * 10_000)
    _, rejected = quads_and_rejected(text, "rdfxml", document_bytes=10 * MIB)
    assert ["document_bytes" in r.reason for r in rejected] == [True]


def test_nothing_outside_of_a_document_is_read() -> None:
    text = RDF_XML.format('<!ENTITY a SYSTEM "file:///etc/passwd">', "&a;")
    quads, rejected = quads_and_rejected(text, "rdfxml")
    assert not any("root" in quad for quad in quads)
    assert len(rejected) == 1


def test_what_only_one_of_two_xml_parsers_objects_to_hides_nothing_from_the_other() -> None:
    deep = "<e:a><e:b>" * 200_000
    text = RDF_XML.format("", "2").replace("</rdf:RDF>", f"<e:x a='1' a='1'/>{deep}")
    quads, rejected = quads_and_rejected(text, "rdfxml")
    assert len(quads) == 2
    assert len(rejected) == 1


def repeated_subject(name: str) -> dict[str, str]:
    many = 3000
    xml = RDF_XML.format("", "1").replace("http://e/a", name).replace("<e:p>1</e:p>", "<e:p>1</e:p>" * many)
    return {
        "turtle": f"<{name}> <x:p> {', '.join(map(str, range(many)))} .",
        "trig": f"<x:g> {{ <{name}> <x:p> {', '.join(map(str, range(many)))} }}",
        "jsonld": json.dumps({"@id": name, "x:p": list(range(many))}),
        "jsonlines": json.dumps({"@id": name, "x:p": list(range(many))}),
        "rdfxml": xml,
    }


@pytest.mark.parametrize("format", list(repeated_subject("")))
def test_a_subject_that_is_repeated_until_it_is_gigabytes_is_refused(format: str) -> None:
    limits = {"document_bytes": 20 * MIB, "statement_bytes": 20 * MIB}
    quads, rejected = quads_and_rejected(repeated_subject("http://e/" + "x" * 50_000)[format], format, **limits)
    assert sum(map(len, quads)) < 30 * MIB
    assert len(rejected) == 1
    quads, rejected = quads_and_rejected(repeated_subject("http://e/x")[format], format, **limits)
    assert len(quads) >= 3000
    assert rejected == []


def test_a_prefix_is_no_way_to_write_much_with_little() -> None:
    quads, rejected = quads_and_rejected(f"@prefix a: <http://e/{'x' * 10_000}> .\n{GOOD}\na:a a:b a:c .", "turtle")
    assert quads == [GOOD[:-2]]
    assert [r.line for r in rejected] == [1, 3]


# Depth, and what the parser does of its own accord


@pytest.mark.parametrize("brackets", [("[ <x:p> ", " ]"), ("( ", " )"), ("<<( <x:a> <x:b> ", " )>>"), ("{| <x:p> ", " |}")])
def test_deep_brackets_end_no_process(brackets: tuple[str, str]) -> None:
    opening, closing = brackets
    for depth in (300, 30_000):
        text = f"{GOOD}\n<x:a> <x:p> " + opening + "1" + f"\n{GOOD}\n"
        whole = f"{GOOD}\n<x:a> <x:p> " + opening * depth + "1" + closing * depth + f" .\n{GOOD}\n"
        for document in (text, whole, whole.replace(closing, "")):
            quads, _ = quads_and_rejected(document, "turtle")
            assert quads[0] == GOOD[:-2]


def test_many_brackets_cost_no_more_than_their_number() -> None:
    text = "<x:a> <x:p> " + "[], " * 50_000 + "1 ."
    began = time.process_time()
    quads, rejected = quads_and_rejected(text, "turtle")
    assert (len(quads), rejected) == (50_001, [])
    assert time.process_time() - began < 10  # a search of the text for each would take minutes


class PanicException(BaseException):
    """As the parser's library has one, which cannot be imported."""


@pytest.mark.parametrize("error", [PanicException("index out of bounds"), MemoryError("16777216"), ValueError("no")])
def test_whatever_the_parser_raises_is_a_reason(error: BaseException) -> None:
    assert fault_of(error).reason


@pytest.mark.parametrize("format", ["ntriples", "turtle", "trig", "jsonld", "jsonlines", "rdfxml"])
def test_a_panic_of_the_parser_is_set_aside(format: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def panics(*_: object, **__: object) -> Iterator[Any]:
        raise PanicException("capacity overflow")
        yield

    for module in ("parsing", "documents", "rdf_xml"):
        monkeypatch.setattr(f"millstream.rdf.readers.{module}.parse", panics)
    text = '{"@id":"x:a"}' if format.startswith("json") else GOOD
    quads, rejected = quads_and_rejected(text, format)
    assert quads == []
    assert len(rejected) == 1


def test_what_is_no_fault_of_the_parser_is_raised_again() -> None:
    with pytest.raises(KeyboardInterrupt):
        fault_of(KeyboardInterrupt())


TRIPLE_TERM: list[tuple[str, str]] = [
    ("turtle", "<x:a> <x:b> <<( <x:a> <x:b> <x:c> )>> ."),
    ("turtle", "<x:a> <x:b> <x:c> {| <x:d> <x:e> |} ."),
    ("turtle", "<x:a> <x:b> <x:c> ~ <x:r> ."),
    ("turtle", "<< <x:a> <x:b> <x:c> >> <x:d> <x:e> ."),
    ("turtle", '<x:a> <x:b> "a"@en--ltr .'),
    ("ntriples", "<x:a> <x:b> <<( <x:a> <x:b> <x:c> )>> ."),
    ("ntriples", '<x:a> <x:b> "a"@en--ltr .'),
    ("nquads", "<x:a> <x:b> <<( <x:a> <x:b> <x:c> )>> <x:g> ."),
]


@pytest.mark.parametrize(("format", "bad"), TRIPLE_TERM)
def test_what_rdf_1_2_adds_costs_only_its_own_statement(format: str, bad: str) -> None:
    quads, rejected = quads_and_rejected(f"{GOOD}\n{bad}\n{GOOD}\n", format)
    assert quads == [GOOD[:-2]] * 2
    assert [r.line for r in rejected] == [2]
    assert "RDF 1.2" in rejected[0].reason


def test_json_ld_without_directions_keeps_the_string() -> None:
    value = {"@value": "a", "@language": "en", "@direction": "rtl"}
    quads, rejected = quads_and_rejected(json.dumps({"@id": "x:a", "x:b": value}), "jsonld")
    assert (quads, rejected) == (['<x:a> <x:b> "a"@en'], [])


@pytest.mark.parametrize("reader", [lambda text: quads_of(text, RdfFormat.N_TRIPLES)])
def test_a_compressed_text_is_the_same_text(reader: Callable[[bytes], Any]) -> None:
    text = f"{GOOD}\n".encode()
    assert reader(text) == list(read_quads(gzip.compress(text), format="nt"))
    events = read_lines(io.BytesIO(text), RdfFormat.N_TRIPLES, BlankScope(), Rejections("t"))
    assert [q for event in events if isinstance(event, Statement) for q in event.quads] == reader(text)
