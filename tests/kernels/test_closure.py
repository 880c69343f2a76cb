"""The closure on graphs large enough for deep trees, hubs and components, against Warshall's algorithm on a matrix."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from millstream.kernels.flow.deltas import Deltas
from millstream.kernels.paths.closure import PathClosure

NODES = 90


def told(rows, weights, change=0):
    rows = np.array(rows, np.int64).reshape(len(weights), -1)
    weights = np.array(weights, np.int64)
    return Deltas(rows, np.full(len(rows), change, np.int64), np.full(len(rows), change, np.int64), weights)


def paths(**more):
    """A closure over edges, and over nodes asked for if it is told so."""
    inputs = [Deltas(width=2), *[Deltas(width=1)] * more.get("demanded", False)]
    return PathClosure(inputs, 2, **more)


def feed(closure, edges, asked=None):
    nothing = Deltas(width=1)
    return closure.run(edges, *[asked or nothing] * (len(closure.inputs) - 1))


def warshall(graph):
    reached = graph.copy()
    for middle in range(len(graph)):
        reached |= np.outer(reached[:, middle], reached[middle])
    return reached


def chain(rng):
    order = rng.permutation(NODES)
    return list(pairwise(order))


def ring(rng):
    return [*chain(rng), *chain(rng)]


def tree(rng):
    return [(rng.integers(0, child), child) for child in range(1, NODES)]


def hub(rng):
    spokes = [(node, 0) if node % 2 else (0, node) for node in range(1, NODES)]
    return spokes + sparse(rng)[:20]


def sparse(rng):
    return [tuple(rng.integers(0, NODES, 2)) for _ in range(2 * NODES)]


def grid(rng):
    side = int(NODES**0.5)
    places = [(x, y) for x in range(side - 1) for y in range(side - 1)]
    right = [(x * side + y, x * side + y + 1) for x, y in places]
    return right + [(x * side + y, (x + 1) * side + y) for x, y in places] + [(side * side - 1, 0)]


@pytest.mark.parametrize("shape", [chain, ring, tree, hub, sparse, grid])
@pytest.mark.parametrize("most", [1, 12], ids=["one edge a change", "many edges a change"])
@pytest.mark.parametrize("sources", ["all", "one", "some"])
def test_pairs_are_those_of_warshall_after_every_change(shape, most, sources):
    rng = np.random.default_rng([most, len(sources)])
    pool = sorted({(int(s), int(o)) for s, o in shape(rng)})
    closure = paths(source=3 if sources == "one" else None, demanded=sources == "some")
    wanted = {"all": range(NODES), "one": [3], "some": range(0, NODES, 7)}[sources]
    if sources == "some":
        feed(closure, told([(0, 0)], [0]), told(wanted, [1] * len(wanted)))
    mask = np.zeros((NODES, 1), bool)
    mask[list(wanted)] = True
    graph, shown = np.zeros((NODES, NODES), bool), np.zeros((NODES, NODES), np.int64)
    for change in range(250):
        target = 0.9 if change % 100 < 60 else 0.4
        picked = {pool[i] for i in rng.integers(0, len(pool), rng.integers(1, most + 1))}
        picked = [edge for edge in picked if graph[edge] != (rng.random() < target)]
        if not picked:
            continue
        found = feed(closure, told(picked, [-1 if graph[edge] else 1 for edge in picked], change))
        for edge in picked:
            graph[edge] ^= True
        shown[found.columns[:, 0], found.columns[:, 1]] += found.weight
        assert np.array_equal(shown, warshall(graph) & mask)
    assert closure.stats["pairs"] == shown.sum()


def test_a_whole_graph_goes_in_one_change():
    rng = np.random.default_rng(5)
    edges = sorted({(int(s), int(o)) for s, o in sparse(rng)})
    closure = paths()
    came = closure.run(told(edges, [1] * len(edges)))
    went = closure.run(told(edges, [-1] * len(edges)))
    assert np.array_equal(came.columns, went.columns)
    assert np.array_equal(came.weight, -went.weight)
    stats = closure.stats
    assert (stats["nodes"], stats["edges"], stats["pairs"]) == (0, 0, 0)


def test_a_chain_deeper_than_any_step_limit_is_cut_and_mended():
    closure, n = paths(source=0), 5000
    closure.run(told([(i, i + 1) for i in range(n)], [1] * n))
    cut = closure.run(told([(n // 2, n // 2 + 1)], [-1]))
    assert len(cut) == n // 2
    assert len(closure.run(told([(n // 2, n // 2 + 1)], [1]))) == n // 2
    # A second way around the cut: nothing is lost.
    closure.run(told([(n // 2, -5), (-5, n // 2 + 1)], [1, 1]))
    assert len(closure.run(told([(n // 2, n // 2 + 1)], [-1]))) == 0


@pytest.mark.parametrize(
    ("widths", "more"),
    [([1], {}), ([3], {}), ([2, 2], {"demanded": True}), ([2, 2], {"zero_length": True}), ([3], {"width": 4})],
)
def test_inputs_of_another_width_are_refused(widths, more):
    with pytest.raises(ValueError, match=r"expected \d columns, got \d"):
        PathClosure([Deltas(width=width) for width in widths], **{"width": 2, **more})


@pytest.mark.parametrize("more", [{"demanded": True}, {"zero_length": True}, {"width": 3, "source": 1, "zero_length": True}])
def test_inputs_that_are_missing_are_named(more):
    with pytest.raises(ValueError, match=r"expected 2 inputs \(edges, (demand|nodes|tags)\), got 1"):
        PathClosure([Deltas(width=more.get("width", 2))], **{"width": 2, **more})


def test_tags_beyond_two_are_refused():
    with pytest.raises(ValueError, match="from 0 to 2"):
        PathClosure([Deltas(width=5)], 5)


def test_a_closure_of_one_source_is_not_asked_for_others():
    with pytest.raises(ValueError, match="one source"):
        paths(source=1, demanded=True)


def test_a_failed_change_leaves_no_output_behind():
    closure = paths()
    with pytest.raises(ValueError, match="not there"):
        closure.run(told([(1, 2), (3, 4)], [1, -1]))
    assert len(closure.run(told([(1, 2)], [1]))) == 0


@settings(deadline=None, max_examples=100)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(-2, 2)), max_size=30))
def test_rows_of_one_change_are_summed_before_they_count(given):
    total = {}
    for s, o, weight in given:
        total[s, o] = total.get((s, o), 0) + weight
    rows = given + [(s, o, 1 - weight if weight < 1 else 0) for (s, o), weight in total.items()]
    closure = paths()
    edges = np.array([row[:2] for row in rows], np.int64).reshape(-1, 2)
    columns = closure.run(told(edges, [row[2] for row in rows])).columns if rows else np.empty((0, 2), np.int64)
    graph = np.zeros((4, 4), bool)
    graph[edges[:, 0], edges[:, 1]] = True
    assert columns.tolist() == np.argwhere(warshall(graph)).tolist()
