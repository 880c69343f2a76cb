"""What the scanner drops before it encodes: checked against a loop over all patterns."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.kernels.scanning.scanner import Scanner
from millstream.kernels.scanning.summary import Summary

relaxed = settings(deadline=None)  # other work on the machine must not fail a test

TERMS = [f"<http://t/{n}>".encode() for n in range(5)]
Pattern = tuple[bytes | None, bytes | None, bytes | None]

part = st.one_of(st.none(), st.sampled_from(TERMS))
patterns = st.lists(st.tuples(part, part, part), max_size=6)
triples = st.lists(st.tuples(*[st.sampled_from(TERMS)] * 3), max_size=40)


def text_of(triples: list[tuple[bytes, bytes, bytes]]) -> bytes:
    return b"".join(b" ".join(triple) + b" .\n" for triple in triples)


def matches(pattern: Pattern, triple: tuple[bytes, bytes, bytes]) -> bool:
    return all(wanted is None or wanted == given for wanted, given in zip(pattern, triple, strict=True))


@relaxed
@given(patterns, triples)
def test_a_triple_is_kept_if_and_only_if_some_pattern_matches(
    patterns: list[Pattern], triples: list[tuple[bytes, bytes, bytes]]
) -> None:
    dictionary = Dictionary()
    scanner = Scanner(dictionary, summary=Summary(patterns))
    scanned = scanner.feed(text_of(triples))
    expected = [i for i, triple in enumerate(triples) if any(matches(pattern, triple) for pattern in patterns)]
    assert scanned.index.tolist() == expected
    assert scanned.line.tolist() == [i + 1 for i in expected]
    assert (scanner.statements, scanner.kept) == (len(triples), len(expected))
    kept = {term for i in expected for term in triples[i]}
    assert dictionary.stats()["live"] == len(kept), "what is dropped is not encoded"


def test_a_dropped_line_is_validated_all_the_same() -> None:
    scanner = Scanner(Dictionary(), summary=Summary([(None, TERMS[0], None)]))
    scanned = scanner.feed(
        b'<http://a> <http://b> "x"@123 .\n<http://a> <http://t/0> "x" .\n<http://a> <http://b> "\xff" .\n'
    )
    assert [error[0] for error in scanned.errors] == [1, 3]
    assert scanned.index.tolist() == [0]


def test_a_constant_matches_every_spelling_of_its_term() -> None:
    summary = Summary([(None, None, b'"caf\xc3\xa9"@en')])
    scanned = Scanner(Dictionary(), summary=summary).feed(b'<http://a> <http://b> "caf\\u00E9"@EN .\n')
    assert len(scanned.s) == 1


def test_a_thousand_constants_are_told_apart() -> None:
    names = [f"<http://class/{n}>".encode() for n in range(2000)]
    summary = Summary([(None, TERMS[0], name) for name in names[::2]])
    scanned = Scanner(Dictionary(), summary=summary).feed(text_of([(TERMS[1], TERMS[0], name) for name in names]))
    assert scanned.index.tolist() == list(range(0, 2000, 2))


def test_no_pattern_keeps_nothing_and_an_open_one_everything() -> None:
    data = text_of([(TERMS[0], TERMS[1], TERMS[2])])
    assert len(Scanner(Dictionary(), summary=Summary([])).feed(data).s) == 0
    assert Summary([(None, None, None)]).everything
    assert len(Scanner(Dictionary(), summary=Summary([(None, None, None)])).feed(data).s) == 1


@pytest.mark.parametrize("patterns", [[(None, None)], [("a", None, None)], [(1, 2, 3)]])
def test_patterns_are_triples_of_bytes(patterns: list[Pattern]) -> None:
    with pytest.raises(TypeError, match="a pattern is"):
        Summary(patterns)


SPELLINGS = [
    b"<http://t/0>",
    b"<http://t/00>",
    b"<http://t/\\u00e9>",
    b"<http://t/\xc3\xa9>",
    b"<http://t/0",
    b"_:t",
    b"<http:/>",
]
SPELLINGS += [b"<http://t/" + letter * 300 + b">" for letter in (b"x", b"y")]
OBJECTS = [*SPELLINGS, b'"t"', b'"t"@en', b'"t"^^<http://t/0>']
repeated = st.tuples(st.sampled_from(SPELLINGS), st.sampled_from(SPELLINGS), st.sampled_from(OBJECTS))


@relaxed
@given(st.lists(st.lists(repeated, max_size=12), max_size=6), patterns, patterns)
def test_what_a_line_gives_does_not_depend_on_the_lines_before_it(
    pieces: list[list[tuple[bytes, bytes, bytes]]], asked: list[Pattern], asked_later: list[Pattern]
) -> None:
    # Predicates and objects that come again are not read again: a scanner of its own for every line knows of none.
    dictionary = Dictionary()
    summary = Summary(asked)
    scanner = Scanner(dictionary, summary=summary)
    for number, piece in enumerate(pieces):
        if number == len(pieces) // 2:
            summary = Summary(asked_later)
            scanner.watch(summary)
        found = scanner.feed(text_of(piece))
        alone = [Scanner(dictionary, summary=summary).feed(text_of([triple])) for triple in piece]
        assert found.triples.tolist() == [row for one in alone for row in one.triples.tolist()]
        assert len(found.errors) == sum(len(one.errors) for one in alone)
        # Whatever came is forgotten, and its ids with it.
        dictionary.forget_before(number)
        dictionary.settle()
        for one in range(number % 3 * 20):
            dictionary.encode_one(f"<http://other/{number}/{one}>")
