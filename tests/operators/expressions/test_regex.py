"""Regular expressions: two engines run one pattern, and none of them for ever.

Differential tests run random patterns over random texts on RE2, on the backtracking kernel and on Python's `re`, which
must agree on what matches and on what is replaced. Attacks are patterns that take other engines for ever, or all memory.
"""

import re
import time

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from millstream.limits import Limits
from millstream.operators.expressions.bounds import Bounds, LimitError
from millstream.operators.expressions.regex import characters, regex
from millstream.operators.expressions.regex.regex import Regex, compiled, replace
from millstream.operators.expressions.regex.syntax import (
    At,
    Choice,
    Group,
    Place,
    Reference,
    Repeat,
    Sequence,
    Set,
    parse,
)
from millstream.operators.expressions.values.values import ExpressionError


def matches(text, pattern, flags=""):
    return compiled(pattern, flags).matches(text, Bounds())


# Python's engine as the judge -----------------------------------------------------------------------------------------

PLACES = {
    Place.START: r"\A",
    Place.END: r"\Z",
    Place.LINE_START: r"(?:\A|(?<=\n)(?!\Z))",
    Place.LINE_END: r"(?=\n|\Z)",
    Place.WORD_EDGE: r"(?:(?<=\w)(?!\w)|(?<!\w)(?=\w))",
    Place.NO_WORD_EDGE: r"(?:(?<=\w)(?=\w)|(?<!\w)(?!\w))",
}


def in_python(node):
    match node:
        case Set(ranges):
            return "[" + "".join(f"\\U{a:08x}-\\U{b:08x}" for a, b in ranges) + "]" if ranges else "(?!)"
        case At(place):
            return PLACES[place]
        case Group(inner, number):
            return f"({'' if number else '?:'}{in_python(inner)})"
        case Repeat(inner, least, most, lazy):
            return f"(?:{in_python(inner)}){{{least},{'' if most is None else most}}}{'?' if lazy else ''}"
        case Sequence(parts):
            return "".join(map(in_python, parts))
        case Choice(branches):
            return f"(?:{'|'.join(map(in_python, branches))})"
        case Reference(group, any_case):
            return f"(?:(?({group})(?{'i' if any_case else '-i'}:\\{group})))"


def bounded_only(pattern, flags):
    """A pattern that only the kernel runs."""
    found = Regex(parse(pattern, flags), is_literal=False)
    found.__dict__["_test"] = found.__dict__["_lines"] = found.__dict__["_search"] = None
    return found


# As few characters as tell cases, words, lines and bytes apart.
letters = st.sampled_from(["a", "b", "A", "é", "ſ", "s", "\\.", "-", "\\n", "_", "\U0001f600", "K"])
classes = st.sampled_from(
    ["[ab]", "[^a]", "[a-z-[b]]", ".", "\\w", "\\W", "\\s", "\\d", "\\p{Lu}", "\\P{L}", "[^\\w_]", "\\i"]
)
places = st.sampled_from(["^", "$", "\\b", "\\B"])
quantities = st.sampled_from(["*", "+", "?", "{2}", "{1,3}", "{2,}", "*?", "+?", "??", "{0,2}?"])


def larger(inner):
    return st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map("|".join),
        inner.map("({})".format),
        st.tuples(inner, quantities).map(lambda p: f"(?:{p[0]}){p[1]}"),
        st.tuples(inner, quantities).map(lambda p: f"({p[0]}){p[1]}"),
    )


patterns = st.recursive(letters | classes | places, larger, max_leaves=8)
texts = st.text(st.sampled_from("abAsSéÉſ.-\n_ 1k\u212a\U0001f600"), max_size=10)
flag_sets = st.sampled_from(["", "i", "m", "s", "im", "x"])


@settings(max_examples=300, deadline=None)
@given(patterns, texts, flag_sets)
def test_all_engines_match_what_pythons_does(pattern, text, flags):
    judge = re.compile(in_python(parse(pattern, flags).node))
    expected = judge.search(text) is not None
    assert matches(text, pattern, flags) == expected
    assert bounded_only(pattern, flags).matches(text, Bounds()) == expected


@settings(max_examples=300, deadline=None)
@given(patterns, texts, flag_sets)
def test_all_engines_replace_what_pythons_does(pattern, text, flags):
    parsed = parse(pattern, flags)
    judge = re.compile(in_python(parsed.node))
    assume(judge.search("") is None and not _repeats_nothing(parsed.node))
    expected, at = [], 0
    while (found := judge.search(text, at)) is not None:
        expected.append((found.span(), found.groups()))
        at = found.end() + (found.span()[0] == found.span()[1])
        if at > len(text):
            break
    groups = "".join(f"<${number}>" for number in range(1, parsed.groups + 1))
    pieces, end = [], 0
    for (first, last), values in expected:
        pieces += [text[end:first], "[", text[first:last], "]", *(f"<{value or ''}>" for value in values)]
        end = last
    wanted = "".join(pieces) + text[end:]
    assert replace(text, pattern, "[$0]" + groups, flags, Bounds()) == wanted
    parts = regex._replacement("[$0]" + groups, parsed.groups)
    assert bounded_only(pattern, flags).replace(text, parts, Bounds()) == wanted


def _nullable(node):
    match node:
        case Set():
            return False
        case At() | Reference():
            return True
        case Group(inner, _):
            return _nullable(inner)
        case Repeat(inner, least):
            return least == 0 or _nullable(inner)
        case Sequence(parts):
            return all(map(_nullable, parts))
        case Choice(branches):
            return any(map(_nullable, branches))


