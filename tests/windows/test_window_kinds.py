"""What every kind of window must answer, asked of all there are."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import millstream.windows
from millstream.engine.windows.window_operators import NEVER, TimeOperator
from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.kernels.matching.patterns import Patterns
from millstream.language import parse_query
from millstream.operators.ticks import EXPIRY, GRID, tick
from millstream.windows.kinds import KINDS, window_of
from millstream.windows.window import FOREVER_MS, Takes, TimeWindow, Window, WindowKind

times = st.integers(-1000, 1000)


@st.composite
def some_windows(draw: st.DrawFn) -> WindowKind:
    clause = draw(st.sampled_from(list(KINDS)))
    given = tuple(draw(st.integers(1, 100)) for _ in fields(KINDS[clause]))  # type: ignore[arg-type]
    window = window_of(clause, given)
    assert window is not None
    return window


def read(text: str) -> Window:
    (found,) = parse_query(f"SELECT * {{ STREAM <http://e/s> [{text}] {{ ?s ?p ?o }} }}").windows
    return found.window


@settings(deadline=None)
@given(some_windows())
def test_a_window_is_read_as_it_is_written(window: WindowKind) -> None:
    assert read(str(window)) == window
    assert read(str(window).lower()) == window


@given(some_windows(), st.lists(times, min_size=1), times)
def test_one_time_and_a_column_of_them_have_the_same_interval(window: WindowKind, at_ms: list[int], t0_ms: int) -> None:
    if isinstance(window, TimeWindow):
        starts, ends = window.interval(np.array(at_ms, np.int64), t0_ms)
        found = list(zip(starts.tolist(), ends.tolist(), strict=True))
        assert found == [window.interval(one, t0_ms) for one in at_ms]


@given(some_windows(), times, times)
def test_an_interval_begins_no_earlier_than_its_time_and_ends_as_told(window: WindowKind, at_ms: int, t0_ms: int) -> None:
    if isinstance(window, TimeWindow):
        start, end = window.interval(at_ms, t0_ms)
        if window.step_ms is None:
            assert start == at_ms < end
        else:
            assert at_ms <= start < at_ms + window.step_ms
            assert (start - t0_ms) % window.step_ms == (end - t0_ms) % window.step_ms == 0
        assert end == FOREVER_MS if window.kept_ms is None else end <= at_ms + window.kept_ms
        assert window.one_order is None
    else:
        assert window.kept_ms is None
        assert window.one_order is not None


@given(some_windows(), times, times, st.integers(0, 100))
def test_what_comes_later_is_seen_no_earlier_and_no_shorter(window: WindowKind, at_ms: int, t0_ms: int, more: int) -> None:
    if isinstance(window, TimeWindow):
        earlier, later = window.interval(at_ms, t0_ms), window.interval(at_ms + more, t0_ms)
        assert earlier[0] <= later[0]
        assert earlier[1] <= later[1]


@given(some_windows(), st.integers(-(2**59) + 1, 2**59 - 1), times)
def test_kernels_find_the_same_end(window: WindowKind, at_ms: int, t0_ms: int) -> None:
    if isinstance(window, TimeWindow):
        start, end = window.interval(at_ms, t0_ms)
        phase = EXPIRY if window.step_ms is None else GRID
        operator = TimeOperator(window, Patterns([]), Dictionary(), t0_ms)
        assert operator.end_of(at_ms) == (tick(end, phase) if start < end else NEVER)


@pytest.mark.parametrize("clause", [c for c in KINDS if c.takes is Takes.LENGTH and c.grid is None], ids=lambda c: c.word)
def test_no_time_is_too_far_to_be_told(clause: object) -> None:
    window = window_of(clause, (FOREVER_MS - 1,))  # type: ignore[arg-type]
    if isinstance(window, TimeWindow):
        at_ms = np.array([-(2**59) + 1, 2**59 - 1], np.int64)
        assert [column.tolist() for column in window.interval(at_ms, 0)] == [
            list(some) for some in zip(*(window.interval(one, 0) for one in at_ms.tolist()), strict=True)
        ]


def test_nobody_else_asks_which_kind_a_window_is() -> None:
    package = Path(millstream.windows.__file__).parents[1]
    others = [path for path in package.rglob("*.py") if path.parent.name != "windows"]
    lines = [line for path in others for line in path.read_text("utf-8").splitlines() if "millstream.windows.kinds" in line]
    assert {name for line in lines for name in line.split(" import ")[1].split(", ")} == {
        "StreamWindow",
        "window_of",
        "words",
    }
