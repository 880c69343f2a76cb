"""Chains of BIND, FILTER and projections: what a program gives is what the definition by rows gives, for any numbers.

The program is asked with numbers at the edges of what ids, words and 128 bits hold; the naive model takes one solution at
a time through `expressions.rows`.
"""

from __future__ import annotations

from collections import Counter
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode, Variable

from millstream.kernels.aggregates.term_references import TermReferences
from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.kernels.rows.definition import Definition
from millstream.kernels.rows.row_operations import Operation
from millstream.kernels.rows.row_program import RowProgram
from millstream.language import algebra as a
from millstream.operators.expressions import Bounds, Evaluator
from millstream.operators.expressions.functions.clock import now
from millstream.operators.expressions.rows import RowCompiler
from millstream.operators.expressions.values.comparison import effective_boolean
from millstream.operators.expressions.values.numbers import spell_double
from millstream.operators.expressions.values.values import XSD, ExpressionError, read_term
from millstream.operators.rowwise import row_wise
from millstream.operators.ticks import Deltas
from millstream.plan.nodes import Extend, Filter, Node, Project, Rows

A, B, C, D, E = (Variable(name) for name in "abcde")


def typed(lexical: str, datatype: str) -> Literal:
    return Literal(lexical, datatype=NamedNode(XSD + datatype))


EDGES = [0, 1, -1, 5, 10, 2**53 - 1, 2**53, -(2**53), 2**58 - 1, 2**58, -(2**58), 2**63, 10**18, -(10**27)]
integers = st.one_of(st.integers(-20, 20), st.sampled_from(EDGES), st.integers(-(2**64), 2**64))
decimals = st.builds(lambda n, s: typed(f"{Decimal(n).scaleb(-s):f}", "decimal"), integers, st.integers(0, 22))
doubles = st.one_of(
    st.sampled_from(["0", "-0.0", "1.50", "1e16", "0.1", "-2.5", "2.5", "1e308", "5e-324", "1e400", "9007199254740993"]),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.integers(-(10**6), 10**6).map(lambda n: repr(n / 1000)),
).map(lambda text: typed(text, "double"))
numbers = st.one_of(integers.map(lambda n: typed(str(n), "integer")), decimals, doubles)
others = st.sampled_from(
    [
        typed("1.50", "decimal"),
        typed("01", "integer"),
        typed("1.5", "float"),
        typed("NaN", "double"),
        typed("-INF", "double"),
        typed("1e", "double"),
        typed("2", "byte"),
        typed("true", "boolean"),
        typed("2013-01-01T00:00:00", "dateTime"),
        typed("x", "integer"),
        typed("+5.", "decimal"),
        typed("-.25", "decimal"),
        typed(".", "decimal"),
        typed("1.2.3", "decimal"),
        typed(" 7.5", "decimal"),
        typed("12345678901234567890.", "integer"),
        typed("-0000000000000000000000000000000000000000000.5", "decimal"),
        typed("123456789012345678901234567890123456", "integer"),
        typed("1234567890123456789012345678901234567", "integer"),
        typed("99999999999999999999999999999999999999999", "integer"),
        Literal("a"),
        Literal("b", language="en"),
        NamedNode("x:a"),
    ]
)
terms = st.one_of(numbers, numbers, others)
leaves = st.one_of(st.sampled_from((A, B, C)), numbers)


def grown(inner: st.SearchStrategy[a.Expression]) -> st.SearchStrategy[a.Expression]:
    return st.one_of(
        st.builds(a.Arithmetic, st.sampled_from("+-*/"), inner, inner),
        st.builds(a.Arithmetic, st.sampled_from("+-*/"), inner, inner),
        st.builds(a.UnaryMinus, inner),
        st.builds(a.UnaryPlus, inner),
        st.builds(lambda f, x: a.FunctionCall(f, (x,)), st.sampled_from(["ABS", "CEIL", "FLOOR", "ROUND"]), inner),
        st.builds(lambda *x: a.FunctionCall("COALESCE", x), inner, inner),
        st.builds(lambda x, y, z: a.FunctionCall("IF", (a.Comparison("<", x, y), y, z)), inner, inner, inner),
    )


