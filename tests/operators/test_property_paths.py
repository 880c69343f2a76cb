"""Property paths that follow changes, against a search from every node after every change, and against pyoxigraph."""

from collections import Counter

import pyoxigraph as ox
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from millstream.operators.closure import closure as closure_of
from tests.operators.deltas_model import applied, begun, buffers, deltas, difference, listed, recomputed
from tests.operators.histories import histories, instants

NODES = 5
A, B, C = range(3)
NOWHERE = 99


def reached(edges, start):
    """The nodes at the end of paths of one or more edges."""
    found, todo = set(), [start]
    while todo:
        node = todo.pop()
        ends = {end for begin, end in edges if begin == node} - found
        found |= ends
        todo += ends
    return found


def paths(tag_width, starts, ends, demand, path):
    """A function from multisets of inputs to what a path must give, by the definitions of section 18.4."""

    def answers(edges, *more):
        inputs = dict(zip(input_names(tag_width, starts, ends, demand, path)[1:], more, strict=True))
        found = set()
        for tags in {row[:tag_width] for row in edges}:
            graph = {row[tag_width:] for row in edges if row[:tag_width] == tags}
            for start in {start for start, _ in graph}:
                found |= {(*tags, start, end) for end in reached(graph, start)}
        if path != "+":
            found |= {(*row, row[-1]) for row in inputs.get("nodes", ())}
            for constant in {starts, ends} - {None}:
                found |= {(*tags, constant, constant) for tags in inputs.get("tags", () if tag_width else ((),))}
        return Counter(
            row
            for row in found
            if starts in (None, row[-2])
            and ends in (None, row[-1])
            and (demand != "starts" or row[:-1] in inputs["demand"])
            and (demand != "ends" or (*row[:-2], row[-1]) in inputs["demand"])
        )

    return answers


def input_names(tag_width, starts, ends, demand, path):
    names = ["edges"]
    if path != "+":
        if starts is None and ends is None:
            names.append("nodes")
        elif tag_width and (starts is None or ends is None or starts == ends):
            names.append("tags")
    return names + ["demand"] * (demand is not None)


def operator(tag_width, starts, ends, demand, path):
    names = input_names(tag_width, starts, ends, demand, path)
    widths = [tag_width + {"edges": 2, "nodes": 1, "tags": 0, "demand": 1}[name] for name in names]
    return closure_of(buffers(*widths), tag_width + 2, starts, ends, zero_length=path == "*", demand=demand)


ENDS = [
    (None, None, None),
    (A, None, None),
    (None, A, None),
    (A, B, None),
    (A, A, None),
    (None, None, "starts"),
    (None, None, "ends"),
]


@pytest.mark.parametrize("path", ["+", "*"])
@pytest.mark.parametrize(
    ("starts", "ends", "demand"),
    ENDS,
    ids=["?x ?y", "a ?x", "?x a", "a b", "a a", "starts asked for", "ends asked for"],
)
@pytest.mark.parametrize("tag_width", [0, 1, 2])
@settings(deadline=None, max_examples=30)
@given(data=st.data())
def test_paths_follow_every_change_however_it_is_cut(data, tag_width, starts, ends, demand, path):
    made = operator(tag_width, starts, ends, demand, path)
    times = data.draw(instants())
    widths = [given.width for given in made.inputs]
    inputs = [data.draw(histories(width, times, values=NODES if tag_width < 2 else 3)) if width else [] for width in widths]
    cuts = data.draw(st.lists(st.integers(0, len(times)), max_size=3))
    model = paths(tag_width, starts, ends, demand, path)
    nothing = [Counter() for _ in inputs]
    assert listed(begun(made, 0, -1)) == difference((0, -1), Counter(), model(*nothing))
    assert applied(made, widths, inputs, cuts) == recomputed(inputs, model)


@settings(deadline=None, max_examples=30)
@given(data=st.data(), path=st.sampled_from("+*"), tag_width=st.integers(0, 1))
def test_nothing_is_kept_of_what_went(data, path, tag_width):
    made = operator(tag_width, None, None, "starts", path)
    times = data.draw(instants())
    widths = [given.width for given in made.inputs]
    inputs = [data.draw(histories(width, times, values=NODES)) for width in widths]
    applied(made, widths, inputs, ())
    left = [Counter() for _ in inputs]
    for multiset, changes in zip(left, inputs, strict=True):
        for _, members in changes:
            multiset.update(members)
    made.run(*(deltas(w, [((1000, 0), {r: -n for r, n in m.items() if n})]) for w, m in zip(widths, left, strict=True)))
    assert [made.stats[name] for name in ("nodes", "edges", "pairs")] == [0, 0, 0]


def rows(*edges, weight=1):
    return deltas(len(edges[0]), [((1, 0), dict.fromkeys(edges, weight))])


def pairs(given):
    return [(row, weight) for row, _, _, weight in listed(given)]


def test_a_cycle_connects_every_node_with_itself():
    closure = operator(0, None, None, None, "+")
    assert (A, A) not in dict(pairs(closure.run(rows((A, B), (B, C)))))
    assert pairs(closure.run(rows((C, A)))) == [(row, 1) for row in [(A, A), (B, A), (B, B), (C, A), (C, B), (C, C)]]


def test_an_edge_within_a_cycle_that_has_another_way_around_changes_nothing():
    closure = operator(0, None, None, None, "+")
    closure.run(rows((A, B), (B, C), (C, A), (A, C), (C, B)))
    assert len(closure.run(rows((A, B), weight=-1))) == 0


