"""Draws a timeline: time runs downwards, beside it windows, what came, what was expected and what the query gave.

A triple's stay in a window is a line from where it is seen to where it is not: `┬` to `┴`. That is drawn for windows that
time ends; the others are named.
"""

from __future__ import annotations

from typing import NamedTuple, cast

from pyoxigraph import NamedNode
from rich.cells import cell_len, set_cell_size
from rich.text import Text

from millstream.testing.comparison import Line, Outcome
from millstream.testing.notation import Term, shown_time
from millstream.testing.timeline import Timeline
from millstream.windows.kinds import StreamWindow
from millstream.windows.window import FOREVER_MS, TimeWindow

_WIDEST_INPUT = 56
_MOST_LANES = 12
_MOST_ROWS = 60
_AROUND = 4
_MARKS = {"missing": "bold red", "surplus": "bold yellow", "late": "yellow"}


class _Stay(NamedTuple):
    """A triple, or several of one element, in a window; `place` is the event's, `lane` the column it is drawn in."""

    begin_ms: int
    end_ms: int
    place: int
    lane: int


class _Row(NamedTuple):
    at_ms: int
    windows: str
    input: str
    expected: str
    came: str
    mark: str
    style: str


def drawn(outcome: Outcome) -> Text:
    """The outcome with its timeline, for a terminal or, as plain text, for anything else."""
    timeline = outcome.timeline
    text = Text.assemble((title(outcome), "bold" if outcome.passed else "bold red"))
    for complaint in outcome.complaints:
        text.append(f"\n  {complaint}", "bold red")
    windows = timeline.checked.windows
    named = {window: number for number, window in enumerate(windows, 1)}
    for window, number in named.items():
        how = "" if isinstance(window.window, TimeWindow) else "  (not drawn: time alone does not end it)"
        shown = f"{timeline.printer.iri(window.stream)} [{window.window}]{how}"
        text.append(f"\n  window {number}: {shown}" if len(named) > 1 else f"\n  window: {shown}")
    rows = _rows(outcome)
    heads = ["time", "window" if any(row.windows.strip() for row in rows) else "", "input", "expected", "came"]
    widths = [
        max([cell_len(head), *(cell_len(cells[place]) for cells in map(_cells, rows))]) for place, head in enumerate(heads)
    ]
    # A column without anything in it is not there.
    shown_places = [p for p, width in enumerate(widths) if width]
    text.append("\n\n  " + "  ".join(set_cell_size(heads[p], widths[p]) for p in shown_places).rstrip(), "bold")
    for row in _abridged(rows):
        if row is None:
            text.append("\n  ...", "dim")
            continue
        cells = _cells(row)
        line = "  ".join(set_cell_size(cells[p], widths[p]) for p in shown_places)
        text.append(f"\n  {line.rstrip()}" if not row.mark else f"\n  {line}  < {row.mark}", row.style)
    return text


def title(outcome: Outcome) -> str:
    """How it went, in one line."""
    answers = sum(line.came for line in outcome.lines)
    came = f"{answers} answer{'' if answers == 1 else 's'}"
    if outcome.passed:
        return f"{outcome.timeline.name}: passed, {came}"
    wrong = [f"{count} {what}" for count, what in ((outcome.missing, "missing"), (outcome.surplus, "surplus")) if count]
    return f"{outcome.timeline.name}: failed, {came}" + (f": {', '.join(wrong)}" if wrong else "")


def shown_answer(timeline: Timeline, line: Line, count: int) -> str:
    """An answer as a SPEC writes it."""
    printer = timeline.printer
    columns = [v.value for v in timeline.checked.columns if v.value in line.bindings]
    terms = {name: printer.term(line.bindings[name]) for name in columns}
    weight = f"{'+' if line.row.appears else '-'}{count}"
    match timeline.checked.form.name:
        case "CONSTRUCT":
            return f"{weight} {' '.join(terms.values())} ."
        case "ASK":
            return f"{weight} {terms['boolean']}"
    return " ".join([weight, *(f"?{name}={term}" for name, term in terms.items())])


def _shown_event(outcome: Outcome, place: int) -> str:
    event, printer = outcome.timeline.events[place], outcome.timeline.printer
    terms = (" ".join(printer.term(cast("Term", term)) for term in triple) for triple in event.triples)
    shown = event.text.removesuffix(".").rstrip() or " . ".join(terms)
    target = "" if event.target is None else printer.iri(NamedNode(event.target))
    link = {"insert": "into ", "delete": "from "}.get(event.call, "") if target else ""
    text = " ".join(part for part in (event.call, f"{link}{target}", shown) if part)
    cut = text if len(text) <= _WIDEST_INPUT else f"{text[: _WIDEST_INPUT - 3]}..."
    return f"{cut} (late)" if place in outcome.late_events else cut


