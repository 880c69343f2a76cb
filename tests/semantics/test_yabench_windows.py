"""YABench's oracle: streams of observations with the expected content of each window.

Its windows are closed at the start and open at the end, [b, b + 60 s); ours are open at the start, closed at the end.
Times are whole milliseconds, so everything comes one millisecond later here and the contents are the same.

On window close its window of 60 s sliding by 30 s is `RANGE 60s STEP 30s`; windows 1 to 6 close at 30 s to 180 s.

On content change that window keeps a triple of time t until floor(t / 30 s) * 30 s + 60 s. With times moved by one
millisecond the first grid instant at or after t is floor(t / 30 s) * 30 s + 30 s, and `RANGE 30s SLIDE 30s` keeps the
triple for 30 s more: the same moment. Window n is the content just after the n-th time of the stream.
"""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path
from typing import TypeAlias

import pytest

from tests.semantics.conftest import Machine, MakeMachine
from tests.suites import suite

STREAM = "http://example.org/observations"
Triple: TypeAlias = tuple[str, str, str]


def folder(name: str) -> Path:
    return suite("yabench-windows") / "oracle" / "tests" / "WindowFactoryTest" / name


def read_by_time(path: Path) -> dict[int, list[Triple]]:
    """Lines of subject, predicate, object and, as a string, the time; numbers are written `62.0^^<...>`."""
    elements: dict[int, list[Triple]] = defaultdict(list)
    for line in path.read_text().splitlines():
        subject, predicate, rest = line.split(" ", 2)
        obj, at, _dot = re.sub(r"^([0-9.]+)\^\^", r'"\1"^^', rest).rsplit(" ", 2)
        elements[int(at.strip('"'))].append((subject, predicate, obj))
    return dict(elements)


def read_window(path: Path) -> set[Triple]:
    return {by_value(*triple) for triples in read_by_time(path).values() for triple in triples}


def by_value(subject: str, predicate: str, obj: str) -> Triple:
    """A triple to compare: an engine may give `62` for `62.0`."""
    number = re.match(r'"([0-9.]+)"\^\^', obj)
    return subject, predicate, str(float(number[1])) if number else obj


def contents(machine: MakeMachine, window: str, stream: dict[int, list[Triple]]) -> dict[int, set[Triple]]:
    """The content of a window at each time it was reported."""
    m: Machine = machine()
    q = m.register(f"SELECT ?s ?p ?o {{ STREAM <{STREAM}> [{window}] {{ ?s ?p ?o }} }}", output="rstream")
    for at_ms, triples in sorted(stream.items()):
        m.engine.push(STREAM, triples, at_ms=at_ms + 1)
    m.finish()
    found: dict[int, set[Triple]] = defaultdict(set)
    for at_ms, weight, (s, p, o) in q.emitted():
        assert weight == 1
        found[at_ms].add(by_value(str(s), str(p), str(o)))
    return dict(found)


def test_on_window_close_each_window_holds_what_the_oracle_says(machine: MakeMachine) -> None:
    path = folder("testOnWindowClose")
    expected = {n * 30_000: read_window(path / f"{n}.window") for n in range(1, 7)}
    assert contents(machine, "RANGE 60s STEP 30s", read_by_time(path / "input.stream")) == expected


def test_on_content_change_each_window_holds_what_the_oracle_says(machine: MakeMachine) -> None:
    path = folder("testOnContentChange")
    stream = read_by_time(path / "input.stream")
    found = contents(machine, "RANGE 30s SLIDE 30s", stream)
    times = sorted(stream)
    assert len(times) == 7
    for n, at_ms in enumerate(times, start=1):
        assert found[at_ms + 1] == read_window(path / f"{n}.window"), f"window {n}"


@pytest.mark.parametrize("name", ["testOnWindowClose", "testOnContentChange"])
def test_the_streams_are_read_whole(name: str) -> None:
    stream = read_by_time(folder(name) / "input.stream")
    assert {len(triples) for triples in stream.values()} == {7}