def _repeats_nothing(node):
    """Whether something that may match nothing is repeated: engines differ in what groups in it have taken last."""
    match node:
        case Repeat(inner):
            return _nullable(inner) or _repeats_nothing(inner)
        case Group(inner, _):
            return _repeats_nothing(inner)
        case Sequence(parts) | Choice(parts):
            return any(map(_repeats_nothing, parts))
        case _:
            return False


# What XPath says ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "pattern", "flags", "expected"),
    [
        ("a", "[^a]", "i", False),  # variants are added before a class is negated
        ("A", "[^a]", "i", False),
        ("B", "[a-z-[b]]", "i", False),
        ("a", "\\p{Lu}", "i", False),  # and not to categories
        ("ſ", "S", "i", True),
        ("K", "\u212a", "i", True),
        ("ẞ", "ß", "i", True),
        ("Σ", "ς", "i", True),
        ("a.B", "A.b", "iq", True),
        ("axb", "A.b", "iq", False),
        ("aA", "^(a)\\1$", "i", True),
        ("aA", "^(a)\\1$", "", False),
        ("a\n", "^$", "m", False),  # no line begins behind a last newline
        ("a\n\n", "^$", "m", True),
        ("é\n", "^é$", "m", True),
        ("\n", "^$", "m", True),
        ("naïve x", "na\\b", "", False),  # words are not only of ASCII
        ("", "\\B", "", True),
        ("\r", ".", "", True),
        ("𝒳", "^.$", "", True),
        ("a" * 2000, "^a{2000}$", "", True),  # more than RE2 repeats
        ("é" * 300, "^\\p{L}{1,500}$", "", True),  # larger than RE2 may be
        ("b", "(a)?b\\1", "", True),
        ("x", "(?:)*x", "", True),
        ("x", "(a*)*x", "", True),
        ("x", "(?:(a)|b|)+x\\1", "", True),
    ],
)
def test_flags_and_places_mean_what_xpath_says(text, pattern, flags, expected):
    assert matches(text, pattern, flags) is expected
    assert bounded_only(pattern, flags).matches(text, Bounds()) is expected


def test_replacements_name_groups_by_as_many_digits_as_there_are_groups():
    assert replace("ab", "(b)", "$1$12$00\\$", "", Bounds()) == "abb2b0$"
    assert replace("ab", "b", "$0" + "0" * 5000, "", Bounds()) == "ab" + "0" * 5000
    assert replace("éaé", "a", "ü", "", Bounds()) == "éüé"
    assert replace("naïve", "\\b(.)", "<$1>", "", Bounds()) == "<n>aïve"


# Attacks --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "pattern",
    ["^(a+)+$", "^(a|aa)+$", "^(a|a?)+$", "(.*)*b.*c", "^(([a-z])+.)+[A-Z]([a-z])+$", "(x+x+)+y", "^(a?){40}a{40}$"],
)
def test_patterns_that_backtrack_for_ever_elsewhere_are_decided(pattern):
    began = time.perf_counter()
    for text in ("a" * 40 + "!", "x" * 5000, "a" * 100_000 + "!"):
        assert matches(text, pattern) is False
    assert time.perf_counter() - began < 5


@pytest.mark.parametrize("pattern", ["^(a+)+\\1$", "(a*)*(a*)*(a*)*\\1b", "^(.+)+\\1+!x", "(a|b|aa)*\\1(a|b|aa)*\\1c"])
def test_references_are_given_up_after_a_number_of_steps(pattern):
    text = "a" * 1000 + "!"
    bounds = Bounds()
    began = time.perf_counter()
    with pytest.raises(LimitError):
        compiled(pattern, "").matches(text, bounds)
    assert bounds.refused == 1
    with pytest.raises(LimitError):
        replace(text, pattern, "z", "", bounds)
    assert bounds.refused == 2
    assert time.perf_counter() - began < 10


def test_replacing_many_matches_takes_the_steps_of_one():
    bounds = Bounds()
    assert replace("aab" * 1000, "(a)\\1", "z", "", bounds) == "zb" * 1000
    with pytest.raises(LimitError):  # every match is short, but each looks to the end
        replace("ab" * 20_000, "(a)(?:.*\\1\\1c)?", "z", "", bounds)


@pytest.mark.parametrize(
    "pattern",
    [
        "(a{1000}){1000}",
        "((a{100}){100}){100}",
        "a{999999999}",
        "(?:){999999999}(a)\\1",
        "(" * 10_000 + "a" + ")" * 10_000,
        "[a-" * 10_000 + "[b]" + "]" * 10_000,
        "a" * 1_000_000,
    ],
)
def test_patterns_too_large_for_any_engine_are_errors(pattern):
    began = time.perf_counter()
    with pytest.raises(ExpressionError):
        matches("a", pattern)
    assert time.perf_counter() - began < 2


def test_patterns_from_data_are_not_all_remembered():
    compiled.cache_clear()
    for number in range(500):
        assert matches(f"x{number}y", f"x({number}|a)+y")
    assert compiled.cache_info().currsize <= 64


def test_what_is_replaced_does_not_exceed_the_limit():
    bounds = Bounds(Limits(value_bytes=1000))
    assert len(replace("a" * 100, "a", "b" * 10, "", bounds)) == 1000
    for text, replacement in (("a" * 101, "b" * 10), ("a" * 100, "é" * 6), ("a" * 100, "$0" * 11)):
        with pytest.raises(LimitError):
            replace(text, "a", replacement, "", bounds)
    assert bounds.refused == 3


def test_characters_differ_from_their_variants_in_case_only():
    variants = characters.with_case_variants(((ord("k"), ord("k")),))
    assert [chr(a) for a, b in variants for a in range(a, b + 1)] == ["K", "k", "\u212a"]
