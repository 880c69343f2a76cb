"""Pathway as a peer, through the protocol of adapters: joins of filtered tables that Pathway keeps up to date.

Pathway is told what enters and leaves the window, or the graph: each element a batch of its own, and what left before it
another. What its engine spends on that is the time. Run by the Python that has pathway, which need not have millstream.
"""

from __future__ import annotations

import importlib
import re
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TextIO

from benchmarks.peers.contents import Element, First, sliding, summarised, tumbling
from benchmarks.peers.question import Comparison, Question, Triple, connected

_STREAM = re.compile(r"SELECT .*? WHERE \{ STREAM <[^>]*> \[RANGE (\d+)ms(?: SLIDE (\d+)ms)?\] \{ (.*) \} \}", re.DOTALL)
_GRAPH = re.compile(r"SELECT .*? WHERE \{ ((?!STREAM).*) \}", re.DOTALL)
_FILTER = re.compile(r"FILTER \(\?(\w+) ([<>]=?) ([\d.e+-]+)\)")
_TERM = re.compile(r'<[^>]*>|_:\S+|"(?:[^"\\]|\\.)*"(?:@[\w-]+|\^\^<[^>]*>)?|\?\w+')


class Refused(Exception):  # noqa: N818 - it is no error, but an answer of the protocol
    """A query that this adapter has no joins for."""


@dataclass(frozen=True, slots=True)
class Step:
    """What happens at once."""

    at_ms: int
    inserted: Sequence[Triple]
    deleted: Sequence[Triple]


@dataclass(frozen=True, slots=True)
class Heard:
    """The query, and its stream or the edits of its graph."""

    query: str
    elements: list[Element]
    edits: list[Step]


def read(source: TextIO) -> Heard:
    """Everything up to the end."""
    _, size = source.readline().split()
    query = ""
    while len(query.encode()) < int(size):
        query += source.read(int(size) - len(query.encode()))
    source.readline()
    heard = Heard(query, [], [])
    while (words := source.readline().split())[0] != "end":
        triples = [triple_of(source.readline()) for _ in range(int(words[2]))]
        match words[0]:
            case "element":
                heard.elements.append(Element(int(words[1]), triples))
            case "insert":
                heard.edits.append(Step(int(words[1]), triples, []))
            case _:
                heard.edits.append(Step(int(words[1]), [], triples))
    return heard


def triple_of(line: str) -> Triple:
    s, p, o = _TERM.findall(line)[:3]
    return s, p, o


def question_of(body: str) -> Question:
    """Patterns with comparisons, as the benchmarks write them."""
    comparisons = [Comparison(name, sign, float(number)) for name, sign, number in _FILTER.findall(body)]
    terms = _TERM.findall(_FILTER.sub("", body))
    return Question([(terms[i], terms[i + 1], terms[i + 2]) for i in range(0, len(terms), 3)], comparisons)


def understood(heard: Heard) -> tuple[Question, list[Step]]:
    """What is asked, and what enters and leaves step by step."""
    if match := _STREAM.fullmatch(heard.query.strip()):
        question = question_of(match[3])
        kept = summarised(heard.elements, question)
        # `RANGE 1ms SLIDE r` shows what came since the last instant of the grid.
        first = tumbling(kept, int(match[2])) if match[2] else sliding(kept, int(match[1]))
        steps = list(steps_of(kept, first))
    elif match := _GRAPH.fullmatch(heard.query.strip()):
        question = question_of(match[1])
        keeps = question.summary()
        kept_of = ((e.at_ms, list(filter(keeps, e.inserted)), list(filter(keeps, e.deleted))) for e in heard.edits)
        steps = [Step(at_ms, *changed) for at_ms, *changed in kept_of if any(changed)]
    else:
        raise Refused(f"neither over one window nor a SELECT over a graph: {heard.query.split()[0]}")
    try:
        connected(question.patterns)
    except StopIteration:
        raise Refused("patterns that share no variable") from None
    return question, steps


def steps_of(elements: Sequence[Element], first: First) -> Iterator[Step]:
    """What left the window before an element, and then what enters with it: if it is the same, it appears again."""
    seen: Counter[Triple] = Counter()
    oldest = 0
    for number, element in enumerate(elements):
        gone = [triple for left in elements[oldest : first(number)] for triple in left.triples]
        oldest = first(number)
        seen.subtract(gone)
        if deleted := [triple for triple in dict.fromkeys(gone) if not seen[triple]]:
            yield Step(element.at_ms, [], deleted)
        yield Step(element.at_ms, [triple for triple in dict.fromkeys(element.triples) if not seen[triple]], [])
        seen.update(element.triples)


def rows_of(steps: Iterable[Step]) -> list[tuple[str, str, str, int, int]]:
    """Steps as Pathway takes them: with an even time, and +1 or -1."""
    rows = []
    for number, step in enumerate(steps, 1):
        rows += [(*triple, 2 * number, -1) for triple in step.deleted]
        rows += [(*triple, 2 * number, 1) for triple in step.inserted]
    return rows


def column(variable: str) -> str:
    """Some names are Pathway's own, as `id`."""
    return f"of_{variable}"


def joined(pw: Any, triples: Any, question: Question) -> Any:
    """The patterns joined one after another on the variables that they share."""
    whole, known = None, list[str]()
    for _, pattern in connected(question.patterns):
        view = triples
        for place, term in zip("spo", pattern, strict=True):
            if not term.startswith("?"):
                view = view.filter(pw.this[place] == term)
        places = {column(term[1:]): place for place, term in zip("spo", pattern, strict=True) if term.startswith("?")}
        view = view.select(**{name: pw.this[place] for name, place in places.items()})
        if whole is None:
            whole, known = view, list(places)
            continue
        on = [whole[name] == view[name] for name in places if name in known]
        fresh = [name for name in places if name not in known]
        whole = whole.join(view, *on).select(**{n: whole[n] for n in known}, **{n: view[n] for n in fresh})
        known = [*known, *fresh]
    return whole


def main() -> None:
    pw: Any = importlib.import_module("pathway")

    class Triples(pw.Schema):  # type: ignore[misc]
        s: str = pw.column_definition(primary_key=True)
        p: str = pw.column_definition(primary_key=True)
        o: str = pw.column_definition(primary_key=True)

    try:
        question, steps = understood(read(sys.stdin))
    except Refused as refused:
        print("refuse", refused)
        return
    result = joined(pw, pw.debug.table_from_rows(Triples, rows_of(steps), is_stream=True), question)
    print("ready", *(f"?{name}" for name in question.variables))

    def answer(key: object, row: dict[str, str], time: int, is_addition: bool) -> None:
        at_ms = steps[time // 2 - 1].at_ms
        terms = "\t".join(row[column(name)] for name in question.variables)
        lines.append(f"answer {at_ms} {1 if is_addition else -1} {terms}")

    lines: list[str] = []
    pw.io.subscribe(result, answer)
    began = time.process_time_ns()
    pw.run(monitoring_level=pw.MonitoringLevel.NONE)
    spent = time.process_time_ns() - began
    sys.stdout.writelines(f"{line}\n" for line in lines)
    print("took", spent)


if __name__ == "__main__":
    main()