formulas = st.recursive(grown(leaves), grown, max_leaves=5)
operands = st.deferred(lambda: st.one_of(formulas, leaves))
compared = st.builds(
    a.Comparison,
    st.sampled_from(["=", "!=", "<", ">", "<=", ">="]),
    operands,
    st.one_of(operands, others),
)
kinds = st.sampled_from(["ISIRI", "ISURI", "ISBLANK", "ISLITERAL", "ISNUMERIC"])
asked = st.one_of(
    st.builds(lambda f, x: a.FunctionCall(f, (x,)), kinds, operands),
    st.builds(lambda x, y: a.FunctionCall("SAMETERM", (x, y)), operands, st.one_of(leaves, others)),
    st.builds(lambda x, y: a.In(x, tuple(y)), leaves, st.lists(st.one_of(leaves, others), max_size=3)),
)
tests = st.recursive(
    st.one_of(compared, compared, asked),
    lambda inner: st.one_of(st.builds(a.And, inner, inner), st.builds(a.Or, inner, inner), st.builds(a.Not, inner)),
    max_leaves=3,
)
solutions = st.lists(st.tuples(*[st.one_of(terms, st.none())] * 3), min_size=1, max_size=6)


def value_of(expression: a.Expression, names: tuple[Variable, ...], row: tuple[str | None, ...]) -> str | None:
    """The definition: one solution, in N-Triples syntax."""
    compiled = RowCompiler({v: i for i, v in enumerate(names)}, now(0), None, Bounds()).compile(expression)
    try:
        return compiled([None if text is None else read_term(text) for text in row]).text()
    except ExpressionError:
        return None


def passes(expression: a.Expression, names: tuple[Variable, ...], row: tuple[str | None, ...]) -> bool:
    value = value_of(expression, names, row)
    try:
        return value is not None and effective_boolean(read_term(value))
    except ExpressionError:
        return False


def model(chain: list[Node], rows: Counter[tuple[str | None, ...]]) -> Counter[tuple[str | None, ...]]:
    names = chain[0].input.variables
    for node in chain:
        found: Counter[tuple[str | None, ...]] = Counter()
        for row, weight in rows.items():
            match node:
                case Extend(_, _, expression):
                    found[(*row, value_of(expression, names, row))] += weight
                case Filter(_, expression):
                    if passes(expression, names, row):
                        found[row] += weight
                case Project(_, columns):
                    found[tuple(row[names.index(c)] if c in names else None for _, c in columns)] += weight
        rows, names = found, node.variables
    return rows


def applied(
    chain: list[Node], batches: list[list[tuple[tuple[Literal | NamedNode | None, ...], int]]]
) -> Counter[tuple[str | None, ...]]:
    """What the operator made of batches of rows with weights, added up; all it kept is let go at the end."""
    dictionary = Dictionary()
    references = TermReferences(dictionary)
    operator = row_wise([Deltas(width=3)], len(chain[-1].variables), chain, Evaluator(dictionary), references)
    total: Counter[tuple[str | None, ...]] = Counter()
    for number, rows in enumerate(batches):
        ids = [[-1 if t is None else dictionary.encode_one(str(t)) for t in row] for row, _ in rows]
        columns = np.array(ids, np.int64).reshape(len(rows), 3)
        tick = np.full(len(rows), number * 4 + 1, np.int64)
        found = operator.run(Deltas(columns, tick, tick, np.array([w for _, w in rows], np.int64)))
        texts = [dictionary.decode(np.ascontiguousarray(column)).to_pylist() for column in found.columns.T]
        for row, weight in zip(zip(*texts, strict=True), found.weight.tolist(), strict=True):
            total[row] += weight
    operator.close(len(batches) * 4)
    return Counter({row: weight for row, weight in total.items() if weight})


def chain_of(first: a.Expression, test: a.Expression, second: a.Expression, chosen: tuple[Variable, ...]) -> list[Node]:
    start = Rows((A, B, C), ())
    extended = Extend(start, D, first)
    filtered = Filter(extended, test)
    again = Extend(filtered, E, a.Arithmetic("+", D, second))
    return [extended, filtered, again, Project(again, tuple((v, v) for v in chosen))]


