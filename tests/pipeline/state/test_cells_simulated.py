"""The answers of any number of cells are those of one engine, for every cut into triggers and whatever dies in between."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from millstream import Engine
from millstream.errors import UnsupportedQueryError
from millstream.limits import Limits
from millstream.pipeline.datasets.loading import load_datasets
from millstream.pipeline.datasets.static import StaticData
from millstream.pipeline.job.specification import JobSpec, StreamedSource, job_spec
from tests.engine.scenarios import GRAPHS, NODES, PREDICATES, STREAMS, queries, triples
from tests.pipeline.simulation import Element, Job, Row, in_order

SOURCES = [StreamedSource(s) for s in STREAMS] + [StreamedSource(g, changes=True) for g in GRAPHS]


@dataclass(frozen=True)
class Setting:
    """A query over sources that bring what they bring, each in its own order."""

    query: str
    output: str | None
    lateness_ms: int
    loaded: tuple[str, ...]
    sources: tuple[StreamedSource, ...]
    elements: tuple[tuple[Element, ...], ...]


@st.composite
def elements_of(draw: st.DrawFn, lateness_ms: int, changes: bool) -> tuple[Element, ...]:
    now = draw(st.integers(-3, 3))
    found = []
    for _ in range(draw(st.integers(0, 12))):
        now += draw(st.sampled_from([0, 0, 1, 1, 2, 5]))
        at_ms = now - draw(
            st.sampled_from([0, 0, 0, 0, 1, 2, 3]) if lateness_ms or draw(st.integers(0, 5)) == 0 else st.just(0)
        )
        op = draw(st.sampled_from([1, 1, -1])) if changes else 1
        some = tuple(dict.fromkeys(draw(st.lists(triples, min_size=1, max_size=3))))
        found.append(Element(some, at_ms, op))
    return tuple(found)


@st.composite
def some_settings(draw: st.DrawFn, texts: st.SearchStrategy[str], changing: bool = True) -> Setting:
    """Settings with queries of a kind; unless `changing`, datasets stay as they are."""
    lateness_ms = draw(st.sampled_from([0, 0, 2]))
    chosen = draw(
        st.sampled_from([SOURCES[:1], SOURCES[:2], SOURCES[:3], SOURCES] if changing else [SOURCES[:1], SOURCES[:2]])
    )
    found = tuple(draw(elements_of(lateness_ms, s.changes)) for s in chosen)
    output = draw(st.sampled_from([None, "istream", "dstream", "rstream", "changes", "changes"]))
    loaded = tuple(draw(st.lists(triples, max_size=4 if changing else 12)))
    return Setting(draw(texts), output, lateness_ms, loaded, tuple(chosen), found)


def expected(setting: Setting) -> tuple[Counter[Row], int]:
    engine = Engine()
    for graph in GRAPHS:
        engine.load("\n".join(setting.loaded).encode(), graph=graph, format="nt")
    query = engine.register(setting.query, output=setting.output)
    ordered, late = in_order([list(e) for e in setting.elements], setting.lateness_ms)
    for number, element in ordered:
        source, text = setting.sources[number], "\n".join(element.triples)
        if not source.changes:
            engine.push(source.name or "", text, at_ms=element.at_ms)
        elif element.op > 0:
            engine.insert(text, at_ms=element.at_ms, graph=source.name)
        else:
            engine.delete(text, at_ms=element.at_ms, graph=source.name)
    engine.finish()
    table = query.take_table().to_pylist()
    return Counter((r["at_ms"], r["weight"], tuple(r[v] for v in query.variables)) for r in table), late


def loaded_here(setting: Setting, plan: JobSpec) -> StaticData:
    """The datasets as a driver reads them."""
    text = "\n".join(setting.loaded).encode()
    return load_datasets(dict.fromkeys(GRAPHS, text), plan, lambda r: None, format="nt").static


def simulated(
    setting: Setting,
    cells: int,
    seed: int,
    cuts: list[int],
    ends: int = 0,
    load: Callable[[Setting, JobSpec], StaticData] = loaded_here,
) -> Job | None:
    """The job, run to its end; every so many triggers (`ends`) it had come to an end that was none."""
    try:
        job_plan = job_spec(
            setting.query, setting.sources, cells=cells, output=setting.output, lateness_ms=setting.lateness_ms
        )
    except UnsupportedQueryError:
        return None
    if job_plan.cells.stateless or {w.stream.value for w in job_plan.query.windows} - {s.name for s in setting.sources}:
        return None
    job = Job(job_plan, load(setting, job_plan), seed)
    left = [list(e) for e in setting.elements]
    turn = 0
    while any(left):
        arrived = []
        for number, elements in enumerate(left):
            # Now and then everybody brings something, or some source never would.
            size = max(cuts[turn % len(cuts)], turn % 7 == 0) if cuts else len(elements)
            turn += 1
            arrived.append(elements[:size])
            left[number] = elements[size:]
        if any(arrived):
            job.trigger(arrived, ended=bool(ends) and turn % ends == 0, open=True)
    job.trigger([[] for _ in left], ended=True)
    return job


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(
    some_settings(queries()),
    st.sampled_from([1, 2, 3, 4, 8]),
    st.integers(0, 1 << 30),
    st.lists(st.integers(0, 4), max_size=6),
)
def test_cells_answer_as_one_engine(setting: Setting, cells: int, seed: int, cuts: list[int]) -> None:
    job = simulated(setting, cells, seed, cuts)
    assume(job is not None)
    assert job is not None
    answers, _ = expected(setting)
    assert Counter(job.answers) == answers


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(
    some_settings(queries()),
    st.sampled_from([1, 2, 3]),
    st.integers(0, 1 << 30),
    st.lists(st.integers(0, 4), max_size=6),
    st.integers(1, 3),
)
def test_a_job_goes_on_behind_its_end_as_if_there_had_been_none(
    setting: Setting, cells: int, seed: int, cuts: list[int], ends: int
) -> None:
    job = simulated(setting, cells, seed, cuts, ends)
    assume(job is not None)
    assert job is not None
    answers, _ = expected(setting)
    assert Counter(job.answers) == answers


def test_a_cell_without_rows_tells_what_datasets_give_also_if_the_first_element_is_held_to_the_end() -> None:
    # The element is held back by the lateness until everything ends, and only one of the cells has it.
    query = "PREFIX : <http://example.org/> SELECT * { { STREAM :s0 [RANGE 6] { ?a :p0 ?b } } UNION { ?a :p1 ?c } }"
    nodes = [f"<http://example.org/n{i}>" for i in range(8)]
    loaded = tuple(f"{node} <http://example.org/p1> {node} ." for node in nodes)
    element = Element((f"{nodes[0]} <http://example.org/p0> {nodes[0]} .",), 0)
    setting = Setting(query, None, 2, loaded, tuple(SOURCES[:1]), ((element,),))
    job = simulated(setting, 4, 0, [])
    assert job is not None
    assert job.spec.cells.count == 4
    answers, _ = expected(setting)
    assert len(answers) == 9
    assert Counter(job.answers) == answers


@pytest.mark.parametrize("changes", [False, True])
@pytest.mark.parametrize("cells", [1, 2])
def test_at_the_end_time_comes_to_what_a_lateness_held_back_though_no_cell_sees_it(cells: int, changes: bool) -> None:
    #  0  1  2 .. 7  8        the last one matches nothing: windows close before it all the same
    #  x                x
    window = f"STREAM <{STREAMS[0]}> [RANGE 1 STEP 1] {{ ?x {PREDICATES[0]} ?y }}"
    query = f"SELECT RSTREAM ?x {{ {{ {window} }} UNION {{ ?x {PREDICATES[0]} {NODES[2]} }} }}"
    seen = Element((f"{NODES[0]} {PREDICATES[0]} {NODES[1]} .",), 0, 1)
    unseen = Element((f"{NODES[0]} {PREDICATES[1]} {NODES[1]} .",), 8, 1)
    sources, elements = ((SOURCES[0], SOURCES[3]), ((seen,), (unseen,))) if changes else ((SOURCES[0],), ((seen, unseen),))
    setting = Setting(query, None, 2, (f"{NODES[0]} {PREDICATES[0]} {NODES[2]} .",), sources, elements)
    job = simulated(setting, cells, 0, [1])
    assert job is not None
    assert {at_ms for at_ms, _, _ in job.answers} >= set(range(8))
    assert Counter(job.answers) == expected(setting)[0]


def test_cells_have_the_limits_of_their_job() -> None:
    text = (
        "SELECT ?s ?v (COUNT(*) AS ?n) { STREAM <http://e/s> [RANGE 9] { ?s <http://e/p> ?x } "
        'BIND(COALESCE(CONCAT(?x, ?x), "too long") AS ?v) } GROUP BY ?s ?v'
    )
    elements = [Element((f'<http://e/{i}> <http://e/p> "{"a" * i}" .',), i) for i in range(1, 9)]
    for cells in (1, 3):
        plan = job_spec(text, [StreamedSource("http://e/s")], cells=cells, output="changes", limits=Limits(value_bytes=10))
        job = Job(JobSpec.from_json(plan.to_json()), None, seed=1)
        job.trigger([elements])
        found = {row[0]: row[1] for _, weight, row in job.answers if weight > 0}
        assert found == {f"<http://e/{i}>": '"too long"' if i > 5 else f'"{"a" * 2 * i}"' for i in range(1, 9)}
