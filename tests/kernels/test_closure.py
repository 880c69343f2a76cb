"""The closure on graphs large enough for deep trees, hubs and components, against Warshall's algorithm on a matrix."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from millstream.kernels.closure import PathClosure

NODES = 90


def told(rows, weights, change=0):
    rows = np.array(rows, np.int64).reshape(len(weights), -1)
    weights = np.array(weights, np.int64)
    return rows, np.full(len(rows), change, np.int64), np.full(len(rows), change, np.int64), weights


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
    closure = PathClosure(0, source=3 if sources == "one" else None, demanded=sources == "some")
    wanted = {"all": range(NODES), "one": [3], "some": range(0, NODES, 7)}[sources]
    if sources == "some":
        closure.feed(told([(0, 0)], [0]), None, told(wanted, [1] * len(wanted)))
    mask = np.zeros((NODES, 1), bool)
    mask[list(wanted)] = True
    graph, shown = np.zeros((NODES, NODES), bool), np.zeros((NODES, NODES), np.int64)
    for change in range(250):
        target = 0.9 if change % 100 < 60 else 0.4
        picked = {pool[i] for i in rng.integers(0, len(pool), rng.integers(1, most + 1))}
        picked = [edge for edge in picked if graph[edge] != (rng.random() < target)]
        if not picked:
            continue
        columns, _, _, weight = closure.feed(told(picked, [-1 if graph[edge] else 1 for edge in picked], change))
        for edge in picked:
            graph[edge] ^= True
        shown[columns[:, 0], columns[:, 1]] += weight
        assert np.array_equal(shown, warshall(graph) & mask)
    assert closure.stats["pairs"] == shown.sum()


def test_a_whole_graph_goes_in_one_change():
    rng = np.random.default_rng(5)
    edges = sorted({(int(s), int(o)) for s, o in sparse(rng)})
    closure = PathClosure(0)
    came = closure.feed(told(edges, [1] * len(edges)))
    went = closure.feed(told(edges, [-1] * len(edges)))
    assert np.array_equal(came[0], went[0])
    assert np.array_equal(came[3], -went[3])
    stats = closure.stats
    assert (stats["nodes"], stats["edges"], stats["pairs"]) == (0, 0, 0)


def test_a_chain_deeper_than_any_step_limit_is_cut_and_mended():
    closure, n = PathClosure(0, source=0), 5000
    closure.feed(told([(i, i + 1) for i in range(n)], [1] * n))
    cut = closure.feed(told([(n // 2, n // 2 + 1)], [-1]))
    assert len(cut[3]) == n // 2
    assert len(closure.feed(told([(n // 2, n // 2 + 1)], [1]))[3]) == n // 2
    # A second way around the cut: nothing is lost.
    closure.feed(told([(n // 2, -5), (-5, n // 2 + 1)], [1, 1]))
    assert len(closure.feed(told([(n // 2, n // 2 + 1)], [-1]))[3]) == 0


def test_columns_in_any_memory_order_are_read():
    rows, tick, change, weight = told([(1, 2), (2, 3)], [1, 1])
    sparse_weight = np.repeat(weight, 2)[::2]
    expected = PathClosure(0).feed((rows, tick, change, weight))[0].tolist()
    assert PathClosure(0).feed((np.asfortranarray(rows), tick, change, sparse_weight))[0].tolist() == expected
    assert PathClosure(0).feed((np.hstack([rows, rows])[:, 1:3][:, ::-1], tick, change, weight))[0].tolist() == expected


@pytest.mark.parametrize(
    "spoiled",
    [
        lambda rows, tick, change, weight: (rows[:, :1], tick, change, weight),
        lambda rows, tick, change, weight: (rows.astype(np.int32), tick, change, weight),
        lambda rows, tick, change, weight: (rows.astype(">i8"), tick, change, weight),
        lambda rows, tick, change, weight: (rows.ravel(), tick, change, weight),
        lambda rows, tick, change, weight: (rows, tick[:1], change, weight),
        lambda rows, tick, change, weight: (rows, tick, change, weight.astype(float)),
        lambda rows, tick, change, weight: (rows, tick, change, weight[:, None]),
    ],
    ids=["width", "32 bits", "byte order", "dimensions of rows", "length", "type of weight", "dimensions of weight"],
)
def test_rows_of_another_form_are_refused(spoiled):
    with pytest.raises(ValueError, match=r"expected|differ"):
        PathClosure(0).feed(spoiled(*told([(1, 2), (2, 3)], [1, 1])))


@pytest.mark.parametrize("given", [None, (), (1, 2), ([[1, 2]], [0], [0], [1]), (None,) * 4])
def test_what_is_not_four_arrays_is_refused(given):
    with pytest.raises((TypeError, ValueError)):
        PathClosure(0).feed(given)


def test_tags_beyond_two_are_refused():
    with pytest.raises(ValueError, match="from 0 to 2"):
        PathClosure(3)


def test_nodes_asked_for_need_a_closure_that_was_made_for_them():
    edges = told([(1, 2)], [1])
    with pytest.raises(ValueError, match="made without"):
        PathClosure(0).feed(edges, None, told([(1,)], [1]))
    with pytest.raises(ValueError, match="one source"):
        PathClosure(0, source=1, demanded=True)


def test_a_failed_change_leaves_no_output_behind():
    closure = PathClosure(0)
    with pytest.raises(ValueError, match="not there"):
        closure.feed(told([(1, 2), (3, 4)], [1, -1]))
    assert len(closure.feed(told([(1, 2)], [1]))[3]) == 0


@settings(deadline=None, max_examples=100)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(-2, 2)), max_size=30))
def test_rows_of_one_change_are_summed_before_they_count(given):
    total = {}
    for s, o, weight in given:
        total[s, o] = total.get((s, o), 0) + weight
    rows = given + [(s, o, 1 - weight if weight < 1 else 0) for (s, o), weight in total.items()]
    closure = PathClosure(0)
    edges = np.array([row[:2] for row in rows], np.int64).reshape(-1, 2)
    columns = closure.feed(told(edges, [row[2] for row in rows]))[0] if rows else np.empty((0, 2), np.int64)
    graph = np.zeros((4, 4), bool)
    graph[edges[:, 0], edges[:, 1]] = True
    assert columns.tolist() == np.argwhere(warshall(graph)).tolist()
