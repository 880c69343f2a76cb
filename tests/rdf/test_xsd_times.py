"""Literals as milliseconds since 1970-01-01T00:00:00Z."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode

from millstream.errors import DataError
from millstream.rdf import time_ms

XSD = "http://www.w3.org/2001/XMLSchema#"
DAY = 86_400_000


def ms(lexical: str, datatype: str = "dateTime") -> int:
    return time_ms(Literal(lexical, datatype=NamedNode(XSD + datatype)))


@pytest.mark.parametrize(
    ("lexical", "expected"),
    [
        ("1970-01-01T00:00:00Z", 0),
        ("1970-01-01T00:00:00", 0),  # no time zone: UTC
        ("1970-01-01T01:00:00+01:00", 0),
        ("1969-12-31T10:00:00-14:00", 0),
        (" 1970-01-01T00:00:00Z\n", 0),
        ("1970-01-01T00:00:00.001999Z", 1),  # rounded down
        ("1969-12-31T23:59:59.9999Z", -1),  # down, also before 1970
        ("1970-01-01T24:00:00Z", DAY),
        ("2000-02-29T00:00:00Z", 951_782_400_000),
        ("0000-01-01T00:00:00Z", -719_528 * DAY),  # 1 BCE, a leap year
        ("0000-12-31T24:00:00Z", -719_162 * DAY),
        ("-0001-12-31T24:00:00Z", -719_528 * DAY),
        ("12000-01-01T00:00:00Z", 316_516_204_800_000),
    ],
)
def test_a_date_and_time_is_a_number_of_milliseconds(lexical: str, expected: int) -> None:
    assert ms(lexical) == expected


@pytest.mark.parametrize(
    "lexical",
    [
        "",
        "yesterday",
        "1970-01-01",
        "1970-01-01T00:00",
        "1970-13-01T00:00:00Z",
        "1970-02-29T00:00:00Z",
        "1900-02-29T00:00:00Z",
        "1970-01-00T00:00:00Z",
        "1970-01-01T24:00:01Z",
        "1970-01-01T23:60:00Z",
        "1970-01-01T23:59:60Z",
        "1970-01-01T00:00:00+14:01",
        "1970-01-01T00:00:00.Z",
        "970-01-01T00:00:00Z",
        "01970-01-01T00:00:00Z",
        "+1970-01-01T00:00:00Z",
        "999999999999-01-01T00:00:00Z",
        "1" * 10_000 + "-01-01T00:00:00Z",
        "١٩٧٠-01-01T00:00:00Z",
    ],
)
def test_what_is_no_date_and_time_is_refused(lexical: str) -> None:
    with pytest.raises(DataError):
        ms(lexical)


def test_a_date_is_its_first_instant() -> None:
    assert ms("1970-01-02", "date") == DAY
    assert ms("1970-01-02+01:00", "date") == DAY - 3_600_000


def test_a_date_time_stamp_needs_its_time_zone() -> None:
    assert ms("1970-01-01T00:00:00Z", "dateTimeStamp") == 0
    with pytest.raises(DataError, match="time zone"):
        ms("1970-01-01T00:00:00", "dateTimeStamp")


@pytest.mark.parametrize("datatype", ["integer", "long", "int", "nonNegativeInteger", "unsignedLong"])
def test_an_integer_already_counts_milliseconds(datatype: str) -> None:
    assert ms("+0042", datatype) == 42


@pytest.mark.parametrize("sign", [1, -1])
def test_a_time_is_one_that_can_be_counted_in_ticks(sign: int) -> None:
    assert ms(str(sign * (2**59 - 1)), "integer") == sign * (2**59 - 1)
    for beyond in (2**59, 2**63):
        with pytest.raises(DataError, match=r"between -2\^59 and 2\^59"):
            ms(str(sign * beyond), "integer")


def test_a_plain_string_that_is_a_date_and_time_is_taken_as_one() -> None:
    assert time_ms(Literal("1970-01-01T00:00:01Z")) == 1000
    assert time_ms(Literal("1970-01-02")) == DAY


@pytest.mark.parametrize(
    "value",
    [
        NamedNode("http://e/"),
        Literal("5"),
        Literal("x", language="en"),
        Literal("1.5", datatype=NamedNode(XSD + "decimal")),
        Literal("2000", datatype=NamedNode(XSD + "gYear")),
    ],
)
def test_other_terms_are_no_times(value: Literal | NamedNode) -> None:
    with pytest.raises(DataError):
        time_ms(value)


@given(st.datetimes(), st.integers(-14 * 60, 14 * 60))
def test_times_agree_with_the_standard_library(moment: datetime, offset: int) -> None:
    sign = "-" if offset < 0 else "+"
    zone = f"{sign}{abs(offset) // 60:02}:{abs(offset) % 60:02}"
    aware = moment.replace(tzinfo=timezone(timedelta(minutes=offset)))
    expected = (aware - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)
    assert ms(moment.isoformat() + zone) == expected
