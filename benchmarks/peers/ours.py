"""The engine as it stands beside its peers: fed in the ways it has, and its answer sets at chosen instants."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal, TypedDict

import pyarrow as pa

import millstream as ms
from benchmarks.peers.contents import Element
from benchmarks.peers.store import Solutions

STREAM = "http://example.org/stream"
Output = Literal["istream", "changes"]
Given = bytes | pa.Table | Iterable[pa.Table]
"""A stream: as text, as a table, or in tables one after another."""


class Switches(TypedDict, total=False):
    """Parts of the engine that can be switched off, see `Engine`."""

    summary: bool
    lazy: bool
    adaptive: bool


def as_table(elements: Sequence[Element]) -> pa.Table:
    """Elements as the engine takes them in bulk."""
    numbered = [(number, e.at_ms, t) for number, e in enumerate(elements) for t in e.triples]
    columns = {name: pa.array([t[i] for _, _, t in numbered]) for i, name in enumerate("spo")}
    times = {"at_ms": pa.array([at for _, at, _ in numbered], pa.int64())}
    return pa.table({**columns, **times, "element": pa.array([number for number, _, _ in numbered], pa.int64())})


def as_lines(elements: Iterable[Element]) -> list[tuple[str, int]]:
    """Elements as text and time, for one push each."""
    return [("".join(f"{s} {p} {o} .\n" for s, p, o in element.triples), element.at_ms) for element in elements]


def feed(engine: ms.Engine, given: bytes | pa.Table) -> None:
    """N-Triples with a triple an element and a thousand a second, or a table of elements."""
    if isinstance(given, bytes):
        engine.read(STREAM, given, format="nt", time="rate:1000")
    else:
        engine.push_table(STREAM, given)


def _in_tables(given: Given) -> Iterable[bytes | pa.Table]:
    return [given] if isinstance(given, bytes | pa.Table) else given


def warm_up() -> None:
    """What the first of everything costs is nobody's."""
    lines = [(f"<a:{k % 5}> <p:p> <b:{k % 7}> .\n", k) for k in range(500)]
    query = f"SELECT ?x ?y ?z WHERE {{ STREAM <{STREAM}> [RANGE 50ms] {{ ?x <p:p> ?y . ?z <p:p> ?y }} }}"
    push_all(query, lines)
    answer(query, "".join(text for text, _ in lines).encode())
    answer(query, as_table([Element(k, [(f"<a:{k % 5}>", "<p:p>", f"<b:{k % 7}>")]) for k in range(500)]))


def answer(query: str, given: bytes | pa.Table, switches: Switches | None = None) -> tuple[float, int]:
    """CPU seconds of a whole stream, and how many answers appear, all of them decoded."""
    return answer_after(query, None, given, switches)


def answer_after(
    query: str, before: pa.Table | None, given: bytes | pa.Table, switches: Switches | None = None
) -> tuple[float, int]:
    """The same of what comes after something that fills windows, which is not timed."""
    engine = ms.Engine(**(switches or {}))
    registered = engine.register(query, output="istream")
    if before is not None:
        feed(engine, before)
        registered.take_table()
    began = time.process_time()
    feed(engine, given)
    answers = registered.take_table().num_rows
    return time.process_time() - began, int(answers)


def answer_in_tables(query: str, tables: Iterable[pa.Table], switches: Switches | None = None) -> tuple[float, int]:
    """The same of a stream that comes in tables, answers taken after each; what it takes to come is not timed."""
    engine = ms.Engine(**(switches or {}))
    registered = engine.register(query, output="istream")
    spent, answers = 0.0, 0
    for table in tables:
        began = time.process_time()
        engine.push_table(STREAM, table)
        answers += registered.take_table().num_rows
        spent += time.process_time() - began
    return spent, answers


def push_all(query: str, lines: Sequence[tuple[str, int]]) -> tuple[float, int]:
    """The same of a whole stream with one push an element."""
    engine = ms.Engine()
    registered = engine.register(query, output="istream")
    push = engine.push
    began = time.process_time()
    for text, at_ms in lines:
        push(STREAM, text, at_ms)
    answers = registered.take_table().num_rows
    return time.process_time() - began, int(answers)


def solutions_after(query: str, given: Given, instants_ms: Iterable[int]) -> dict[int, Solutions]:
    """The answer set at the end of each of some milliseconds."""
    held: Solutions = Counter()
    found: dict[int, Solutions] = {}
    waiting = sorted(set(instants_ms), reverse=True)
    for at_ms, weight, *terms in _emitted(query, "changes", ("at_ms", "weight"), given):
        while waiting and waiting[-1] < at_ms:
            found[waiting.pop()] = +held
        if not waiting:
            return found
        held[tuple(terms)] += weight
        if not held[tuple(terms)]:
            del held[tuple(terms)]
    return found | dict.fromkeys(waiting, +held)


def _emitted(
    query: str, output: Literal["istream", "changes"], names: Sequence[str], given: Given
) -> Iterator[tuple[Any, ...]]:
    """Rows of what is emitted: some columns, and the terms."""
    engine = ms.Engine()
    registered = engine.register(query, output=output)
    for some in _in_tables(given):
        feed(engine, some)
        table = registered.take_table()
        yield from zip(*(table[name].to_pylist() for name in (*names, *registered.variables)), strict=True)


def netted(changes: Iterable[tuple[Any, ...]], batch_ms: int) -> Counter[tuple[int, tuple[str, ...]]]:
    """Answers that are there at the end of a batch and were not at its beginning, of (time, weight, terms...)."""
    found: Counter[tuple[int, tuple[str, ...]]] = Counter()
    for at_ms, weight, *terms in changes:
        found[at_ms // batch_ms, tuple(terms)] += weight
    return +found


def appeared_in_batches(query: str, given: Given, batch_ms: int) -> Counter[tuple[int, tuple[str, ...]]]:
    """All answers that appear by the end of a batch of so many milliseconds, each with the number of its batch."""
    return netted(_emitted(query, "changes", ("at_ms", "weight"), given), batch_ms)


def appeared(query: str, given: Given) -> Counter[tuple[int, tuple[str, ...]]]:
    """All answers that appear, each with its time."""
    return Counter((at_ms, tuple(terms)) for at_ms, *terms in _emitted(query, "istream", ("at_ms",), given))
