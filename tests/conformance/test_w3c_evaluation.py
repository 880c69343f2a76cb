"""The W3C's query evaluation tests of SPARQL 1.0 and 1.1, run three ways; each must come to the expected result.

- *loaded*: the query is registered over the data as a whole;
- *inserted*: it is registered over nothing, then the triples come one by one in a random order;
- *changed*: as before, while other triples come and go between them, and some of the data goes and comes back.

Entailment and federation are other recommendations. What a query emitted must add up to its answer set, too.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import pyoxigraph as ox
import pytest

from millstream import Answer, ContinuousQuery, Engine
from millstream.language import algebra as a
from millstream.language import parse_query
from tests.conformance import w3c_results as results
from tests.suites import MF, QT, RDFS, Case, cases, has_suite, path_of, suite

KINDS = {"QueryEvaluationTest", "CSVResultFormatTest"}
ELSEWHERE = {"entailment", "service"}

Quad: TypeAlias = tuple[str | None, ox.Triple]
"""A graph's name, None for the default graph, and a triple."""
Way: TypeAlias = Callable[[Case, tuple[Quad, ...]], ContinuousQuery]


def collect() -> Iterator[tuple[str, Case]]:
    """Tests by name, which the two suites may have in common."""
    if not has_suite("w3c/sparql"):
        return
    root = suite("w3c/sparql")
    for name, manifest in (("sparql10", "manifest-evaluation.ttl"), ("sparql11", "manifest-all.ttl")):
        for case in cases(root / name / manifest):
            if case.kinds & KINDS and case.manifest.parent.name not in ELSEWHERE:
                yield f"{name}/{case.id}", case


CASES = dict(collect())


# The data of a test ---------------------------------------------------------------------------------------------------


@cache
def triples_of(path: Path) -> tuple[ox.Triple, ...]:
    return tuple(results.read_triples(path))


def query_of(case: Case) -> tuple[str, str]:
    """The text of a query and its base."""
    named = case.action_value(QT + "query")
    path = path_of(named) if named is not None else case.action_path
    return path.read_text("utf-8"), path.resolve().as_uri()


@cache
def data_of(name: str) -> tuple[Quad, ...]:
    """What the datasets hold in the end."""
    case = CASES[name]
    found: dict[Quad, None] = {}
    for data in case.action_values(QT + "data"):
        found |= dict.fromkeys((None, triple) for triple in triples_of(path_of(data)))
    for data in case.action_values(QT + "graphData"):
        file = case.statements.value(data, QT + "graph")
        label = case.statements.value(data, RDFS + "label")
        graph = data.value if label is None else label.value
        found |= dict.fromkeys((graph, triple) for triple in triples_of(path_of(data if file is None else file)))
    text, base = query_of(case)
    if "FROM" in text.upper():
        dataset = parse_query(text, base=base).dataset
        for chosen in {*(dataset.default or ()), *(dataset.named or ())}:
            if chosen.value.startswith("file:"):
                found |= dict.fromkeys((chosen.value, triple) for triple in triples_of(path_of(chosen)))
    return tuple(found)


# The ways -------------------------------------------------------------------------------------------------------------


def loaded(case: Case, data: tuple[Quad, ...]) -> ContinuousQuery:
    engine = Engine(strict=True)
    by_graph: dict[str | None, list[ox.Triple]] = {}
    for graph, triple in data:
        by_graph.setdefault(graph, []).append(triple)
    for graph, triples in by_graph.items():
        engine.insert(triples, graph=graph)
    text, base = query_of(case)
    return engine.register(text, base=base)


def inserted(case: Case, data: tuple[Quad, ...]) -> ContinuousQuery:
    engine = Engine(strict=True)
    text, base = query_of(case)
    query = engine.register(text, base=base)
    coming = list(data)
    random.Random(case.id).shuffle(coming)
    for at_ms, (graph, triple) in enumerate(coming):
        engine.insert([triple], at_ms=at_ms, graph=graph)
    return query