@settings(max_examples=300, deadline=None)
@given(
    formulas,
    tests,
    formulas,
    st.sampled_from([(A, B, C, D, E), (D, E), (E, A), (D,), (A, Variable("never"))]),
    st.lists(st.tuples(st.tuples(*[st.one_of(terms, st.none())] * 3), st.integers(1, 2)), min_size=1, max_size=6),
)
@example(
    a.FunctionCall("ROUND", (a.Arithmetic("/", a.Arithmetic("-", typed("41.474937", "decimal"), A), B),)),
    a.Comparison(">", D, typed("0", "integer")),
    A,
    (D, E),
    [((typed("40.716976", "decimal"), typed("0.005986", "decimal"), None), 1)],
)
@example(  # a decimal zero has no sign
    a.UnaryMinus(typed("0", "double")),
    a.FunctionCall("ISLITERAL", (A,)),
    a.UnaryMinus(typed("0", "decimal")),
    (A, B, C, D, E),
    [((typed("0", "integer"), None, None), 1)],
)
def test_a_chain_gives_what_its_nodes_give_row_by_row(first, test, second, chosen, rows) -> None:  # type: ignore[no-untyped-def]
    chain = chain_of(first, test, second, chosen)
    counted: Counter[tuple[str | None, ...]] = Counter()
    distinct: dict[tuple[str | None, ...], tuple[tuple[Literal | NamedNode | None, ...], int]] = {}
    for row, weight in rows:
        texts = tuple(None if t is None else str(t) for t in row)
        counted[texts] += weight
        distinct[texts] = (row, counted[texts])
    batch = list(distinct.values())
    wanted = model(chain, counted)
    assert applied(chain, [batch]) == wanted
    assert applied(chain, [[row] for row in batch]) == wanted
    taken_back = [(row, -weight) for row, weight in batch]
    assert applied(chain, [batch, taken_back]) == Counter()


NEAR = [
    *(typed(str(n), "integer") for n in (-1, 0, 1, 2, 2**53, 2**58 - 1, 2**58)),
    *(
        typed(n, "decimal")
        for n in ("-1.0", "0", "0.0", "0.5", "1", "1.000000000000000001", "1.5", "2.00", "9007199254740992")
    ),
    *(typed(n, "double") for n in ("0", "1.5", "NaN")),
    typed("01", "integer"),
    typed("true", "boolean"),
    typed("x", "integer"),
    Literal("1"),
    NamedNode("x:a"),
    None,
]


@pytest.mark.parametrize("operator", ["=", "!=", "<", ">", "<=", ">="])
@pytest.mark.parametrize("constant", [term for term in NEAR if term is not None], ids=str)
def test_a_column_is_compared_with_a_constant_as_row_by_row(operator: str, constant: Literal | NamedNode) -> None:
    start = Rows((A, B, C), ())
    given = Filter(start, a.Comparison(operator, A, constant))
    computed = Extend(start, D, a.Arithmetic("*", typed("1.0", "decimal"), A))
    rows = [((term, None, None), 1) for term in NEAR]
    counted = Counter({(None if t is None else str(t), None, None): 1 for t in NEAR})
    for chain in ([given], [computed, Filter(computed, a.Comparison(operator, D, constant))]):
        assert applied(chain, [rows]) == model(chain, counted)


MOMENTS = [
    typed(text, "dateTime")
    for text in ("2013-01-01T00:00:00", "2013-01-01T00:00:01", "2013-01-01T00:00:00Z", "2013-01-01T01:00:00+01:00", "never")
]


@pytest.mark.parametrize("operator", ["=", "!=", "<", ">", "<=", ">="])
def test_two_columns_are_compared_as_row_by_row(operator: str) -> None:
    start = Rows((A, B, C), ())
    computed = Extend(start, D, a.Arithmetic("*", typed("1.0", "decimal"), B))
    terms = [*NEAR, *MOMENTS, Literal("a", language="en"), Literal("b", language="de"), typed("false", "boolean")]
    rows = [((one, other, None), 1) for one in terms for other in terms]
    counted = Counter({tuple(None if t is None else str(t) for t in row): weight for row, weight in rows})
    for chain in (
        [Filter(start, a.Comparison(operator, A, B))],
        [computed, Filter(computed, a.Comparison(operator, D, A))],
    ):
        assert applied(chain, [rows]) == model(chain, counted)


@pytest.mark.parametrize("least", [-1, 3, 299, 300, 511, 900])
def test_many_rows_are_as_each_of_them(least: int) -> None:
    start = Rows((A, B, C), ())
    doubled = Extend(start, D, a.Arithmetic("*", typed("2", "integer"), A))
    filtered = Filter(doubled, a.Comparison(">", A, typed(str(least), "integer")))
    chain = [doubled, filtered, Project(filtered, ((B, B), (D, D), (E, E), (A, A)))]
    rows = [((typed(str(n % 700), "integer"), typed(str(n), "integer"), None), 1 + n % 3) for n in range(900)]
    counted = Counter({tuple(None if t is None else str(t) for t in row): weight for row, weight in rows})
    assert applied(chain, [rows]) == model(chain, counted)


