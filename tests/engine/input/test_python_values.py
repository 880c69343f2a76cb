"""Python values as objects of triples and in answers: what goes in comes out equal, as pyoxigraph and rdflib spell it."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pyoxigraph as ox
import pytest
import rdflib
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import millstream as ms
from millstream.ingest.triples import coerce_triples

STREAM = "http://e/s"
TEXT = "SELECT ?x ?v WHERE { STREAM <http://e/s> [ALL] { ?x <http://e/p> ?v } }"
some = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))

ZONES = st.none() | st.integers(-14 * 60, 14 * 60).map(lambda minutes: dt.timezone(dt.timedelta(minutes=minutes)))
TERM_BEGINS = ("<", '"', "_:")
PLAIN_TEXT = st.text(st.characters(exclude_categories=["Cs"])).filter(lambda t: not t.lstrip(" \t").startswith(TERM_BEGINS))
TIMES = st.one_of(st.datetimes(timezones=ZONES), st.dates(), st.times(timezones=ZONES), st.timedeltas())
VALUES = st.one_of(
    st.integers(),
    st.integers(-(10**40), 10**40),
    st.booleans(),
    st.floats(allow_nan=False),
    st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**30), max_value=10**30),
    PLAIN_TEXT,
    TIMES,
)


def given_back(values: list[Any]) -> list[Any]:
    """What a query answers about values, each pushed as an element."""
    engine = ms.Engine()
    query = engine.register(TEXT)
    for at_ms, value in enumerate(values):
        engine.push(STREAM, [(f"<http://e/{at_ms}>", "<http://e/p>", value)], at_ms=at_ms)
    return [answer.python()["v"] for answer in query.take()]


def literal_of(value: object) -> ox.Literal:
    [triple] = coerce_triples([(ox.NamedNode("http://e/a"), ox.NamedNode("http://e/p"), value)])
    assert isinstance(triple.object, ox.Literal)
    return triple.object


@some
@given(st.lists(VALUES, max_size=5))
def test_a_value_comes_back_equal_and_of_its_type(values: list[Any]) -> None:
    found = given_back(values)
    assert [(type(value), value) for value in found] == [(type(value), value) for value in values]
    for one, other in zip(found, values, strict=True):
        assert not isinstance(one, dt.datetime | dt.time) or one.utcoffset() == other.utcoffset()


def test_numbers_that_are_none_and_zeros_with_a_sign_come_back() -> None:
    nothing, zero = given_back([math.nan, -0.0])
    assert math.isnan(nothing)
    assert math.copysign(1, zero) == -1


@some
@example(562949953421312.25)
@given(st.one_of(st.integers(-(2**63), 2**63 - 1), st.floats(), st.booleans(), PLAIN_TEXT))
def test_a_literal_is_the_one_that_pyoxigraph_makes(value: Any) -> None:
    found, other = literal_of(value), ox.Literal(value)
    if isinstance(value, float) and math.isfinite(value):
        # Halfway between two shortest spellings each takes another of them.
        assert (found.datatype, float(found.value)) == (other.datatype, float(other.value))
    else:
        assert found == other


@some
@given(st.one_of(st.datetimes(timezones=ZONES), st.dates(), st.integers(), st.booleans(), PLAIN_TEXT))
def test_a_literal_has_the_datatype_and_value_that_rdflib_gives(value: Any) -> None:
    found, other = literal_of(value), rdflib.Literal(value)
    assert found.datatype.value == str(other.datatype or rdflib.XSD.string)
    assert rdflib.Literal(found.value, datatype=other.datatype).value == other.value


@some
@given(TIMES | st.decimals(-999, 999, places=9))
def test_pyoxigraph_reads_the_same_value(value: Any) -> None:
    literal = literal_of(value)
    [found] = ox.Store().query(f"SELECT (<{literal.datatype.value}>(STR({literal})) = {literal} AS ?same) {{}}")  # type: ignore[misc]
    assert found["same"] == ox.Literal(True)


@some
@given(st.lists(st.tuples(st.sampled_from(["<http://e/a>", "_:b"]), VALUES), max_size=4))
def test_tuples_in_a_list_are_what_they_are_one_by_one(items: list[Any]) -> None:
    triples = [(s, "<http://e/p>", o) for s, o in items]
    text = "SELECT CHANGES ?v WHERE { STREAM <http://e/s> [ALL] { ?s <http://e/p> ?v } }"
    answers = []
    for passed in (triples, iter(triples)):
        engine = ms.Engine()
        query = engine.register(text)
        engine.push(STREAM, passed, at_ms=0)
        answers.append(sorted(str(answer.bindings["v"]) for answer in query.take()))
    assert answers[0] == answers[1]


def test_equal_values_are_one_triple_for_insert_and_delete() -> None:
    engine = ms.Engine()
    query = engine.register("SELECT ?v WHERE { <http://e/a> <http://e/p> ?v }")
    engine.insert([("<http://e/a>", "<http://e/p>", value) for value in (Decimal("1.50"), dt.timedelta(hours=24))])
    engine.insert('<http://e/a> <http://e/p> "2.5"^^<http://www.w3.org/2001/XMLSchema#double> .')
    engine.delete([("<http://e/a>", "<http://e/p>", value) for value in (Decimal("1.5"), dt.timedelta(days=1), 2.5)])
    assert query.solutions() == []


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.int64(7), '"7"^^<http://www.w3.org/2001/XMLSchema#integer>'),
        (np.float32(0.5), '"0.5"^^<http://www.w3.org/2001/XMLSchema#double>'),
        (np.bool_(True), '"true"^^<http://www.w3.org/2001/XMLSchema#boolean>'),
        (pd.Timestamp("2024-02-29T12:00:00.5Z"), '"2024-02-29T12:00:00.5Z"^^<http://www.w3.org/2001/XMLSchema#dateTime>'),
        (dt.timedelta(hours=25, microseconds=1), '"P1DT1H0.000001S"^^<http://www.w3.org/2001/XMLSchema#dayTimeDuration>'),
        ("http://e/no brackets", '"http://e/no brackets"'),
        (" 5", '" 5"'),
        ("", '""'),
    ],
)
def test_which_literal_a_value_is(value: object, text: str) -> None:
    assert str(literal_of(value)) == text


def test_a_number_of_thousands_of_digits_is_a_literal_like_any_other() -> None:
    assert len(literal_of(10**5000).value) == 5001


def test_a_string_that_begins_like_a_term_is_that_term() -> None:
    terms = ["<http://e/o>", '"x"@en', ' "7"^^<http://www.w3.org/2001/XMLSchema#integer>', ox.Literal("<b>")]
    assert given_back(terms) == ["http://e/o", "x", 7, "<b>"]


# In answers -------------------------------------------------------------------------------------------------------------


def literal(lexical: str, datatype: str) -> ox.Literal:
    return ox.Literal(lexical, datatype=ox.NamedNode("http://www.w3.org/2001/XMLSchema#" + datatype))


@pytest.mark.parametrize(
    ("term", "value"),
    [
        (ox.NamedNode("http://e/x"), "http://e/x"),
        (ox.Literal("chat", language="fr"), "chat"),
        (literal("007", "byte"), 7),
        (literal("1", "boolean"), True),
        (literal("1.5", "float"), 1.5),
        (literal("2024-02-29T24:00:00", "dateTime"), dt.datetime(2024, 3, 1)),
        # What Python has no exact value for, or what is no value at all, is its text.
        (literal("12024-02-29T00:00:00Z", "dateTime"), "12024-02-29T00:00:00Z"),
        (literal("2024-02-29T00:00:00.1234567", "dateTime"), "2024-02-29T00:00:00.1234567"),
        (literal("2024-02-29Z", "date"), "2024-02-29Z"),
        (literal("P1Y", "yearMonthDuration"), "P1Y"),
        (literal("P99999999999D", "dayTimeDuration"), "P99999999999D"),
        (literal("soon", "dateTime"), "soon"),
        (literal("2024", "gYear"), "2024"),
        (ox.Literal("x", datatype=ox.NamedNode("http://e/own")), "x"),
    ],
)
def test_what_a_term_is_in_python(term: Any, value: Any) -> None:
    assert given_back([term]) == [value]


def test_a_blank_node_is_its_label() -> None:
    [value] = given_back(["_:b"])
    assert value.startswith("_:")


def test_what_other_forms_answer_in_python() -> None:
    engine = ms.Engine()
    asked = engine.register("ASK { ?s <http://e/p> ?o }")
    built = engine.register("CONSTRUCT { ?s <http://e/q> ?o } WHERE { ?s <http://e/p> ?o }")
    chosen = engine.register("SELECT ?subject ?unbound WHERE { ?subject <http://e/p> ?o OPTIONAL { ?o ?x ?unbound } }")
    engine.insert([("<http://e/a>", "<http://e/p>", 5)])
    assert [answer.python() for answer in asked.take() if answer.weight > 0] == [False, True]
    assert [answer.python() for answer in built.take()] == [("http://e/a", "http://e/q", 5)]
    chosen.close()
    assert [answer.python() for answer in chosen.take()] == [{"subject": "http://e/a"}]


# As frames --------------------------------------------------------------------------------------------------------------

COLUMNS: list[tuple[list[Any], str]] = [
    ([1, 2, None], "Int64"),
    ([True, None], "Boolean"),
    ([1, Decimal("2.5")], "Decimal"),
    ([1, 2.5, Decimal(3)], "Float64"),
    (["<http://e/x>", "_:b", 5], "String"),
    ([10**30, 1], "String"),
    ([dt.date(2024, 2, 29), None], "Date"),
    ([dt.datetime(2024, 2, 29)], "Datetime"),
    ([dt.datetime(2024, 2, 29, tzinfo=dt.UTC)], "Datetime UTC"),
    ([dt.datetime(2024, 2, 29, tzinfo=dt.UTC), dt.datetime(2024, 2, 29)], "String"),
    ([dt.time(12, 30)], "Time"),
    ([dt.timedelta(hours=1)], "Duration"),
    ([None], "String"),
]


def frame_query(values: list[Any]) -> ms.ContinuousQuery:
    engine = ms.Engine()
    query = engine.register(
        "SELECT ?s ?v WHERE { STREAM <http://e/s> [ALL] { ?s <http://e/is> ?x OPTIONAL { ?s <http://e/p> ?v } } }"
    )
    for at_ms, value in enumerate(values):
        subject = f"<http://e/{at_ms}>"
        told = [] if value is None else [(subject, "<http://e/p>", value)]
        engine.push(STREAM, [(subject, "<http://e/is>", 1), *told], at_ms=at_ms)
    return query


@pytest.mark.parametrize(("values", "kind"), COLUMNS, ids=lambda value: value if isinstance(value, str) else "")
def test_a_column_of_polars_has_the_type_of_its_values(values: list[Any], kind: str) -> None:
    polars = pytest.importorskip("polars", reason="polars is not installed")
    query = frame_query(values)
    frame = query.to_polars()
    assert frame.columns == ["at_ms", "weight", "s", "v"]
    assert frame["at_ms"].to_list() == list(range(len(values)))
    type_, _, zone = kind.partition(" ")
    assert isinstance(frame.schema["v"], getattr(polars, type_))
    assert not zone or frame.schema["v"].time_zone == zone
    if kind != "String":
        assert frame["v"].to_list() == values
    assert query.take() == []


@pytest.mark.parametrize(
    ("values", "kind"),
    [([1, None], "Int64"), ([2**60, None], "Int64"), ([True], "boolean"), ([0.5], "float64"), (["x"], "text")],
)
def test_a_column_of_pandas_has_the_type_of_its_values(values: list[Any], kind: str) -> None:
    frame = frame_query(values).to_pandas()
    assert list(frame.columns) == ["at_ms", "weight", "s", "v"]
    # Text has a type of its own from pandas 3 on.
    assert str(frame["v"].dtype) in (("object", "str") if kind == "text" else (kind,))
    assert [None if value is pd.NA else value for value in frame["v"]] == values
    assert list(frame["s"]) == [f"http://e/{n}" for n in range(len(values))]


def test_mixed_columns_are_texts_without_quotes_and_brackets() -> None:
    frame = frame_query(["<http://e/x>", '"a \\"b\\""@en', 5, 10**30]).to_pandas()
    assert list(frame["v"]) == ["http://e/x", 'a "b"', "5", str(10**30)]


@pytest.mark.parametrize("name", ["pandas", "polars"])
def test_a_library_that_is_missing_is_named_and_nothing_is_taken(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    query = frame_query([1])
    monkeypatch.setitem(__import__("sys").modules, name, None)
    with pytest.raises(ms.OptionError, match=rf"to_{name}\(\) needs {name}, which is not installed: pip install {name}"):
        getattr(query, f"to_{name}")()
    assert len(query.take()) == 1
