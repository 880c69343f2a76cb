"""GROUP BY, against recomputing every group after every change.

Random histories over terms of one family catch what a family needs: numbers inside ids, numbers of any size, floats with
infinities and NaN, any terms and errors. The outside engine judges the aggregates of fixed lists; where it overflows,
exact fractions do.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode, RdfFormat, Store, parse

from millstream.kernels.aggregates.groups import GroupTable
from millstream.kernels.aggregates.term_references import TermReferences
from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.kernels.dictionary.kinds import Kind
from millstream.limits import DEFAULT_LIMITS
from millstream.operators.aggregates.accumulators import AggregateSpec, accumulator_of
from millstream.operators.expressions import Bounds
from millstream.operators.expressions.functions import arithmetic
from millstream.operators.expressions.values import numbers
from millstream.operators.expressions.values.values import (
    DECIMAL,
    DOUBLE,
    FLOAT,
    XSD,
    Space,
    Value,
    computed,
    integer,
    read_term,
    string,
)
from millstream.operators.ordering import Key, order_key, term_key
from millstream.operators.ticks import Deltas
from tests.reference import median

Texts = list[str | None]
INLINED_IDS = (Kind.TYPED + 1) << 59
"""From here on ids have their value in them."""


def value_key(value: Value) -> tuple[Key, Key]:
    """The solution order, ties broken by the term order."""
    return order_key(value), term_key(value)


def typed(lexical: str, datatype: str) -> str:
    return f'"{lexical}"^^<{XSD}{datatype}>'


def integers(*values: object) -> list[str]:
    return [typed(str(v), "integer") for v in values]


def decimals(*values: str) -> list[str]:
    return [typed(v, "decimal") for v in values]


INLINED = [
    *integers(0, 1, -1, 2, 3, 10, 1000003, -(2**58) + 1, 2**58 - 1),
    *decimals("1", "1.0", "1.00", "-0.5", "2.25", "0.1"),
]
INLINED += decimals("0.000000000000000001", "9007199254740991", "-9007199254740.991")
LARGE = integers(10**40, -(10**40), 2**58, "01", "+1", "-0")
LARGE += decimals("0.1234567890123456789012", "99999999999999999999.5", "01.0")
LARGE += [typed("7", "byte"), typed("-3", "int")]
FLOATING = [typed(v, "double") for v in ("1.5e0", "-0.0", "1e308", "1.7e308", "5e-324", "1", "0.1")]
FLOATING += [typed(v, "float") for v in ("0.1", "16777216", "3.4e38", "1e-45")]
DOUBLES = [typed(v, "double") for v in ("0.1", "0.2", "-0.3", "1.50", "+2.", ".5E+1", "1e16", "-1e16", "3", "1e-7", "-0.0")]
DOUBLES += [typed(v, "double") for v in ("1.7e308", "-1.7e308", "5e-324", "-5e-324", "2.2250738585072014e-308", "1e300")]
SPECIAL = [typed(v, t) for v in ("INF", "-INF", "NaN") for t in ("double", "float")]
OTHERS = ["<http://x/a>", "<http://x/b>", "_:b", '"a"', '"b"', '"10"', '"a"@en', '"a"@fr', typed("true", "boolean")]
OTHERS += [typed("1", "boolean"), typed("x", "integer"), '"z"^^<http://x/t>', typed("2020-01-01", "date")]
OTHERS += [typed(f"2020-01-01T00:00:00{zone}", "dateTime") for zone in ("", "Z", "+05:00", ".5Z")]
OTHERS += [typed(v, "duration") for v in ("P1D", "PT5H", "P1M", "P30D")]
WRITTEN = ['""', '""@en', r'"\""', r'"\\"', r'"a\nb"', r'"\t\u0000\u007F"', '"é😀"', r'"\""@en', r'"\"^^<\""^^<http://x/t>']

FAMILIES: dict[str, Texts] = {
    "inlined": list(INLINED),
    "exact": [*INLINED, *LARGE],
    "doubles": list(DOUBLES),
    "mostly doubles": [*DOUBLES, *DOUBLES, typed("1e400", "double"), *INLINED[:4], *SPECIAL[:3], FLOATING[-1], '"a"', None],
    "finite": [*INLINED[:12], *LARGE[:4], *FLOATING],
    "numbers": [*INLINED[:6], *FLOATING, *SPECIAL],
    "any": [*INLINED[:6], *LARGE, *FLOATING[:3], *OTHERS],
    "errors": [*INLINED[:4], *OTHERS[:4], None, None, None],
    "written": [*WRITTEN, *INLINED[:4], *OTHERS[:2], *OTHERS[3:7]],
}
FUNCTIONS = ("COUNT", "SUM", "AVG", "MIN", "MAX", "SAMPLE", "MEDIAN", "GROUP_CONCAT")
SPECS = tuple(AggregateSpec(f, 2, distinct, "|") for f in FUNCTIONS for distinct in (False, True))
SPECS += tuple(AggregateSpec("GROUP_CONCAT", 2, False, separator) for separator in ("", '"\\', "\n", ", \u00e9"))


# The model: an aggregate of a list of terms, naively.


@cache
def value_of(text: str) -> Value:
    return read_term(text)


@cache
def place_in_term_order(text: str) -> tuple[Any, ...]:
    """As the reference's term order, which takes no numbers beyond the outside engine's."""
    value = value_of(text)
    if not value.is_literal:
        return (1 if value.space == Space.BLANK else 2, value.value)
    rest = (value.lexical, value.language, value.datatype)
    if not value.is_numeric:
        return (4, *rest)
    number = float(value.lexical.lower())
    return (3, math.isnan(number), 0.0 if math.isnan(number) else number, *rest)


def exact_sum(values: list[Value]) -> Value:
    space = max(value.space for value in values)
    if space <= DECIMAL:
        total = sum(Fraction(v.value) for v in values)
        if space != DECIMAL:
            return integer(int(total))
        return computed(DECIMAL, Decimal(int(total * 10**30)).scaleb(-30, numbers.EXACT))
    special = {v.value for v in values if v.space >= FLOAT and not math.isfinite(v.value)}
    if special:
        value = math.nan if any(map(math.isnan, special)) or len(special) > 1 else special.pop()
        return computed(space, value)
    return computed(space, nearest(sum((Fraction(v.value) for v in values), Fraction(0)), space))


def nearest(exact: Fraction, space: Space) -> float:
    """By trying the neighbours of an approximation."""
    kind = np.float64 if space == DOUBLE else np.float32
    largest = Fraction(float(np.finfo(kind).max))
    unit = Fraction(float(np.finfo(kind).max) - float(np.nextafter(np.finfo(kind).max, kind(0)))) / 2
    if abs(exact) >= largest + unit:
        return math.inf if exact > 0 else -math.inf
    with np.errstate(all="ignore"):
        start = kind(max(-largest, min(largest, exact)).__float__())
        tried = [kind(v) for v in (start, np.nextafter(start, kind(np.inf)), np.nextafter(start, kind(-np.inf)))]
    finite = [float(v) for v in tried if np.isfinite(v)]
    even = {float(v): int(kind(v).view(np.int64 if kind is np.float64 else np.int32)) % 2 for v in finite}
    found = min(finite, key=lambda v: (abs(Fraction(v) - exact), even[v]))
    return 0.0 if found == 0 and exact == 0 else found


def written(value: Value) -> str:
    """As a dictionary writes it."""
    dictionary = Dictionary()
    return dictionary.decode_one(dictionary.encode_one(value.text()))


def aggregate(spec: AggregateSpec, operands: Texts) -> str | None:
    terms = list(dict.fromkeys(operands)) if spec.distinct else operands
    if spec.function == "COUNT":
        return integer(sum(1 for t in terms if t is not None)).text()
    if any(t is None for t in terms):
        return None
    texts = [t for t in terms if t is not None]
    values = [value_of(t) for t in texts]
    match spec.function:
        case "SUM" | "AVG" | "MEDIAN" if not all(v.is_numeric for v in values):
            return None
        case "SUM" | "AVG" if not values:
            return integer(0).text()
        case "SUM":
            return exact_sum(values).text()
        case "AVG":
            return arithmetic.calculate(Bounds(), "/", exact_sum(values), integer(len(values))).text()
        case "GROUP_CONCAT":
            if any(v.space == Space.BLANK for v in values):
                return None
            joined = (spec.separator or "").join(value_of(t).lexical for t in sorted(texts, key=place_in_term_order))
            return written(string(joined))
    if not values:
        return None
    if spec.function == "SAMPLE":
        return min(texts, key=place_in_term_order)
    ordered = sorted(values, key=value_key)
    if spec.function == "MIN":
        return written(ordered[0])
    if spec.function == "MAX":
        return written(ordered[-1])
    middle = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[middle].text()
    return arithmetic.calculate(
        Bounds(), "/", arithmetic.calculate(Bounds(), "+", ordered[middle - 1], ordered[middle]), integer(2)
    ).text()


Row = tuple[str | None, ...]


def grouped(rows: Counter[Row], keys: int, specs: Iterable[AggregateSpec]) -> Counter[Row]:
    """The output over a multiset of rows whose first columns are the keys."""
    groups: dict[Row, list[Row]] = {} if keys else {(): []}
    for row, count in rows.items():
        groups.setdefault(row[:keys], []).extend([row] * count)
    out: Counter[Row] = Counter()
    for key, members in groups.items():
        results = []
        for spec in specs:
            if spec.operand is None:
                results.append(integer(len(set(members)) if spec.distinct else len(members)).text())
            else:
                results.append(aggregate(spec, [row[spec.operand] for row in members]))
        out[(*key, *results)] += 1
    return out


# The operator, with terms as texts.


class Driven:
    """A table of groups fed with texts; collects the output by change."""

    def __init__(self, width: int, keys: int, specs: tuple[AggregateSpec, ...], bounds: Bounds | None = None) -> None:
        self.dictionary = Dictionary()
        bounds = bounds or Bounds()
        accumulators = [accumulator_of(spec, self.dictionary, tuple(range(width)), bounds) for spec in specs]
        given, references = [Deltas(width=width)], TermReferences(self.dictionary)
        self.group = GroupTable(given, keys + len(specs), tuple(range(keys)), accumulators, references)
        self.keys = keys
        self.width = width
        self.out: dict[tuple[int, int], Counter[Row]] = {}
        self.shown: Counter[int] = Counter()
        self.group.begin(-1, 0)
        self.collect(self.group.out)

    def ids(self, row: Row) -> list[int]:
        return [-1 if text is None else self.dictionary.encode_one(text) for text in row]

    def texts(self, row: Any) -> Row:
        return tuple(None if term_id < 0 else self.dictionary.decode_one(term_id) for term_id in row.tolist())

    def apply(self, changes: list[tuple[int, Counter[Row]]]) -> None:
        listed = [(row, tick, weight) for tick, change in changes for row, weight in change.items()]
        columns = np.array([self.ids(row) for row, _, _ in listed], np.int64).reshape(len(listed), self.width)
        tick, weight = (np.array([entry[i] for entry in listed], np.int64) for i in (1, 2))
        self.collect(self.group.run(Deltas(columns, tick, np.zeros(len(listed), np.int64), weight)))

    def collect(self, deltas: Deltas) -> None:
        order = list(zip(deltas.tick.tolist(), deltas.change.tolist(), strict=True))
        assert order == sorted(order)
        for row, at, weight in zip(deltas.columns, order, deltas.weight.tolist(), strict=True):
            change = self.out.setdefault(at, Counter())
            assert self.texts(row) not in change
            change[self.texts(row)] = weight
        held = {term_id: count for term_id, count in self.held().items() if count}
        for row, weight in zip(deltas.columns[:, self.keys :].tolist(), deltas.weight.tolist(), strict=True):
            self.shown.update(dict.fromkeys(set(row), weight))
        assert held.keys() == {term_id for term_id, count in self.shown.items() if count and 0 <= term_id < INLINED_IDS}

    def held(self) -> dict[int, int]:
        """How often terms are held."""
        ids, _, _, holds = self.dictionary.dump()
        return dict(zip(ids.tolist(), holds.tolist(), strict=True))


def check(history: list[Counter[Row]], cuts: list[int], width: int, keys: int, specs: tuple[AggregateSpec, ...]) -> None:
    """That the output of every change is the difference of what recomputing gives before and after."""
    driven = Driven(width, keys, specs)
    for start, end in zip([0, *cuts], [*cuts, len(history)], strict=True):
        driven.apply([(tick, history[tick]) for tick in range(start, end)])
    rows: Counter[Row] = Counter()
    before = Counter[Row]()
    for tick in range(-1, len(history)):
        rows.update(history[tick] if tick >= 0 else ())
        assert min(rows.values(), default=0) >= 0
        after = grouped(+rows, keys, specs)
        difference = Counter(after)
        difference.subtract(before)
        assert driven.out.get((tick, 0), Counter()) == Counter({r: w for r, w in difference.items() if w}), tick
        before = after
    driven.group.close(len(history))
    assert not any(driven.held().values())


@st.composite
def histories(draw: st.DrawFn, terms: Texts, keys: int) -> list[Counter[Row]]:
    """Changes of rows (keys, another column, operand), among few terms so that what entered leaves again."""
    few = draw(st.lists(st.sampled_from(terms), min_size=1, max_size=6))
    names = ["<http://x/k>", "<http://x/l>", None]
    rows: Counter[Row] = Counter()
    history = []
    for _ in range(draw(st.integers(1, 12))):
        change: Counter[Row] = Counter()
        for _ in range(draw(st.integers(1, 4))):
            if +rows and draw(st.booleans()):
                row = draw(st.sampled_from(sorted(+rows, key=str)))
                weight = -draw(st.integers(1, rows[row]))
            else:
                key = [draw(st.sampled_from(names)) for _ in range(2)]
                row, weight = (*key, draw(st.sampled_from(few))), draw(st.integers(1, 3))
            if row not in change:
                change[row] = weight
                rows[row] += weight
        history.append(change)
    return history


@pytest.mark.parametrize("keys", [0, 1, 2])
@pytest.mark.parametrize("family", FAMILIES)
@settings(deadline=None, max_examples=40)
@given(st.data())
def test_every_change_is_the_difference_of_recomputed_groups(family: str, keys: int, data: st.DataObject) -> None:
    history = data.draw(histories(FAMILIES[family], keys))
    cuts = sorted(data.draw(st.sets(st.integers(1, max(1, len(history) - 1)), max_size=4)) - {len(history)})
    check(history, cuts, 3, keys, SPECS)


@settings(deadline=None, max_examples=60)
@given(histories([*INLINED[:3], None], 1), st.integers(0, 2))
def test_rows_and_distinct_solutions_are_counted(history: list[Counter[Row]], keys: int) -> None:
    check(history, [], 3, keys, (AggregateSpec("COUNT"), AggregateSpec("COUNT", distinct=True)))


@settings(deadline=None, max_examples=30)
@given(histories([*INLINED[:3], None], 2))
def test_groups_need_no_aggregate(history: list[Counter[Row]]) -> None:
    check(history, [], 3, 2, ())


def result_of(function: str, operands: Texts, **rest: Any) -> str | None:
    driven = Driven(1, 0, (AggregateSpec(function, 0, **rest),))
    if operands:
        driven.apply([(0, Counter((t,) for t in operands))])
    ((row, _),) = [(r, w) for r, w in driven.out[max(driven.out)].items() if w > 0]
    return row[0]


def judged(function: str, operands: Texts) -> str | None:
    """What the outside engine makes of an aggregate."""
    terms = " ".join("UNDEF" if t is None else t for t in operands)
    found: Any = Store().query(f"SELECT ({function}(?v) AS ?r) {{ VALUES ?v {{ {terms} }} }}")
    (solution,) = found
    return None if solution["r"] is None else str(solution["r"])


JUDGED: dict[str, Texts] = {
    "nothing": [],
    "integers": list(integers(3, 1, 2, 1)),
    "thirds": list(integers(1, 1, 2)),
    "negative thirds": list(integers(-1, -1, -2)),
    "decimals": list(decimals("0.1", "0.2", "1.25")),
    "integers and decimals": [*integers(1, 5), *decimals("2.5")],
    "floats": [typed("1.5", "float"), *integers(2)],
    "doubles among all": [typed("1.5", "float"), typed("2.25", "double"), *integers(2), *decimals("0.5")],
    "infinities": [typed("INF", "double"), typed("-INF", "double")],
    "NaN": [typed("NaN", "double"), *integers(1)],
    "an error": [*integers(1), None],
    "only an error": [None],
    "a string": [*integers(1), '"a"'],
    "strings": ['"b"', '"a"', '"c"'],
    "strings with languages": ['"b"@en', '"a"@fr'],
    "IRIs and literals": ['"a"', "<http://x/b>", "<http://x/a>", *integers(1)],
    "dates": [typed(f"2020-01-0{day}", "date") for day in (3, 1, 2)],
    "zones": [typed("2020-01-01T10:00:00Z", "dateTime"), typed("2020-01-01T12:00:00+05:00", "dateTime")],
    "booleans": [typed("true", "boolean"), typed("false", "boolean")],
    "durations": [typed("P1D", "duration"), typed("PT5H", "duration"), typed("P1Y", "duration")],
    "ill-typed": [typed("x", "integer"), *integers(1)],
}


@pytest.mark.parametrize("function", ["COUNT", "SUM", "AVG", "MIN", "MAX"])
@pytest.mark.parametrize("case", JUDGED)
def test_the_outside_engine_agrees(case: str, function: str) -> None:
    assert result_of(function, JUDGED[case]) == judged(function, JUDGED[case])


@pytest.mark.parametrize("case", [c for c in JUDGED if c != "NaN"])
def test_the_median_is_that_of_the_reference(case: str) -> None:
    operands = JUDGED[case]
    terms = [None if t is None else NamedNode(t[1:-1]) if t[0] == "<" else _literal(t) for t in operands]
    expected = None if None in terms else median(terms)
    assert result_of("MEDIAN", operands) == (None if expected is None else str(expected))


def _literal(text: str) -> Literal:
    (quad,) = parse(f"<s:> <p:> {text} .", RdfFormat.N_TRIPLES)
    assert isinstance(quad.object, Literal)
    return quad.object


@pytest.mark.parametrize("most", [6, 7, 8, 9, 10, 99])
def test_a_text_that_would_be_too_long_is_an_error(most: int) -> None:
    bounds = Bounds(replace(DEFAULT_LIMITS, value_bytes=most))
    driven = Driven(1, 0, (AggregateSpec("GROUP_CONCAT", 0, separator="|"),), bounds)
    driven.apply([(0, Counter((t,) for t in [r'"\""', '"ab"', '"bcd"']))])
    ((found,),) = (row for row, weight in driven.out[max(driven.out)].items() if weight > 0)
    assert found == (r'"\"|ab|bcd"' if most >= 8 else None)
    assert bounds.refused == (most < 8)


def test_integers_are_summed_beyond_any_size() -> None:
    assert result_of("SUM", [*integers(10**60, 1)]) == integers(10**60 + 1)[0]


def test_a_sum_that_outgrows_the_kernel_comes_back() -> None:
    #  0 +2^62 times the largest integer inside an id   1 as many hundredths of a trillionth   2 -the former
    many, large, small = 1 << 62, integers(2**58 - 1)[0], decimals("0.000000000000000001")[0]
    driven = Driven(1, 0, (AggregateSpec("SUM", 0), AggregateSpec("AVG", 0)))
    driven.apply([(0, Counter({(large,): many})), (1, Counter({(small,): 3})), (2, Counter({(large,): -many}))])
    assert driven.out[0, 0][integers(many * (2**58 - 1))[0], decimals(str(2**58 - 1))[0]] == 1
    assert driven.out[2, 0][decimals("0.000000000000000003")[0], small] == 1


def test_a_sum_of_doubles_does_not_depend_on_their_order() -> None:
    large, small = typed("1e308", "double"), typed("1", "double")
    driven = Driven(1, 0, (AggregateSpec("SUM", 0),))
    driven.apply([(0, Counter({(large,): 5})), (1, Counter({(small,): 1})), (2, Counter({(large,): -5}))])
    assert driven.out[0, 0][(typed("INF", "double"),)] == 1
    assert driven.out[2, 0][(small,)] == 1


def test_a_sum_of_singles_is_rounded_once() -> None:
    # 2^24 + 1 lies between two singles; a little more, and the upper one is nearer.
    little = typed("1e-30", "float")
    assert result_of("SUM", [*integers(2**24 + 1), little]) == typed("16777218", "float")


def test_a_type_is_promoted_only_while_its_cause_is_there() -> None:
    driven = Driven(1, 0, (AggregateSpec("SUM", 0),))
    one, half, double = integers(1)[0], decimals("0.5")[0], typed("1", "double")
    driven.apply([(0, Counter({(one,): 1})), (1, Counter({(half,): 2})), (2, Counter({(double,): 1}))])
    driven.apply([(3, Counter({(double,): -1})), (4, Counter({(half,): -2}))])
    sums = [next(row[0] for row, w in driven.out[t, 0].items() if w > 0) for t in range(5)]
    assert sums == [one, decimals("2")[0], typed("3", "double"), decimals("2")[0], one]


def test_a_negative_quotient_with_eighteen_digits_is_the_term_that_reading_gives() -> None:
    assert result_of("AVG", [*decimals("-0.000000000000000001")]) == decimals("-0.000000000000000001")[0]


@pytest.mark.parametrize(("operands", "least"), [(["1", "1.0", "01"], "01"), (["1.0", "1"], "1"), (["-1.0", "-1"], "-1")])
def test_of_equal_numbers_the_least_is_by_lexical_form(operands: list[str], least: str) -> None:
    terms = [typed(o, "decimal" if "." in o else "integer") for o in operands]
    assert result_of("MIN", [*terms]) == typed(least, "integer")


def test_a_group_that_died_and_revived_within_a_batch_starts_anew() -> None:
    row, other = ("<http://x/k>", *integers(5)), ("<http://x/k>", *integers(7))
    driven = Driven(2, 1, (AggregateSpec("SUM", 1),))
    driven.apply([(0, Counter({row: 1})), (1, Counter({row: -1})), (2, Counter({other: 1}))])
    assert [dict(driven.out[t, 0]) for t in range(3)] == [{row: 1}, {row: -1}, {other: 1}]


def test_a_group_without_keys_outlives_its_rows() -> None:
    driven = Driven(1, 0, (AggregateSpec("COUNT", 0), AggregateSpec("MIN", 0)))
    (one,) = integers(1)
    zero = integers(0)[0]
    driven.apply([(0, Counter({(one,): 1})), (1, Counter({(one,): -1}))])
    assert driven.out == {
        (-1, 0): {(zero, None): 1},
        (0, 0): {(zero, None): -1, (one, one): 1},
        (1, 0): {(one, one): -1, (zero, None): 1},
    }


@pytest.mark.parametrize("spec", [AggregateSpec("SUM"), AggregateSpec("MODE", 0), AggregateSpec("SUM", 9)])
def test_what_cannot_be_computed_is_refused(spec: AggregateSpec) -> None:
    with pytest.raises(ValueError):
        Driven(1, 0, (spec,))