def changed(case: Case, data: tuple[Quad, ...]) -> ContinuousQuery:
    engine = Engine(strict=True)
    text, base = query_of(case)
    query = engine.register(text, base=base)
    chance = random.Random(case.id)
    for at_ms, (insert, (graph, triple)) in enumerate(history(data, chance)):
        (engine.insert if insert else engine.delete)([triple], at_ms=at_ms, graph=graph)
    return query


def history(data: tuple[Quad, ...], chance: random.Random) -> Iterator[tuple[bool, Quad]]:
    """Inserts and deletes that come to the data: what does not belong there goes, what belongs there comes back."""
    graphs = [*dict.fromkeys(graph for graph, _ in data), None, "http://example.org/elsewhere"]
    triples = [triple for _, triple in data]
    there: set[Quad] = set()
    waiting = list(data)
    chance.shuffle(waiting)
    strangers: list[Quad] = []
    while waiting:
        quad = waiting.pop()
        if quad not in there:
            there.add(quad)
            yield True, quad
        if chance.random() < 0.5:
            s, p, o = (chance.choice(triples)[place] for place in range(3))
            other = (chance.choice(graphs), ox.Triple(s, p, o))
            if other not in there:
                there.add(other)
                strangers.append(other)
                yield True, other
        if strangers and chance.random() < 0.4:
            other = strangers.pop(chance.randrange(len(strangers)))
            if other not in data:
                there.remove(other)
                yield False, other
        if chance.random() < 0.2:
            gone = chance.choice(data)
            if gone in there:
                there.remove(gone)
                waiting.insert(chance.randrange(len(waiting) + 1), gone)
                yield False, gone
    chance.shuffle(strangers)
    for other in strangers:
        if other not in data:
            yield False, other


WAYS = (loaded, inserted, changed)


# The tests ------------------------------------------------------------------------------------------------------------


@cache
def expected(path: Path) -> results.Result:
    return results.read_result(path)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", CASES)
def test_a_query_comes_to_the_expected_result(name: str, way: Way) -> None:
    case = CASES[name]
    query = way(case, data_of(name))
    check(case, query)
    assert summed_up(query.take()) == answer_set(query.solutions())


def check(case: Case, query: ContinuousQuery) -> None:
    found, wanted = query.solutions(), expected(case.result_path)
    match wanted:
        case bool():
            assert found == wanted
        case frozenset():
            assert results.same_graph(found, wanted), f"{found} is not {wanted}"
        case results.Table(variables, solutions, ordered):
            assert set(query.variables) == variables
            if case.result_path.suffix == ".csv":
                found = [{name: results.as_csv(term) for name, term in row.items()} for row in found]
            ordered = ordered or asks_for_an_order(case)
            lax = case.statements.value(case.subject, MF + "resultCardinality") == ox.NamedNode(MF + "LaxCardinality")
            assert results.same_solutions(found, solutions, ordered=ordered, lax=lax), f"{found} is not {solutions}"


def asks_for_an_order(case: Case) -> bool:
    """Whether the query itself has an ORDER BY, not only a part of it."""
    text, base = query_of(case)
    if "ORDER" not in text.upper():
        return False
    pattern = parse_query(text, base=base).pattern
    while isinstance(pattern, a.Slice | a.Distinct | a.Reduced | a.Project):
        pattern = pattern.pattern
    return isinstance(pattern, a.OrderBy)


def summed_up(answers: list[Answer]) -> Counter[str]:
    """What is left of everything that came and went."""
    left: Counter[str] = Counter()
    for answer in answers:
        left[text_of(answer.bindings)] += answer.weight
    return Counter({row: weight for row, weight in left.items() if weight})


def answer_set(solutions: Any) -> Counter[str]:
    if isinstance(solutions, bool):
        return Counter([text_of({"boolean": ox.Literal(solutions)})])
    names = ("subject", "predicate", "object")
    return Counter(text_of(dict(zip(names, s, strict=True)) if isinstance(s, ox.Triple) else s) for s in solutions)


def text_of(bindings: Mapping[str, results.Term]) -> str:
    return " ".join(f"{name}={term}" for name, term in sorted(bindings.items()))


def test_the_suites_are_whole() -> None:
    suite("w3c/sparql")
    assert len(CASES) == len(list(collect())) == 518
