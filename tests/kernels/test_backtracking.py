"""The backtracking matcher against Python's, with references to groups."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from millstream.kernels.rows.backtracking import StepsSpentError
from millstream.operators.expressions.regex.programs import bounded_program
from millstream.operators.expressions.regex.syntax import parse

# Only what means the same to both.
pieces = st.sampled_from(["a", "b", "é", "[ab]", "[^a]", "(a|b)", "(ab?)", "(a|)", "(?:a|ab)", "(é+)"])
quantities = st.sampled_from(["", "", "*", "+", "?", "{2}", "{1,2}", "*?", "+?", "??"])
texts = st.text("abé", max_size=12)


@settings(max_examples=400, deadline=None)
@given(st.lists(st.tuples(pieces, quantities), min_size=1, max_size=4), texts, st.integers(0, 12), st.booleans())
def test_it_finds_what_python_does(parts, text, start, again):
    pattern = "".join(piece + (quantity if piece != "(a|)" else "") for piece, quantity in parts)
    in_python = pattern
    if again and "(a" in pattern.replace("(?:a", ""):
        # A group that took no part is the empty string here.
        pattern, in_python = pattern + "\\1", in_python + "(?:(?(1)\\1))"
    found = re.compile(in_python).search(text, min(start, len(text)))
    program = bounded_program(parse(pattern, ""))
    slots = program.search(text, min(start, len(text)), 1_000_000)
    expected = None if found is None else tuple(x for i in range(len(found.groups()) + 1) for x in found.span(i))
    assert slots == expected


def test_it_counts_steps_and_stops():
    program = bounded_program(parse("(a+)+\\1b", ""))
    with pytest.raises(StepsSpentError):
        program.search("a" * 40, 0, 10_000)
    assert program.steps == 10_001
    assert program.search("aab", 0, 10_000) == (0, 3, 0, 1)
    assert program.search("aab", 2, 10_000) is None
    assert program.search("aab", 4, 10_000) is None
    assert program.search("", 0, 10_000) is None


def test_it_refuses_what_is_no_text():
    with pytest.raises(TypeError):
        bounded_program(parse("a", "")).search(None, 0, 10)
