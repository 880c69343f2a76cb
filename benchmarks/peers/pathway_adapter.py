"""Pathway as a peer, through the protocol of adapters: joins of filtered tables that Pathway keeps up to date.

Pathway is told what enters and leaves the window, each element a batch of its own; what its engine spends on that is the
time. Run by the Python that has pathway, which need not have millstream.
"""

from __future__ import annotations

import re
import sys
import time
from typing import Any, TextIO

from benchmarks.peers.contents import Change, Element, changes, sliding, summarised
from benchmarks.peers.question import Comparison, Question, Triple, connected, variables_of

_QUERY = re.compile(r"SELECT .*? WHERE \{ STREAM <[^>]*> \[RANGE (\d+)ms\] \{ (.*) \} \}", re.DOTALL)
_FILTER = re.compile(r"FILTER \(\?(\w+) ([<>]=?) ([\d.e+-]+)\)")
_TERM = re.compile(r'<[^>]*>|_:\S+|"(?:[^"\\]|\\.)*"(?:@[\w-]+|\^\^<[^>]*>)?|\?\w+')


def read(source: TextIO) -> tuple[str, list[Element]]:
    """The query and the elements, up to the end."""
    _, size = source.readline().split()
    query = ""
    while len(query.encode()) < int(size):
        query += source.read(int(size) - len(query.encode()))
    source.readline()
    elements = []
    while (words := source.readline().split())[0] == "element":
        lines = [source.readline() for _ in range(int(words[2]))]
        elements.append(Element(int(words[1]), [triple_of(line) for line in lines]))
    return query, elements


def triple_of(line: str) -> Triple:
    s, p, o = _TERM.findall(line)[:3]
    return s, p, o


def question_of(query: str) -> tuple[Question, int]:
    """Patterns with comparisons, and the range: of queries as the benchmarks write them."""
    match = _QUERY.fullmatch(query.strip())
    if match is None:
        raise SystemExit(f"not a conjunctive query over one RANGE window: {query}")
    comparisons = [Comparison(name, sign, float(number)) for name, sign, number in _FILTER.findall(match[2])]
    terms = _TERM.findall(_FILTER.sub("", match[2]))
    patterns = [(terms[i], terms[i + 1], terms[i + 2]) for i in range(0, len(terms), 3)]
    return Question(patterns, comparisons), int(match[1])


def rows_of(steps: list[Change]) -> list[tuple[str, str, str, int, int]]:
    """What enters and leaves as Pathway takes it: with an even time, and +1 or -1."""
    rows = []
    for number, step in enumerate(steps):
        rows += [(*triple, 2 * number + 2, -1) for triple in step.deleted]
        rows += [(*triple, 2 * number + 2, 1) for triple in step.inserted]
    return rows


def joined(pw: Any, triples: Any, question: Question) -> Any:
    """The patterns joined one after another on the variables that they share."""
    whole = None
    for _, pattern in connected(question.patterns):
        view = triples
        for place, term in zip("spo", pattern, strict=True):
            if not term.startswith("?"):
                view = view.filter(pw.this[place] == term)
        places = {term[1:]: place for place, term in zip("spo", pattern, strict=True) if term.startswith("?")}
        view = view.select(**{name: pw.this[place] for name, place in places.items()})
        if whole is None:
            whole, known = view, variables_of(pattern)
            continue
        on = [whole[name] == view[name] for name in places if name in known]
        fresh = [name for name in places if name not in known]
        whole = whole.join(view, *on).select(**{n: whole[n] for n in known}, **{n: view[n] for n in fresh})
        known = [*known, *fresh]
    return whole


def main() -> None:
    import pathway as pw

    class Triples(pw.Schema):
        s: str = pw.column_definition(primary_key=True)
        p: str = pw.column_definition(primary_key=True)
        o: str = pw.column_definition(primary_key=True)

    query, elements = read(sys.stdin)
    question, range_ms = question_of(query)
    kept = summarised(elements, question)
    first = sliding(kept, range_ms)
    # From before the first element on, when the window is empty.
    opening = Change(0, list(dict.fromkeys(kept[0].triples)), [])
    steps = [opening, *changes(kept, first, 0, len(kept) - 1)]
    result = joined(pw, pw.debug.table_from_rows(Triples, rows_of(steps), is_stream=True), question)
    print("ready", *(f"?{name}" for name in question.variables))

    def answer(key: object, row: dict[str, str], time: int, is_addition: bool) -> None:
        at_ms = kept[time // 2 - 1].at_ms
        terms = "\t".join(row[name] for name in question.variables)
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
