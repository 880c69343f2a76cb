"""Times that are too far ahead of all before them are implausible: set aside with their reason, and the clock stays."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pytest

from millstream import DataError, Engine, OptionError
from tests.engine.notation import NAMESPACE, S, T, emitted, nt, over

TODAY = 1_700_000_000_000


def table(*times_ms: int) -> pa.Table:
    return pa.table({
        "s": [f"<{NAMESPACE}a{at_ms}>" for at_ms in times_ms],
        "p": [f"<{NAMESPACE}p>"] * len(times_ms),
        "o": [f"<{NAMESPACE}b>"] * len(times_ms),
        "at_ms": list(times_ms),
    })  # fmt: skip


def push_singly(engine: Engine, *times_ms: int) -> None:
    for at_ms in times_ms:
        engine.push(S, nt(f"a{at_ms} p b"), at_ms=at_ms)


def push_as_a_table(engine: Engine, *times_ms: int) -> None:
    engine.push_table(S, table(*times_ms))


def push_long_elements(engine: Engine, *times_ms: int) -> None:
    for at_ms in times_ms:
        engine.push(S, nt(f"a{at_ms} p b", *(f"x{i} q y" for i in range(300))), at_ms=at_ms)


WAYS = [push_singly, push_as_a_table, push_long_elements]


@pytest.mark.parametrize("lateness_ms", [0, 5])
@pytest.mark.parametrize("way", WAYS)
def test_what_jumps_too_far_ahead_is_set_aside_and_the_clock_stays(way: Callable[..., None], lateness_ms: int) -> None:
    engine = Engine(max_jump_ms=100, lateness_ms=lateness_ms)
    query = engine.register(over("RANGE 50"))
    way(engine, 1, 101, 202, TODAY, 150, 250, 351)
    engine.finish()
    assert [text.split()[0] for text in emitted(query)] == ["1", "101", "150", "250"]
    assert (engine.stats["rejected"], engine.stats["late"]) == (3, 0)
    reasons = [rejected.reason for rejected in engine.rejected()]
    assert reasons[0] == "implausible: its time is 202 ms, more than 100 ms after 101 ms"
    assert engine.clock_ms == 300


@pytest.mark.parametrize("way", WAYS)
def test_without_the_option_any_jump_is_taken(way: Callable[..., None]) -> None:
    engine = Engine()
    query = engine.register(over("RANGE 50"))
    way(engine, 1, TODAY)
    assert len(query.take()) == 2


def test_a_jump_is_from_what_any_stream_or_graph_had() -> None:
    engine = Engine(max_jump_ms=10)
    engine.push(T, nt("x q y"), at_ms=5)
    engine.insert(nt("x q y"), at_ms=15)
    engine.insert(nt("x q y"), at_ms=26)
    engine.delete(nt("x q y"), at_ms=25)
    assert (engine.clock_ms, engine.stats["rejected"], engine.stats["changes"]) == (25, 1, 2)


@pytest.mark.parametrize(("rate", "taken"), [("1000", 20), ("10", 1)])
def test_lines_at_a_rate_jump_by_its_steps(rate: str, taken: int) -> None:
    engine = Engine(max_jump_ms=99)
    engine.read(S, "\n".join(nt(f"a{i} p b") for i in range(20)).encode(), format="nt", time=f"rate:{rate}")
    assert engine.stats["rejected"] == 20 - taken
    assert engine.stats["elements"] == taken


def test_lines_behind_a_gap_are_all_too_far_ahead() -> None:
    engine = Engine(max_jump_ms=99)
    engine.advance_to(-1000)
    engine.read(S, "\n".join(nt(f"a{i} p b") for i in range(20)).encode(), format="nt", time="rate:1000")
    assert engine.stats["rejected"] == 20


def test_advance_to_says_where_a_stream_begins_and_where_it_goes_on() -> None:
    engine = Engine(max_jump_ms=1000)
    query = engine.register(over("ALL"))
    engine.advance_to(TODAY)
    push_singly(engine, 0, TODAY + 1, 2 * TODAY)
    assert (engine.stats["late"], engine.stats["rejected"]) == (1, 1)
    engine.advance_to(2 * TODAY - 1)
    push_singly(engine, 2 * TODAY)
    assert [answer.at_ms for answer in query.take()] == [TODAY + 1, 2 * TODAY]


def test_a_restored_engine_knows_from_where_to_jump() -> None:
    engine = Engine(max_jump_ms=10)
    push_singly(engine, 5)
    again = Engine.restore(engine.snapshot())
    push_singly(again, 16, 15)
    assert (again.stats["rejected"], again.clock_ms) == (1, 15)


def test_a_strict_engine_raises() -> None:
    engine = Engine(max_jump_ms=10, strict=True)
    push_singly(engine, 5)
    with pytest.raises(DataError, match=f"^{S}: implausible: its time is 16 ms, more than 10 ms after 5 ms$"):
        push_singly(engine, 16)
    assert engine.clock_ms == 5


@pytest.mark.parametrize("value", [-1, 1.5, True, "1d", 1 << 60])
def test_a_jump_is_a_number_of_milliseconds(value: object) -> None:
    with pytest.raises(OptionError, match="max_jump_ms must be"):
        Engine(max_jump_ms=value)  # type: ignore[arg-type]
