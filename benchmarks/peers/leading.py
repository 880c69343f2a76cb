"""Leads engines in processes of their own through a stream, or through the edits of a graph, from the beginning.

An engine that keeps its joins cannot be set down in the middle of a stream, so streams are short. What appears must be
what appears here, all of it with its times, before its time counts; for an engine that answers a batch at a time, all that
has appeared at the end of each.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.curves import Curves
from benchmarks.peers import adapter, ours
from benchmarks.peers.contents import Element
from benchmarks.peers.question import Question
from benchmarks.report import Part

LIMIT_S = 120.0
"""By the clock, for a process of another engine."""
LED = "other engines (adapters) are led through {} from the beginning; starting counts"
"""What a report says of them."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where the value of an engine goes."""

    x: float | str
    where: str
    """The same in words, for what is left out."""
    value: Callable[[float], float]
    """What is shown, of the seconds that an engine took."""


def per_second(count: float) -> Callable[[float], float]:
    """So many of something, of the seconds that all of them took."""
    return lambda seconds: count / seconds


def lead(question: Question, query: str, elements: Sequence[Element], place: Place, curves: Curves, part: Part) -> None:
    """All engines there are through the elements of a stream, if there are any."""
    if elements and adapter.adapters():
        expected = ours.appeared(query, ours.as_table(elements))
        written = list(adapter.messages(query, ours.STREAM, elements))
        lead_all(question.variables, written, expected, place, curves, part)


def lead_all(
    variables: Sequence[str],
    written: Sequence[str],
    expected: adapter.Appeared,
    place: Place,
    curves: Curves,
    part: Part,
    engines: Mapping[str, Sequence[str]] | None = None,
    in_batches: Callable[[int], adapter.Appeared] | None = None,
) -> None:
    """Engines through what is written to them, all adapters if no others; what fails, or differs, is told in the part.

    `in_batches`: what is expected of one that answers for batches of so many milliseconds.
    """
    for name, command in (adapter.adapters() if engines is None else engines).items():
        try:
            told = adapter.tell(command, variables, written, LIMIT_S)
        except adapter.AdapterError as error:
            part.missing.append(f"{name}, {place.where}: {error}")
            continue
        if told is None:
            curves.add(name, place.x, [None], stopped=True)
            part.missing.append(f"{name}, {place.where}: not done within {LIMIT_S:g} s")
        elif told.batch_ms is not None and in_batches is None:
            part.missing.append(f"{name}, {place.where}: answers a batch at a time, which is not compared here")
        elif told.appeared != (wanted := _wanted(told, expected, in_batches)):
            extra, missing = (told.appeared - wanted).total(), (wanted - told.appeared).total()
            curves.add(name, place.x, [None])
            part.missing.append(f"{name}, {place.where}: other answers, {extra} too many, {missing} missing")
        else:
            curves.add(name, place.x, [place.value(told.seconds)])


def _wanted(
    told: adapter.Told, expected: adapter.Appeared, in_batches: Callable[[int], adapter.Appeared] | None
) -> adapter.Appeared:
    return expected if told.batch_ms is None or in_batches is None else in_batches(told.batch_ms)
