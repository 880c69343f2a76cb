"""States of keys change a graph in any number of cells as the changes that they come to do in one engine."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from unittest.mock import patch

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from millstream.pipeline.job.specification import StreamedSource
from millstream.pipeline.state import change_log
from tests.engine.scenarios import GRAPHS, STREAMS, queries, triples
from tests.pipeline.simulation import Element
from tests.pipeline.state.test_cells_simulated import Setting, elements_of, expected, simulated

KEYED = tuple(StreamedSource(graph, changes=True, keyed=True) for graph in GRAPHS)


@st.composite
def states(draw: st.DrawFn) -> tuple[Element, ...]:
    """Of a few keys, whose triples overlap; some state nothing, and times may go back."""
    now = draw(st.integers(0, 3))
    found = []
    for _ in range(draw(st.integers(0, 12))):
        now += draw(st.sampled_from([0, 0, 1, 2, 5]))
        some = tuple(dict.fromkeys(draw(st.lists(triples, max_size=3))))
        at_ms = max(0, now - draw(st.sampled_from([0, 0, 0, 2])))
        found.append(Element(some, at_ms, key=draw(st.sampled_from(["a", "b", "\x00\xff"]))))
    return tuple(found)


@st.composite
def keyed_settings(draw: st.DrawFn) -> Setting:
    lateness_ms = draw(st.sampled_from([0, 0, 2]))
    sources = (StreamedSource(STREAMS[0]), *draw(st.sampled_from([KEYED[:1], KEYED])))
    elements = (draw(elements_of(lateness_ms, False)), *(draw(states()) for _ in sources[1:]))
    output = draw(st.sampled_from([None, "istream", "rstream", "changes", "changes"]))
    return Setting(draw(queries()), output, lateness_ms, tuple(draw(st.lists(triples, max_size=3))), sources, elements)


def changes_of(elements: tuple[Element, ...]) -> tuple[Element, ...]:
    """The changes that states of keys come to: a triple is there as long as any key states it."""
    stated: dict[str, set[str]] = {}
    largest, found = -100, []
    for element in elements:
        largest = max(largest, element.at_ms)
        before = set[str]().union(*stated.values())
        stated[element.key] = set(element.triples)
        after = set[str]().union(*stated.values())
        if before - after:
            found.append(Element(tuple(sorted(before - after)), largest, -1))
        if after - before:
            found.append(Element(tuple(sorted(after - before)), largest))
    return tuple(found)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(
    keyed_settings(),
    st.sampled_from([1, 2, 3, 4]),
    st.integers(0, 1 << 30),
    st.lists(st.integers(0, 4), max_size=6),
)
def test_states_of_keys_are_the_changes_they_come_to(setting: Setting, cells: int, seed: int, cuts: list[int]) -> None:
    # The whole state is dumped every other trigger.
    with patch.object(change_log, "MOST_SLICES", 2):
        job = simulated(setting, cells, seed, cuts)
    assume(job is not None)
    assert job is not None
    sources = tuple(replace(source, keyed=False) for source in setting.sources)
    elements = (setting.elements[0], *map(changes_of, setting.elements[1:]))
    answers, _ = expected(replace(setting, sources=sources, elements=elements))
    assert Counter(job.answers) == answers