@pytest.mark.parametrize(
    ("left", "right", "quotient"),
    [
        ("1", "3", "0.333333333333333333"),
        ("-2", "3", "-0.666666666666666666"),
        ("7", "-1", "-7"),
        ("0.000000000000000001", "10", "0"),
    ],
)
def test_a_quotient_is_cut_after_18_digits(left: str, right: str, quotient: str) -> None:
    dictionary = Dictionary()
    program = RowProgram(
        dictionary,
        2,
        [(Operation.COLUMN, 0), (Operation.COLUMN, 1), (Operation.DIVIDE, 0), (Operation.STORE, -1)],
        [2],
    )
    ids = [dictionary.encode_one(str(typed(text, "decimal"))) for text in (left, right)]
    found, places = program.run(np.array([ids], np.int64))
    assert places.tolist() == [0]
    assert dictionary.decode(np.ascontiguousarray(found[:, 0])).to_pylist() == [str(typed(quotient, "decimal"))]


def test_what_is_computed_again_has_an_id_whatever_was_forgotten() -> None:
    dictionary = Dictionary()
    third = [(Operation.COLUMN, 0), (Operation.COLUMN, 1), (Operation.DIVIDE, 0), (Operation.STORE, -1)]
    program = RowProgram(dictionary, 2, third, [2])
    three = dictionary.encode_one(str(typed("3", "integer")))
    given = np.array([[dictionary.encode_one(str(typed(str(n), "integer"))), three] for n in range(1, 3000, 3)], np.int64)
    spelled = [str(typed(f"{n // 3}.333333333333333333", "decimal")) for n in range(1, 3000, 3)]
    seen = set()
    for turn in range(6):
        found, places = program.run(given)
        ids = np.ascontiguousarray(found[:, 0])
        dictionary.check(ids)
        assert len(places) == len(given)
        assert dictionary.decode(ids).to_pylist() == spelled
        seen.add(ids.tobytes())
        if turn % 2:
            # All of it goes, and other terms take its numbers.
            dictionary.forget_before((turn + 1) * 100)
            dictionary.settle()
            dictionary.sweep(1 << 20)
            dictionary.encode([f'"{turn} {n}"' for n in range(2000)])
            dictionary.settle()
    assert len(seen) == 3


@settings(max_examples=300, deadline=None)
@given(numbers, numbers)
@example(typed("5", "integer"), typed("2", "integer"))
@example(typed("-5", "integer"), typed("2", "integer"))
@example(typed("5", "integer"), typed("-2", "integer"))
@example(typed("0.3", "decimal"), typed("0.2", "decimal"))
@example(typed("-0.5", "decimal"), typed("1.000000000000000001", "decimal"))
@example(typed("0.000001", "decimal"), typed("0.000002", "decimal"))
@example(typed("0.0000000000001", "decimal"), typed("9007199254740991", "integer"))
@example(typed("2305843009213693951", "integer"), typed("1", "integer"))
@example(typed("0", "integer"), typed("7", "decimal"))
@example(typed("7", "integer"), typed("0", "decimal"))
@example(typed("7", "integer"), typed("2.0", "double"))
def test_a_quotient_is_rounded_as_row_by_row(left: Literal, right: Literal) -> None:
    start = Rows((A, B, C), ())
    for divisor in (B, right):
        chain = [Extend(start, D, a.FunctionCall("ROUND", (a.Arithmetic("/", A, divisor),)))]
        assert applied(chain, [[((left, right, None), 1)]]) == model(chain, Counter({(str(left), str(right), None): 1}))


def line_of(first: a.Expression, links: list[tuple[str, a.Expression]]) -> a.Expression:
    """Calculations from left to right; a quotient is rounded."""
    for operator, operand in links:
        first = a.Arithmetic(operator, first, operand)
        if operator == "/":
            first = a.FunctionCall("ROUND", (first,))
    return first


