"""`millstream demo --engine embedded`: a small query explained, then answered live on hand-made data, in this process.

The data is a floor plan, which changes, and a stream of badges seen in rooms. Everything said about answers comes from
the engine; on a terminal there are short pauses, so that one can follow.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import sleep
from typing import Literal

from rich.console import Console
from rich.text import Text

from millstream.cli.terminal import heading, indented, output
from millstream.engine import Answer, Engine
from millstream.plan.explain.query import explain
from millstream.plan.passes import query_of

OFFICE = "http://example.org/office/"
STREAM = OFFICE + "badges"
PAUSE_S = 0.4

QUERY = """\
PREFIX : <http://example.org/office/>

SELECT CHANGES ?person ?room ?neighbour ?nextRoom
WHERE {
  STREAM :badges [RANGE 10s] {
    ?person    :seenIn ?room .
    ?neighbour :seenIn ?nextRoom
  }
  ?room :doorTo ?nextRoom
  FILTER (?person != ?neighbour)
}"""


@dataclass(frozen=True, slots=True)
class DemoEvent:
    """Something that enters the engine at a time, by one of its calls, and how to say it."""

    at_ms: int
    call: Literal["push", "insert", "delete"]
    triple: str
    said: str

    def happen(self, engine: Engine) -> None:
        stream = (STREAM,) if self.call == "push" else ()
        getattr(engine, self.call)(*stream, self.triple, at_ms=self.at_ms)


def triple_of(subject: str, predicate: str, object: str) -> str:
    """N-Triples of three local names."""
    return f"<{OFFICE}{subject}> <{OFFICE}{predicate}> <{OFFICE}{object}> ."


def _seen(at_ms: int, person: str, room: str) -> DemoEvent:
    return DemoEvent(at_ms, "push", triple_of(person, "seenIn", room), f"{person} is seen in the {room}")


def _locked(at_ms: int, room: str, next_room: str) -> DemoEvent:
    said = f"the door from the {room} to the {next_room} is locked: the floor plan changes"
    return DemoEvent(at_ms, "delete", triple_of(room, "doorTo", next_room), said)


def _opened(at_ms: int, room: str, next_room: str) -> DemoEvent:
    said = f"the door from the {room} to the {next_room} is open again"
    return DemoEvent(at_ms, "insert", triple_of(room, "doorTo", next_room), said)


DOORS = (("lobby", "hall"), ("hall", "lab"), ("hall", "kitchen"))
EVENTS = (
    _seen(0, "Ann", "lobby"),
    _seen(2000, "Ben", "hall"),
    _seen(4000, "Cleo", "lab"),
    _seen(6000, "Ann", "hall"),
    _locked(8000, "hall", "lab"),
    _opened(11000, "hall", "lab"),
    _seen(13000, "Cleo", "kitchen"),
)


def show() -> None:
    """Explains the query and runs it over everything that happens."""
    console = output()
    engine = Engine()
    for room, next_room in DOORS:
        engine.insert(triple_of(room, "doorTo", next_room))
    query = engine.register(QUERY)
    _introduce(console)
    for event in EVENTS:
        _pause(console)
        event.happen(engine)
        _report(console, query.take(), event)
    engine.finish()
    _pause(console)
    _report(console, query.take(), None)
    counts = engine.stats
    heading(console, "That was all")
    console.print(f"{counts['elements']} stream elements, {counts['answers']} changes of the answer, nothing recomputed.")
    console.print("Next: millstream explain QUERY.rq, or README.md for the same in Python.")


def _introduce(console: Console) -> None:
    heading(console, "Who was seen next door to whom, within the last 10 seconds?")
    console.print(indented(QUERY))
    heading(console, "How it is understood")
    console.print(indented(explain(query_of(QUERY))))
    heading(console, "What happens, and the answers that appear (+) and disappear (-)")
    for number, (room, next_room) in enumerate(DOORS):
        console.print(f"{'' if number else 'before':>8}  there is a door from the {room} to the {next_room}")


def _report(console: Console, answers: list[Answer], event: DemoEvent | None) -> None:
    """Tells what happened; answers that time alone took away before it come first, at their own time."""
    told_ms: int | None = None
    for answer in answers:
        if event is not None and told_ms != event.at_ms and answer.at_ms >= event.at_ms:
            told_ms = _tell(console, event.at_ms, event.said)
        if told_ms != answer.at_ms:
            told_ms = _tell(console, answer.at_ms, "10 seconds have passed since a badge was seen")
        sign, style = ("+", "green") if answer.weight > 0 else ("-", "red")
        console.print(Text(f"{'':8}    {sign} {_sentence(answer)}", style))
    if event is not None and told_ms != event.at_ms:
        _tell(console, event.at_ms, event.said)


def _tell(console: Console, at_ms: int, said: str) -> int:
    console.print(Text.assemble((f"{at_ms / 1000:>6g} s", "cyan"), f"  {said}"))
    return at_ms


def _sentence(answer: Answer) -> str:
    person, room, neighbour, next_room = (
        answer.bindings[name].value.removeprefix(OFFICE) for name in ("person", "room", "neighbour", "nextRoom")
    )
    return f"{person} in the {room} is next door to {neighbour} in the {next_room}"


def _pause(console: Console) -> None:
    if console.is_terminal:
        sleep(PAUSE_S)
