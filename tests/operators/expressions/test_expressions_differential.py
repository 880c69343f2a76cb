"""Random expressions over random terms, judged by pyoxigraph.

An operation for which pyoxigraph departs from the recommendation is noted while a row is evaluated, and that row is not
compared: DEPARTURES lists them with the reason. Terms are given in the spelling pyoxigraph keeps: it knows no other.
"""

from contextlib import ExitStack, contextmanager
from decimal import Decimal
from functools import cache, partial
from unittest.mock import patch

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode, Store, Variable

from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.language import algebra as a
from millstream.language.printer import Printer
from millstream.operators.expressions import Bounds, Evaluator, rows
from millstream.operators.expressions.functions import arithmetic
from millstream.operators.expressions.functions.clock import now
from millstream.operators.expressions.regex import regex
from millstream.operators.expressions.values import dates
from millstream.operators.expressions.values.values import XSD, ExpressionError, Space, read_term
from tests.operators.expressions.columns import compute, passing

VARIABLES = tuple(Variable(name) for name in "abc")
I64 = range(-(1 << 63), 1 << 63)


def typed(lexical, datatype):
    return Literal(lexical, datatype=NamedNode(XSD + datatype))


# What pyoxigraph does differently -------------------------------------------------------------------------------------


def too_large(value):
    """Beyond 64 bits, or 18 digits behind the point of a 128-bit number."""
    if value.space == Space.INTEGER:
        return value.value not in I64
    if value.space == Space.DECIMAL:
        scaled = value.value.scaleb(18)
        return abs(scaled) >= 1 << 127 or (abs(value.value) < 1 << 40 and scaled != scaled.to_integral_value())
    return False


def unusual_spelling(value):
    return value.space >= Space.BOOLEAN and value.text() != canonical(value.text())


DEPARTURES = {
    "effective_boolean": (
        # It has no effective boolean value for strings with a language, and none for ill-typed numbers and booleans.
        lambda v: v.space == Space.LANGUAGE,
        lambda v: v.space == Space.ILL_TYPED,
    ),
    "compare": (
        # It has no order of booleans, and calls NaN incomparable instead of neither less nor greater.
        lambda op, x, y: op not in "!=" and x.space == y.space == Space.BOOLEAN,
        lambda op, x, y: op not in "!=" and any(isinstance(v.value, float) and v.value != v.value for v in (x, y)),
        # It orders any term with itself.
        lambda op, x, y: op not in "!=" and x.same_term(y),
        # It calls a date with and one without a zone different where that cannot be known.
        lambda op, x, y: op in "!=" and _zone_missing(x, y),
    ),
    "equal": (lambda x, y: _zone_missing(x, y),),
    "calculate": (
        # Integers have 64 bits and decimals 18 digits behind the point; beyond that, errors.
        lambda op, x, y: _inexact(lambda: arithmetic_calculate(op, x, y)),
        # It calculates with dates and durations.
        lambda op, x, y: any(v.space >= Space.DATE_TIME for v in (x, y)),
    ),
    "plus": (lambda x: x.space >= Space.DATE_TIME,),
    "minus": (lambda x: x.space >= Space.DATE_TIME, lambda x: x.space == Space.INTEGER and -x.value not in I64),
    "REPLACE": (
        # It takes replacements in the syntax of Rust, and patterns that match the empty string.
        lambda text, pattern, replacement, *_: any(c in replacement.lexical for c in "$\\"),
        lambda text, pattern, *_: _matches_nothing(pattern),
    ),
    # It keeps numbers, booleans and dates in one spelling, and xsd:byte and such as xsd:integer.
    "STRDT": (lambda text, datatype: datatype.space == Space.IRI and unusual_spelling(strdt(text, datatype)),),
    # It reads strings with white space around numbers and booleans as neither.
    **{
        XSD + name: (lambda v: v.space == Space.STRING and v.value != v.value.strip(),)
        for name in ("boolean", "float", "double", "dateTime", "date", "time")
    },
    XSD + "integer": (
        lambda v: v.space == Space.STRING and v.value != v.value.strip(),
        lambda v: _inexact(lambda: rows_casts[XSD + "integer"](v)),
    ),
    # It multiplies doubles by 10^18 to get decimals, where XPath asks for the nearest one.
    XSD + "decimal": (
        lambda v: v.space == Space.STRING and v.value != v.value.strip(),
        lambda v: v.space in (Space.FLOAT, Space.DOUBLE),
        lambda v: _inexact(lambda: rows_casts[XSD + "decimal"](v)),
    ),
    # It prints doubles of any size without an exponent.
    XSD + "string": (lambda v: v.space in (Space.FLOAT, Space.DOUBLE) and not 1e-6 <= abs(v.value) < 1e6,),
}

arithmetic_calculate, strdt = partial(arithmetic.calculate, Bounds()), partial(rows.BOUNDED["STRDT"], Bounds())
rows_casts = dict(rows.CASTS)


def _zone_missing(x, y):
    return x.space == y.space and isinstance(x.value, dates.Moment) and dates.compare(x.value, y.value) is None