@settings(max_examples=300, deadline=None)
@given(
    leaves,
    st.lists(st.tuples(st.sampled_from("+-*/"), leaves), min_size=1, max_size=4),
    st.lists(st.tuples(st.sampled_from("+-*/"), leaves), min_size=1, max_size=3),
    solutions,
)
@example(
    typed("41.474937", "decimal"),
    [("-", A), ("*", typed("2", "integer")), ("/", typed("0.005986", "decimal"))],
    [("+", B)],
    [(typed("40.75", "decimal"), typed("0.50", "decimal"), None), (typed("42", "integer"), None, None)],
)
@example(  # at the edge of what an id holds
    A,
    [("+", typed("1", "integer"))],
    [("-", typed("0.000000000000000001", "decimal"))],
    [(typed(str(n), "integer"), None, None) for n in (2**53 - 1, 2**58 - 2, 2**58 - 1, -(2**58), -1, 0)],
)
def test_a_line_of_calculations_is_as_row_by_row(first, links, more, rows) -> None:  # type: ignore[no-untyped-def]
    line = Extend(Rows((A, B, C), ()), D, line_of(first, links))
    chain = [line, Extend(line, E, line_of(D, more))]
    counted = Counter(tuple(None if t is None else str(t) for t in row) for row in rows)
    assert applied(chain, [[(row, 1) for row in rows]]) == model(chain, counted)


def test_quotients_that_come_and_go_are_as_each_of_them() -> None:
    chain = [Extend(Rows((A, B, C), ()), D, a.Arithmetic("/", A, B))]
    pairs = [(typed(str(n), "integer"), typed(str(m), "integer"), None) for n in range(60) for m in range(12)]
    # More than are remembered at first, some of them by zero; all go as they came, and a few stay.
    batches = [[(row, 1) for row in pairs], [(row, -1) for row in reversed(pairs)], [(row, 2) for row in pairs[::7]]]
    counted = Counter({tuple(None if t is None else str(t) for t in row): 2 for row in pairs[::7]})
    assert applied(chain, batches) == model(chain, counted)


def test_a_quotient_whose_term_was_forgotten_is_calculated_again() -> None:
    dictionary = Dictionary()
    steps = [(Operation.COLUMN, 0), (Operation.COLUMN, 1), (Operation.DIVIDE, 0), (Operation.STORE, -1)]
    program = RowProgram(dictionary, 2, steps, [2])
    pairs = [(n, m) for n in range(1, 30) for m in (3, 7, 9)]
    given = [[dictionary.encode_one(str(typed(str(n), "integer"))) for n in pair] for pair in pairs]

    def quotients() -> tuple[list[int], list[str]]:
        ids = program.run(np.array(given, np.int64))[0][:, 0]
        return ids.tolist(), dictionary.decode(np.ascontiguousarray(ids)).to_pylist()

    first, spelled = quotients()
    assert quotients() == (first, spelled)
    for number in range(5):
        dictionary.forget_before(number + 1)
        dictionary.settle()
        # Others take the numbers of forgotten terms.
        for other in range(200):
            dictionary.encode_one(f'"other {number} {other}"')
        again, texts = quotients()
        assert texts == spelled
    assert set(again) != set(first)


FLOATS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.integers(-1074, 1023).map(lambda n: 2.0**n),
    st.integers().map(float),
)


@settings(max_examples=500, deadline=None)
@given(FLOATS)
@example(-0.0)
@example(1e22)
@example(1.7976931348623157e308)
@example(5e-324)
@example(9007199254740993.0)
def test_a_double_is_spelled_by_its_fewest_digits(number: float) -> None:
    dictionary = Dictionary()
    steps = [(Operation.COLUMN, 0), (Operation.PLUS, 0), (Operation.STORE, -1)]
    given = dictionary.encode_one(str(typed(repr(number), "double")))
    found, _ = RowProgram(dictionary, 1, steps, [1]).run(np.array([[given]], np.int64))
    assert dictionary.decode_one(found[0, 0]) == str(typed(spell_double(number), "double"))


