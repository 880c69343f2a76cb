"""Durations as windows take them: every way to write one, rounding, and what is no duration."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from millstream.errors import QuerySyntaxError, UnsupportedQueryError
from millstream.language import algebra as a
from millstream.windows.durations import format_duration, parse_duration
from millstream.windows.kinds import Range
from tests.language.algebra_text import parse


def query(duration: str) -> a.Query:
    return parse(f"SELECT * {{ STREAM :s [RANGE {duration}] {{ ?x :p ?y }} }}")


def range_ms(duration: str) -> int:
    window = query(duration).windows[0].window
    assert isinstance(window, Range)
    return window.range_ms


@pytest.mark.parametrize(
    ("text", "ms"),
    [
        ("30s", 30_000),
        ("1h30m", 5_400_000),
        ("1h 30m", 5_400_000),
        ("2d", 172_800_000),
        ("250ms", 250),
        ("1s500ms", 1_500),
        ("30S", 30_000),
        ("10 S", 10_000),
        ("250", 250),
        ("PT10M", 600_000),
        ("PT1h", 3_600_000),
        ("pt30s", 30_000),
        ("P1D", 86_400_000),
        ("P1DT12H", 129_600_000),
        ("PT1H30M5S", 5_405_000),
        ("PT0.5S", 500),
        ("1.5s", 1_500),
        ("0.25h", 900_000),
        ("2000000ns", 2),
    ],
)
def test_a_duration_is_read_without_a_word(text: str, ms: int) -> None:
    assert range_ms(text) == ms
    assert query(text).warnings == ()


@pytest.mark.parametrize(
    ("text", "ms", "legal"),
    [
        ("30 minutes", 1_800_000, "RANGE 30m"),
        ("30minutes", 1_800_000, "RANGE 30m"),
        ("1 minute", 60_000, "RANGE 1m"),
        ("1 HOURS", 3_600_000, "RANGE 1h"),
        ("1 hour 30 mins", 5_400_000, "RANGE 1h30m"),
        ("5 secs", 5_000, "RANGE 5s"),
        ("1 day", 86_400_000, "RANGE 1d"),
        ("1 second 500 milliseconds", 1_500, "RANGE 1s500ms"),
    ],
)
def test_units_spelt_out_are_read_with_the_short_form_as_a_warning(text: str, ms: int, legal: str) -> None:
    assert range_ms(text) == ms
    assert [w.legal for w in query(text).warnings] == [legal]


@pytest.mark.parametrize(
    ("text", "ms"), [("1ns", 1), ("1500000ns", 2), ("1000001 nanoseconds", 2), ("0.5ms", 1), ("PT0.0001S", 1)]
)
def test_less_than_a_millisecond_is_rounded_up_with_a_warning(text: str, ms: int) -> None:
    assert range_ms(text) == ms
    assert [str(w) for w in query(text).warnings] == [
        f"line 2, column 29: {text} is rounded up to whole milliseconds. Write: RANGE {ms}ms"
    ]


@pytest.mark.parametrize("text", ["0", "0s", "PT0S", "0h0m", "0.0s", "P0D"])
def test_a_window_lasts_longer_than_nothing(text: str) -> None:
    with pytest.raises(QuerySyntaxError, match=f"RANGE must be longer than 0, got {text}"):
        query(text)


@pytest.mark.parametrize("word", ["STEP", "SLIDE"])
def test_a_grid_is_wider_than_nothing(word: str) -> None:
    with pytest.raises(QuerySyntaxError, match=rf"window on <http://example.org/s>: {word} must be longer than 0, got PT0S"):
        query(f"PT1S {word} PT0S")


@pytest.mark.parametrize("word", ["LANDMARK", "SESSION"])
def test_a_length_is_longer_than_nothing(word: str) -> None:
    with pytest.raises(QuerySyntaxError, match=rf"window on <http://example.org/s>: {word} must be longer than 0, got 0s"):
        parse(f"SELECT * {{ STREAM :s [{word} 0s] {{ ?x :p ?y }} }}")


@pytest.mark.parametrize(
    ("clause", "what", "alone", "ranging"),
    [
        ("SESSION 5m STEP 1m", "SESSION with STEP", "SESSION 5m", "RANGE 5m STEP 1m"),
        ("SESSION 5m TUMBLING", "SESSION with TUMBLING", "SESSION 5m", "RANGE 5m STEP 5m"),
        ("LANDMARK 1d SLIDE 1h", "LANDMARK with SLIDE", "LANDMARK 1d", "RANGE 1d SLIDE 1h"),
    ],
)
@pytest.mark.parametrize("where", ["SELECT * {{ STREAM :s [{}] {} }}", "SELECT * FROM STREAM :s [{}] {}"])
def test_a_window_without_a_grid_is_refused_one(where: str, clause: str, what: str, alone: str, ranging: str) -> None:
    with pytest.raises(UnsupportedQueryError) as error:
        parse(where.format(clause, "{ ?x :p ?y }"))
    said = f"{what} is not supported. Write [{alone}], which answers on every change, or [{ranging}]."
    assert str(error.value).split(": ", 1)[1].splitlines()[0] == said
    assert error.value.line == 2


@pytest.mark.parametrize("count", ["TRIPLES 0", "ELEMENTS 0"])
def test_a_count_is_at_least_one(count: str) -> None:
    with pytest.raises(QuerySyntaxError, match="must be at least 1, got 0"):
        parse(f"SELECT * {{ STREAM :s [{count}] {{ ?x :p ?y }} }}")


@pytest.mark.parametrize("text", ["P1Y", "P1M", "P2W", "P1YT5S"])
def test_units_without_a_fixed_length_are_refused(text: str) -> None:
    with pytest.raises(QuerySyntaxError, match="years, months and weeks have no fixed length here; write days, as in P7D"):
        query(text)


@pytest.mark.parametrize("text", ["PT1.5.5S", "PT5S5H", "PT.S"])
def test_what_only_looks_like_an_xsd_duration_is_refused(text: str) -> None:
    with pytest.raises(QuerySyntaxError, match="not an XSD dayTimeDuration such as PT10M"):
        query(text)


@pytest.mark.parametrize("text", ["5months", "5 weeks", "1.5", "5x", "1m30", "10 s s"])
def test_a_number_with_an_unknown_unit_is_refused_with_the_units_there_are(text: str) -> None:
    with pytest.raises(QuerySyntaxError) as error:
        query(text)
    assert error.value.line == 2
    assert "ms, s, m, h and d" in error.value.message or "`]`" in error.value.message


@pytest.mark.parametrize("text", ["", "-5s", "s", "PT", "P"])
def test_where_a_duration_is_missing_one_is_asked_for(text: str) -> None:
    with pytest.raises(QuerySyntaxError) as error:
        query(text)
    assert "a duration such as 30s or PT30S" in error.value.expected


@pytest.mark.parametrize("text", ["9" * 30, "9" * 5000, "9" * 5000 + "s", "99999999999999d", "PT" + "9" * 5000 + "S"])
def test_a_duration_beyond_all_time_is_refused(text: str) -> None:
    with pytest.raises(QuerySyntaxError, match=r"longer than time itself|too many digits") as error:
        query(text)
    assert len(error.value.message) < 200


@given(st.integers(min_value=1, max_value=1 << 50))
def test_a_duration_written_out_reads_the_same(ms: int) -> None:
    assert parse_duration(format_duration(ms)).ms == ms
