"""EVENT queries that need no state: each element matched where it is read gives what one engine gives."""

from __future__ import annotations

import random
from collections import Counter

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from millstream.errors import UnsupportedQueryError
from millstream.pipeline.datasets.static import StaticData
from millstream.pipeline.job.specification import StreamedSource, job_spec
from millstream.pipeline.job.stateless import ElementMatcher
from tests.engine.scenarios import GRAPHS, STREAMS, filters, groups, triples
from tests.pipeline.simulation import Job, Row
from tests.pipeline.state.test_cells_simulated import Setting, elements_of, expected, loaded_here


@st.composite
def event_queries(draw: st.DrawFn) -> str:
    blocks = [b.replace("_:x", f"_:x{i}") for i, b in enumerate(draw(st.lists(groups(), min_size=1, max_size=3)))]
    body = [f"STREAM <{STREAMS[0]}> [EVENT] {{ {blocks[0]} }}"]
    for block in blocks[1:]:
        place = draw(st.sampled_from([f"STREAM <{STREAMS[0]}> [EVENT] ", f"GRAPH <{GRAPHS[1]}> ", ""]))
        # What hangs on the first block has no answer without it either.
        around = draw(st.sampled_from(["%s", "%s", "OPTIONAL { %s }", "MINUS { %s }", "FILTER NOT EXISTS { %s }"]))
        body.append(around % f"{place}{{ {block} }}")
    if draw(st.integers(0, 2)) == 0:
        body.append(f"FILTER({draw(filters)})")
    head, tail = draw(st.sampled_from([("*", "")] * 3 + [("DISTINCT ?a", ""), ("?a (COUNT(*) AS ?n)", " GROUP BY ?a")]))
    return f"SELECT {head} WHERE {{ {' '.join(body)} }}{tail}"


@st.composite
def some_settings(draw: st.DrawFn) -> Setting:
    output = draw(st.sampled_from([None, "istream", "rstream"]))
    loaded = tuple(draw(st.lists(triples, max_size=6)))
    # In order: no answer depends on it, so on Spark nothing is late, and in an engine nothing then is either.
    elements = sorted(draw(elements_of(0, False)), key=lambda e: e.at_ms)
    return Setting(draw(event_queries()), output, 0, loaded, (StreamedSource(STREAMS[0]),), (tuple(elements),))


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(some_settings(), st.integers(0, 1 << 30))
def test_elements_alone_answer_as_one_engine(setting: Setting, seed: int) -> None:
    try:
        plan = job_spec(setting.query, setting.sources, cells=4, output=setting.output)
    except UnsupportedQueryError:
        assume(False)
    assert plan.cells.stateless
    static = loaded_here(setting, plan)
    chance = random.Random(seed)
    elements = list(setting.elements[0])
    # Parts are packed in order and matched in any order, by two workers.
    packing = Job(plan, None, seed, calm=True)
    blobs = []
    while elements:
        size = chance.randint(1, len(elements))
        blobs += [blob for _, blob in packing.pack(0, elements[:size])]
        elements = elements[size:]
    chance.shuffle(blobs)
    workers = [ElementMatcher(plan, StaticData.from_bytes(static.to_bytes())) for _ in range(2)]
    found: Counter[Row] = Counter()
    for blob in blobs:
        table = chance.choice(workers).match(blob)
        names = table.column_names[2:]
        found.update((r["at_ms"], r["weight"], tuple(r[name] for name in names)) for r in table.to_pylist())
    answers, _ = expected(setting)
    assert found == answers


def test_a_changing_dataset_needs_state() -> None:
    query = f"SELECT * {{ STREAM <{STREAMS[0]}> [EVENT] {{ ?a ?p ?b }} ?b ?q ?c }}"
    stream = StreamedSource(STREAMS[0])
    assert job_spec(query, [stream], cells=4).cells.stateless
    changing = job_spec(query, [stream, StreamedSource(None, changes=True)], cells=4)
    assert not changing.cells.stateless
    assert changing.cells.count == 1