@pytest.mark.parametrize(
    ("steps", "outputs"),
    [
        ([(Operation.ADD, 0)], []),
        ([(Operation.COLUMN, 1), (Operation.STORE, -1)], []),
        ([(Operation.COLUMN, 0)], []),
        ([(Operation.STORE, -1)], []),
        ([(Operation.COLUMN, 0), (Operation.COLUMN, 0), (Operation.STORE, -1), (Operation.TEST, -1)], []),
        ([(Operation.COLUMN, 0), (Operation.STORE, 1)], []),
        ([(Operation.DEFINED, 1), (Operation.STORE, -1)], []),
        ([(Operation.DEFINED, -1), (Operation.STORE, -1)], []),
        ([(Operation.COLUMN, 0), (Operation.MEMBER, 1), (Operation.TEST, -1)], []),
        ([(Operation.COLUMN, 0), (Operation.SKIP_IF_TRUE, 0), (Operation.TEST, -1)], []),
        ([(Operation.COLUMN, 0), (Operation.SKIP_IF_TRUE, 2), (Operation.TEST, -1)], []),
        ([(Operation.COLUMN, 0), (Operation.SKIP_IF_TRUE, 1), (Operation.TEST, -1)], []),
        ([(Operation.COLUMN, 0), (Operation.SKIP_IF_FALSE, -1), (Operation.TEST, -1)], []),
        ([(99, 0)], []),
        ([], [1]),
        ([], [-2]),
    ],
)
def test_a_program_that_makes_no_sense_is_refused(steps: list[tuple[int, int]], outputs: list[int]) -> None:
    dictionary = Dictionary()
    definition = Definition(dictionary, lambda ids: ids[0], [0])
    with pytest.raises(ValueError, match=r"there is no|takes more|neither stored"):
        RowProgram(dictionary, 1, steps, outputs, [definition], [[1]])


def test_a_definition_of_a_column_that_is_not_there_is_refused() -> None:
    dictionary = Dictionary()
    definition = Definition(dictionary, lambda ids: ids[0], [1])
    with pytest.raises(ValueError, match="there is no column 1"):
        RowProgram(dictionary, 1, [(Operation.DEFINED, 0), (Operation.TEST, -1)], [], [definition])


def test_a_definition_is_asked_once_for_equal_terms_while_ids_stand_for_them() -> None:
    dictionary = Dictionary()
    asked: list[tuple[int, ...]] = []

    def first(ids: tuple[int, ...]) -> int:
        asked.append(ids)
        return ids[0]

    definition = Definition(dictionary, first, [1, 0])
    program = RowProgram(dictionary, 2, [(Operation.DEFINED, 0), (Operation.STORE, -1)], [2], [definition])
    a, b = dictionary.encode(['"a"', '"b"']).tolist()
    rows = np.array([[a, b], [a, b], [b, a], [a, -1], [a, -1], [a, b]], np.int64)
    assert program.run(rows)[0][:, 0].tolist() == [b, b, a, -1, -1, b]
    assert asked == [(b, a), (a, b), (-1, a), (-1, a)]
    dictionary.settle()
    program.run(rows[:1])
    assert len(asked) == 5


@pytest.mark.parametrize("given", [-2, 1 << 70, "x", None])
def test_what_is_no_id_is_not_taken_from_a_definition(given: object) -> None:
    dictionary = Dictionary()
    definition = Definition(dictionary, lambda ids: given, [0])  # type: ignore[arg-type,return-value]
    program = RowProgram(dictionary, 1, [(Operation.DEFINED, 0), (Operation.STORE, -1)], [1], [definition])
    with pytest.raises((ValueError, OverflowError, TypeError)):
        program.run(np.array([[5]], np.int64))


def test_a_row_that_no_step_decides_needs_a_definition() -> None:
    dictionary = Dictionary()
    program = RowProgram(dictionary, 1, [(Operation.COLUMN, 0), (Operation.ABS, 0), (Operation.STORE, -1)], [1])
    with pytest.raises(ValueError, match="only a definition"):
        program.run(np.array([[dictionary.encode_one(str(typed("P1D", "duration")))]], np.int64))


def test_an_operand_that_decides_nothing_is_not_asked_for() -> None:
    evaluator = Evaluator(Dictionary())
    number, text = (evaluator.dictionary.encode_one(t) for t in (str(typed("1", "integer")), '"x"'))
    asked: list[a.Expression] = []
    writer = evaluator.writer([A, B])
    with pytest.MonkeyPatch.context() as patched:
        define = evaluator.definition
        patched.setattr(
            evaluator, "definition", lambda *of, **how: lambda ids: asked.append(of[0]) or define(*of, **how)(ids)
        )
        hashed = a.Comparison("!=", a.FunctionCall("MD5", (B,)), Literal("x"))
        writer.test(a.And(a.Comparison(">", A, typed("1", "integer")), hashed))
        program = writer.program()
    assert program.run(np.array([[number, text]], np.int64))[1].tolist() == []
    assert asked == []
    higher = evaluator.dictionary.encode_one(str(typed("2", "integer")))
    assert program.run(np.array([[higher, text]], np.int64))[1].tolist() == [0]
    assert asked == [hashed]