def _cells(row: _Row) -> tuple[str, str, str, str, str]:
    return shown_time(row.at_ms), row.windows, row.input, row.expected, row.came


def _rows(outcome: Outcome) -> list[_Row]:
    timeline = outcome.timeline
    stays = {window: _stays(window, outcome) for window in timeline.checked.windows}
    events: dict[int, list[int]] = {}
    for place, event in enumerate(timeline.events):
        events.setdefault(event.at_ms, []).append(place)
    answers: dict[int, list[Line]] = {}
    for line in outcome.lines:
        answers.setdefault(line.row.at_ms, []).append(line)
    last = max([*events, *answers], default=0)
    ends = {ms for some in stays.values() for stay in some for ms in stay[:2]}
    # Nobody sees what would have happened after the end.
    times = sorted({*events, *answers, *(ms for ms in ends if ms < FOREVER_MS and (timeline.is_finished or ms <= last))})
    found = []
    for at_ms in times:
        here, there = events.get(at_ms, []), answers.get(at_ms, [])
        for number in range(max(1, len(here), len(there))):
            lanes = "  ".join(_lanes(some, at_ms, number, here) for some in stays.values()).rstrip()
            came = _shown_event(outcome, here[number]) if number < len(here) else ""
            found.append(_Row(at_ms, lanes, came, *_compared(timeline, there[number] if number < len(there) else None)))
    return found


def _compared(timeline: Timeline, line: Line | None) -> tuple[str, str, str, str]:
    if line is None:
        return "", "", "", ""
    expected = shown_answer(timeline, line, line.expected) if line.expected else ""
    came = shown_answer(timeline, line, line.came) if line.came else ""
    if line.expected == line.came:
        return expected, came, "", "green"
    count, what = abs(line.expected - line.came), "missing" if line.expected > line.came else "surplus"
    mark = what if count == max(line.expected, line.came) == 1 else f"{count} {what}"
    if line.elsewhere_ms:
        times = ", ".join(shown_time(ms) for ms in line.elsewhere_ms[:3])
        mark += f": {'it came' if what == 'missing' else 'expected'} at {times}"
    return expected, came, mark, _MARKS[what]


def _stays(window: StreamWindow, outcome: Outcome) -> list[_Stay]:
    if not isinstance(window.window, TimeWindow):
        return []
    found: list[_Stay] = []
    busy: list[int] = []
    for place, event in sorted(enumerate(outcome.timeline.events), key=lambda item: item[1].at_ms):
        if event.call != "push" or event.target != window.stream.value or place in outcome.late_events:
            continue
        begin, end = window.window.interval(event.at_ms, outcome.timeline.t0_ms)
        if begin >= end:
            continue
        lane = next((lane for lane, until in enumerate(busy) if until < begin), len(busy))
        if lane == _MOST_LANES:
            continue
        busy[lane : lane + 1] = [end]
        found.append(_Stay(begin, end, place, lane))
    return found


def _lanes(stays: list[_Stay], at_ms: int, number: int, places: list[int]) -> str:
    cells = [" "] * (1 + max((stay.lane for stay in stays), default=-1))
    for stay in stays:
        # An element that others come before at its time begins in its own row.
        first = places.index(stay.place) if stay.begin_ms == at_ms and stay.place in places else 0
        if stay.begin_ms == at_ms:
            cells[stay.lane] = "┬" if number == first else "│" if number > first else cells[stay.lane]
        elif stay.begin_ms < at_ms < stay.end_ms:
            cells[stay.lane] = "│"
        elif stay.end_ms == at_ms and number == 0:
            cells[stay.lane] = "┴"
    return " ".join(cells)


def _abridged(rows: list[_Row]) -> list[_Row | None]:
    """All rows, or of many those around what went wrong."""
    if len(rows) <= _MOST_ROWS:
        return list(rows)
    wrong = [place for place, row in enumerate(rows) if row.mark] or [0]
    near = {n for place in wrong[: _MOST_ROWS // 4] for n in range(place - _AROUND, place + _AROUND + 1)}
    found: list[_Row | None] = []
    for place, row in enumerate(rows):
        if place in near:
            found.append(row)
        elif not found or found[-1] is not None:
            found.append(None)
    return found