def test_an_edge_that_moves_in_one_change_shows_only_what_differs():
    #  a --> b --> c      becomes      a --> c
    closure = operator(0, None, None, None, "+")
    closure.run(rows((A, B), (B, C)))
    moved = deltas(2, [((2, 1), {(A, B): -1, (A, C): 1})])
    assert pairs(closure.run(moved)) == [((A, B), -1)]


def test_an_edge_that_is_there_twice_goes_with_the_second():
    closure = operator(0, None, None, None, "+")
    closure.run(rows((A, B), weight=2))
    assert len(closure.run(rows((A, B), weight=-1))) == 0
    assert pairs(closure.run(rows((A, B), weight=-1))) == [((A, B), -1)]


def test_a_constant_that_is_nowhere_has_a_path_to_itself():
    for starts, ends in [(NOWHERE, None), (None, NOWHERE), (NOWHERE, NOWHERE)]:
        assert pairs(begun(operator(0, starts, ends, None, "*"), 7, 3)) == [((NOWHERE, NOWHERE), 1)]
        assert len(begun(operator(0, starts, ends, None, "+"), 7, 3)) == 0
    assert len(begun(operator(0, NOWHERE, A, None, "*"), 7, 3)) == 0


def test_only_what_the_constant_reaches_is_kept():
    closure = operator(0, A, None, None, "+")
    closure.run(rows(*((i, i + 1) for i in range(100)), (A, 50)))
    assert closure.stats["pairs"] == 100


def test_paths_do_not_cross_tags():
    closure = operator(1, None, None, None, "+")
    assert len(closure.run(rows((1, A, B), (2, B, C)))) == 2


def test_a_row_taken_back_that_was_not_there_is_refused():
    with pytest.raises(ValueError, match="was not there"):
        operator(0, None, None, None, "+").run(rows((A, B), weight=-1))


def test_a_demand_does_not_go_with_a_constant():
    with pytest.raises(ValueError, match="constant end is not asked for by its ends"):
        operator(0, A, None, "ends", "+")


def test_inputs_that_are_missing_are_named():
    with pytest.raises(ValueError, match=r"expected 2 inputs \(edges, nodes\), got 1"):
        closure_of(buffers(2), 2, zero_length=True)


# pyoxigraph as the judge

GRAPHS = [ox.NamedNode("http://x/g0"), ox.NamedNode("http://x/g1")]
P, Q = ox.NamedNode("http://x/p"), ox.NamedNode("http://x/q")


def term(number):
    return ox.NamedNode(f"http://x/{number}")


def number_of(found):
    return int(found.value.rsplit("/", 1)[1].lstrip("g"))


def asked(store, pattern, names):
    solutions = store.query(f"PREFIX : <http://x/> SELECT DISTINCT {' '.join(names)} {{ {pattern} }}")
    return Counter(tuple(number_of(solution[name[1:]]) for name in names) for solution in solutions)


@st.composite
def quads(draw):
    """(graph, subject, predicate, object) that come, or go if they are there, one a change."""
    quad = st.tuples(st.integers(0, 1), st.integers(0, 4), st.sampled_from([P, P, P, Q]), st.integers(0, 4))
    return draw(st.lists(quad, max_size=30))


@pytest.mark.parametrize(
    ("pattern", "names", "starts", "ends"),
    [
        ("GRAPH ?g { ?x :p% ?y }", ("?g", "?x", "?y"), None, None),
        ("GRAPH ?g { :0 :p% ?y }", ("?g", "?y"), 0, None),
        ("GRAPH ?g { ?x :p% :0 }", ("?g", "?x"), None, 0),
    ],
)
@pytest.mark.parametrize("path", ["+", "*"])
@settings(deadline=None, max_examples=40)
@given(history=quads())
def test_pyoxigraph_finds_the_same(history, pattern, names, starts, ends, path):
    made, store = operator(1, starts, ends, None, path), ox.Store()
    held = [Counter() for _ in made.inputs]
    shown = Counter()
    for change, (graph, s, p, o) in enumerate(history):
        quad = ox.Quad(term(s), p, term(o), GRAPHS[graph])
        (store.remove if quad in store else store.add)(quad)
        now = {
            "edges": asked(store, "GRAPH ?g { ?x :p ?y }", ("?g", "?x", "?y")),
            "nodes": asked(store, "GRAPH ?g { { ?x ?p ?y } UNION { ?y ?p ?x } }", ("?g", "?x")),
            # It has no path of length zero from or to a constant that is not in the graph.
            "tags": asked(store, "GRAPH ?g { { :0 ?p ?y } UNION { ?y ?p :0 } }", ("?g",)),
        }
        given = []
        for i, name in enumerate(input_names(1, starts, ends, None, path)):
            differing = {row: now[name][row] - held[i][row] for row in now[name] | held[i]}
            given.append(
                deltas(
                    {"edges": 3, "nodes": 2, "tags": 1}[name],
                    [((change, change), {r: n for r, n in differing.items() if n})],
                )
            )
            held[i] = now[name]
        for row, _, _, weight in listed(made.run(*given)):
            shown[row if starts is ends is None else (row[0], row[2 if starts is not None else 1])] += weight
        assert +shown == asked(store, pattern.replace("%", path), names)