def _inexact(operation):
    try:
        return too_large(operation())
    except ExpressionError:
        return False


def _matches_nothing(pattern):
    try:
        return regex.compiled(pattern.lexical, "").matches("", Bounds())
    except ExpressionError:
        return False


@contextmanager
def noting(departures):
    """Within, every departing operation is noted."""

    def noted(name, function):
        def call(*arguments):
            operands = [each for each in arguments if not isinstance(each, Bounds)]
            if any(departs(*operands) for departs in DEPARTURES[name]):
                departures.append(name)
            return function(*arguments)

        return call

    with ExitStack() as stack:
        for name in DEPARTURES:
            table = next((t for t in (rows.FUNCTIONS, rows.BOUNDED, rows.CASTS) if name in t), None)
            if table is not None:
                stack.enter_context(patch.dict(table, {name: noted(name, table[name])}))
            else:
                module = rows.arithmetic if name in ("calculate", "plus", "minus") else rows
                stack.enter_context(patch.object(module, name, noted(name, getattr(module, name))))
        yield


# Both engines ---------------------------------------------------------------------------------------------------------


@cache
def canonical(text):
    """A term as pyoxigraph keeps it."""
    (solution,) = Store().query(f"SELECT (?x AS ?y) {{ VALUES ?x {{ {text} }} }}")
    return str(solution["y"])


def judge(expression, solutions):
    """What pyoxigraph gives for each solution."""
    values = " ".join(
        f"({n} {' '.join('UNDEF' if t is None else str(t) for t in solution)})" for n, solution in enumerate(solutions)
    )
    query = f"SELECT ?n ({Printer({}).expression(expression)} AS ?r) {{ VALUES (?n ?a ?b ?c) {{ {values} }} }}"
    found = {int(s["n"].value): s["r"] for s in Store().query(query)}
    return [None if found[n] is None else str(found[n]) for n in range(len(solutions))]


def by_rows(expression, solutions):
    """What the definition by rows gives, and which departures it met."""
    results = []
    for solution in solutions:
        departures = []
        with noting(departures):
            compiled = rows.RowCompiler({v: i for i, v in enumerate(VARIABLES)}, now(0), None, Bounds()).compile(expression)
            try:
                value = compiled([None if t is None else read_term(str(t)) for t in solution]).text()
            except ExpressionError:
                value = None
        results.append((value, departures))
    return results


def by_programs(expression, solutions):
    dictionary = Dictionary()
    columns = {
        v: np.array([-1 if s[i] is None else dictionary.encode_one(str(s[i])) for s in solutions], np.int64)
        for i, v in enumerate(VARIABLES)
    }
    evaluator = Evaluator(dictionary)
    ids = compute(evaluator, expression, columns, len(solutions))
    passed = passing(evaluator, expression, columns, len(solutions))
    return dictionary.decode(ids).to_pylist(), passed.tolist()


# Terms and expressions ------------------------------------------------------------------------------------------------

words = st.sampled_from(["", "a", "A", "ab", "aB b", "1", "1.5", "true", "-0", "é", "x:i", "2020-01-01T00:00:00Z", '\n\\"'])
integers = st.one_of(st.integers(-3, 3), st.integers(-(10**6), 10**6), st.sampled_from([2**53 + 1, 2**58, 2**63 - 1]))
decimals = st.builds(lambda n, s: Decimal(n).scaleb(-s), st.integers(-(10**7), 10**7), st.integers(0, 4))
doubles = st.sampled_from("0 -0 1 -1 0.5 2.5 -2.5 1e10 1e-3 0.1 NaN INF -INF 9007199254740992 16777216".split())
moments = st.builds(
    lambda day, clock, zone: f"20{day}T{clock}{zone}",
    st.sampled_from(["20-01-01", "20-01-02", "19-12-31"]),
    st.sampled_from(["00:00:00", "13:30:00", "23:59:59.5"]),
    st.sampled_from(["", "Z", "+01:00", "-14:00", "+05:30"]),
)
terms = st.one_of(
    st.sampled_from([NamedNode("x:a"), NamedNode("x:b"), NamedNode(XSD + "integer"), NamedNode(XSD + "string")]),
    words.map(Literal),
    st.builds(lambda w, tag: Literal(w, language=tag), words, st.sampled_from(["en", "en-gb", "fr"])),
    integers.map(lambda n: typed(str(n), "integer")),
    decimals.map(lambda d: typed(f"{d:f}", "decimal")),
    st.builds(typed, doubles, st.sampled_from(["double", "float"])),
    st.sampled_from(["true", "false"]).map(lambda b: typed(b, "boolean")),
    moments.map(lambda m: typed(m, "dateTime")),
    moments.map(lambda m: typed(m[:10], "date")),
    st.sampled_from(["P1Y", "P13M", "P30D", "PT36H", "-PT5M", "P1M2DT3H"]).map(lambda d: typed(d, "duration")),
    st.builds(typed, words, st.sampled_from(["integer", "dateTime", "boolean", "token"])),
    words.map(lambda w: Literal(w, datatype=NamedNode("x:type"))),
).map(lambda t: read_back(canonical(str(t))))


