"""Labelled graphs and the queries over them."""

from __future__ import annotations

import pyoxigraph as ox

import millstream as ms
from benchmarks.workloads.labelled import Query, appearing, both_ways, graph, matches, queries
from benchmarks.workloads.patterns import plain


def test_every_query_gains_what_a_store_has_more_after_the_insertion_phase() -> None:
    given = graph(400, seed=3)
    text = [given.base_text(), given.inserted_text()]
    assert given.new
    assert len(given.edges) == len(set(given.edges)) == 400
    for query in queries(given, 4, 4, most=20_000):
        store, counts = ox.Store(), []
        engine = ms.Engine()
        registered = engine.register(plain(query.patterns), output="istream")
        for piece in text:
            store.load(piece.encode(), format=ox.RdfFormat.N_TRIPLES)
            engine.load(piece.encode(), format="nt")
            counts.append(len(list(store.query(plain(query.patterns)))))  # type: ignore[arg-type]
            assert registered.take_table().num_rows == counts[-1] - (counts[0] if len(counts) == 2 else 0)
        assert counts[1] > counts[0] or not query.is_tree
        if query.is_tree:
            assert appearing(given, query) == counts[1] - counts[0]


def test_the_matches_of_a_path_are_counted_each_way() -> None:
    path = Query((0, 1, 0), ((0, 1), (1, 2)))
    assert matches((0, 1, 0), both_ways([(0, 1), (1, 2)]), path) == 4
    assert path.patterns[0] == ("?x0", "<http://example.org/graph/edge>", "?x1")


def test_the_same_seed_gives_the_same_graph_and_queries() -> None:
    assert graph(300) == graph(300)
    assert queries(graph(300), 3, 5) == queries(graph(300), 3, 5)
    assert {query.is_tree for query in queries(graph(300), 4, 5)} == {True, False}
