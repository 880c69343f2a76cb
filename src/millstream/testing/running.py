"""Runs a timeline: in this process, where input is cut in two ways that must agree, or on Spark."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from millstream.engine import Answer, Engine
from millstream.errors import OptionError
from millstream.testing.comparison import Came, Outcome, Ran, compare, same
from millstream.testing.timeline import Event, Timeline, new_engine

if TYPE_CHECKING:
    from collections.abc import Callable

ENGINES = ("embedded", "spark")


def run(timeline: Timeline, engine: str = "embedded") -> Outcome:
    """What comes of a timeline on an engine, beside what is expected."""
    if engine not in ENGINES:
        raise OptionError(f"engine {engine}: it is one of {', '.join(ENGINES)}")
    complaints = []
    if engine == "spark":
        from millstream.testing.spark import run_on_spark

        ran = run_on_spark(timeline)
    else:
        ran = _embedded(timeline, _one_by_one)
        if not same(timeline, ran, _embedded(timeline, _many_at_once)):
            complaints.append(
                "the answers depend on how input is cut: one by one and all at once differ. This is a bug of millstream"
            )
    if ran.late != timeline.late:
        complaints.append(f"{ran.late} came too late, expected {timeline.late}")
    return Outcome(timeline, compare(timeline, ran), ran.late, ran.late_events, tuple(complaints))


def _embedded(timeline: Timeline, give: Callable[[Engine, list[Event]], frozenset[int]]) -> Ran:
    engine = new_engine(timeline)
    for text in timeline.queries[:-1]:
        engine.register(text, on_answer=_nobody)
    query = engine.register(timeline.queries[-1], timeline.output)
    late = give(engine, timeline.events)
    if timeline.is_finished:
        engine.finish()
    elif timeline.end_ms is not None:
        engine.advance_to(timeline.end_ms)
    return Ran([_came(answer) for answer in query.take()], engine.stats["late"], late)


def _nobody(answer: Answer) -> None:
    """Answers of queries that only feed the last."""


def _came(answer: Answer) -> Came:
    return Came(answer.at_ms, answer.weight, answer.bindings)


def _one_by_one(engine: Engine, events: list[Event]) -> frozenset[int]:
    """Gives the places of those that were late."""
    late = set()
    for place, event in enumerate(events):
        before = engine.stats["late"]
        match event.call:
            case "push":
                engine.push(event.target or "", event.triples, event.at_ms)
            case "insert":
                engine.insert(event.triples, event.at_ms, event.target)
            case "delete":
                engine.delete(event.triples, event.at_ms, event.target)
            case _:
                engine.advance_to(event.at_ms)
        if engine.stats["late"] > before:
            late.add(place)
    return frozenset(late)


def _many_at_once(engine: Engine, events: list[Event]) -> frozenset[int]:
    """All that comes for one stream before something else does is one call, and all changes of datasets in a row are."""
    for (call, stream), group in groupby(events, _together):
        some = list(group)
        match call:
            case "push":
                engine.push_many(stream or "", [(event.triples, event.at_ms) for event in some])
            case "change":
                engine.change_many([(event.call, event.triples, event.at_ms, event.target) for event in some])
            case _:
                for event in some:
                    engine.advance_to(event.at_ms)
    return frozenset()


def _together(event: Event) -> tuple[str, str | None]:
    return ("change", None) if event.call in ("insert", "delete") else (event.call, event.target)