@cache
def read_back(text):
    value = read_term(text)
    if value.space == Space.IRI:
        return NamedNode(value.value)
    if value.language:
        return Literal(value.lexical, language=value.language)
    return Literal(value.lexical, datatype=NamedNode(value.datatype))


PATTERNS = ["a", "B", "^a", "b$", "a|b", "[a-c]+", "(a)(b)?", ".", "a.?b", "(", "\\d", "\\p{L}", ""]
patterns = st.sampled_from(PATTERNS).map(Literal)
flags = st.sampled_from(["", "i", "s", "m", "x", "q", "si", "z"]).map(Literal)
ONE = [
    *("ABS CEIL FLOOR ROUND DATATYPE LANG STR STRLEN UCASE LCASE ENCODE_FOR_URI ISBLANK ISIRI ISLITERAL".split()),
    *("ISNUMERIC YEAR MONTH DAY HOURS MINUTES SECONDS TIMEZONE TZ MD5 SHA1 SHA256 SHA384 SHA512 IRI".split()),
    *(NamedNode(XSD + n) for n in "boolean integer decimal float double string dateTime date time".split()),
]
TWO = "CONTAINS STRSTARTS STRENDS STRBEFORE STRAFTER STRDT STRLANG SAMETERM LANGMATCHES CONCAT SUBSTR COALESCE".split()


def call(function, *arguments):
    return a.FunctionCall(function, arguments)


def grown(inner):
    return st.one_of(
        st.builds(a.Comparison, st.sampled_from(["=", "!=", "<", ">", "<=", ">="]), inner, inner),
        st.builds(a.Arithmetic, st.sampled_from("+-*/"), inner, inner),
        st.builds(a.And, inner, inner),
        st.builds(a.Or, inner, inner),
        st.builds(a.Not, inner),
        st.builds(a.UnaryMinus, inner),
        st.builds(a.UnaryPlus, inner),
        # pyoxigraph says error instead of false to `?a IN ()`.
        st.builds(a.In, inner, st.lists(inner, min_size=1, max_size=3).map(tuple)),
        st.builds(call, st.sampled_from(ONE), inner),
        st.builds(call, st.sampled_from(TWO), inner, inner),
        st.builds(call, st.sampled_from(["IF", "SUBSTR", "CONCAT", "COALESCE"]), inner, inner, inner),
        st.builds(call, st.just("BOUND"), st.sampled_from(VARIABLES)),
        st.builds(call, st.just("REGEX"), inner, patterns, flags),
        st.builds(call, st.just("REPLACE"), inner, patterns, st.sampled_from(["z", "", "[$1]"]).map(Literal), flags),
    )


leaves = st.one_of(st.sampled_from(VARIABLES), terms)
expressions = st.one_of(grown(leaves), grown(grown(leaves)), st.recursive(leaves, grown, max_leaves=6))
solutions = st.lists(st.tuples(*[st.one_of(terms, st.none())] * 3), min_size=1, max_size=6)


@settings(max_examples=400, deadline=None)
@given(expressions, solutions)
@example(a.Comparison("=", *VARIABLES[:2]), [(typed("16777217", "integer"), typed("16777216", "float"), None)])
def test_values_are_those_of_another_engine(expression, solutions):
    expected = judge(expression, solutions)
    for solution, (value, departures), judged in zip(solutions, by_rows(expression, solutions), expected, strict=True):
        assert departures or value == judged, f"{Printer({}).expression(expression)} for {solution}"


@settings(max_examples=400, deadline=None)
@given(expressions, solutions)
def test_programs_give_what_the_definition_gives(expression, solutions):
    values, passed = by_programs(expression, solutions)
    assert values == [value for value, _ in by_rows(expression, solutions)]
    assert passed == [by_programs(expression, [solution])[1][0] for solution in solutions]


unusual = st.one_of(
    terms,
    st.builds(
        typed,
        st.sampled_from(["01", "+1", "-0", "300", "1.0", ".5", "1e0", "1"]),
        st.sampled_from(["integer", "byte", "decimal", "double", "boolean"]),
    ),
    st.sampled_from(["1.10", "1.1", "100000000000000000000.1", "0.00000000000000000001"]).map(lambda d: typed(d, "decimal")),
    moments.map(lambda m: typed(m.replace("Z", "-00:00"), "dateTime")),
)


@settings(max_examples=400, deadline=None)
@given(expressions, st.lists(st.tuples(*[st.one_of(unusual, st.none())] * 3), min_size=1, max_size=8))
def test_a_batch_gives_what_its_rows_give_alone(expression, solutions):
    values, passed = by_programs(expression, solutions)
    alone = [by_programs(expression, [solution]) for solution in solutions]
    assert values == [value for (value,), _ in alone]
    assert passed == [truth for _, (truth,) in alone]
    assert values == [value for value, _ in by_rows(expression, solutions)]
