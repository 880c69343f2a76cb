"""Runs a scenario on the engine and on the reference evaluator, and compares what they emit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from millstream.engine import Engine
from tests.engine.scenarios import Close, Register, Scenario, Session, Step
from tests.reference import Change, Reference, Row


def play(machine: Any, scenario: Scenario, *, finish: bool = True) -> Any:
    """Registers the query and makes the calls; gives the query."""
    query = machine.register(scenario.query, output=scenario.output)
    for step in scenario.steps:
        take_step(machine, step)
    if finish:
        machine.finish()
    return query


def take_step(machine: Any, step: Step) -> None:
    text = "\n".join(step.triples)
    match step.call:
        case "push":
            machine.push(step.target, text, at_ms=step.at_ms)
        case "insert":
            machine.insert(text, at_ms=step.at_ms, graph=step.target)
        case "delete":
            machine.delete(text, at_ms=step.at_ms, graph=step.target)
        case "advance":
            machine.advance_to(step.at_ms)


def flat(answers: list[Any], variables: tuple[str, ...]) -> list[tuple[int, int, Row]]:
    return [(x.at_ms, x.weight, tuple(x.bindings.get(v) for v in variables)) for x in answers]


def assert_same(emitted: list[tuple[int, int, Row]], expected: list[Change]) -> None:
    """The emissions, in order, fall into the expected changes; within a change any order will do."""
    at = 0
    for change in expected:
        size = sum(abs(w) for w in change.rows.values())
        found = emitted[at : at + size]
        counted: Counter[Row] = Counter()
        for at_ms, weight, row in found:
            assert at_ms == change.at_ms, f"at {at_ms}, expected the change {change}; all: {emitted} expected {expected}"
            counted[row] += weight
        assert counted == change.rows, f"found {found}, expected {change}; all: {emitted} expected {expected}"
        at += size
    assert at == len(emitted), f"unexpected: {emitted[at:]}"


def check(scenario: Scenario, **options: Any) -> None:
    """The engine emits what the reference evaluator does, and both have the same answer set, also before the end."""
    for finish in (False, True):
        engine = Engine(lateness_ms=scenario.lateness_ms, t0_ms=scenario.t0_ms, **options)
        reference = Reference(lateness_ms=scenario.lateness_ms, t0_ms=scenario.t0_ms)
        query = play(engine, scenario, finish=finish)
        expected = play(reference, scenario, finish=finish)
        assert_same(flat(query.take(), query.variables), expected.changes)
        rows = Counter(tuple(s.get(v) for v in query.variables) for s in query.solutions())
        assert rows == expected.answers, f"answer set {rows}, expected {expected.answers}"
        assert engine.stats["late"] == len(reference.late)


def run_session(
    session: Session,
    after_each: Callable[[Engine], Engine | None] = lambda _: None,
    *,
    take_each: bool = False,
    **options: Any,
) -> None:
    """Every query of a session emits what the reference evaluator says, whatever else runs, until it is closed.

    `after_each` may do something to the engine after each step, or give another to go on with.
    """
    engine = Engine(lateness_ms=session.lateness_ms, t0_ms=session.t0_ms, **options)
    reference = Reference(lateness_ms=session.lateness_ms, t0_ms=session.t0_ms)
    for graph, some in session.loaded:
        text = "\n".join(some)
        engine.load(text.encode(), graph=graph, format="nt")
        reference.load(text, graph=graph)
    queries: list[tuple[Any, Any]] = []
    emitted: list[list[tuple[int, int, Row]]] = []
    for step in session.steps:
        match step:
            case Register(text, output):
                queries.append((engine.register(text, output=output), reference.register(text, output=output)))
                emitted.append([])
            case Close(place):
                query, expected = queries[place]
                query.close()
                if expected in reference.queries:
                    reference.queries.remove(expected)
            case Step():
                take_step(engine, step)
                take_step(reference, step)
        if (another := after_each(engine)) is not None:
            engine = another
            still_open = iter(engine.queries)
            queries = [(query if query.closed else next(still_open), expected) for query, expected in queries]
        for (query, _), so_far in zip(queries, emitted, strict=True):
            so_far.extend(flat(query.take(), query.variables) if take_each else ())
    engine.finish()
    reference.finish()
    for (query, expected), so_far in zip(queries, emitted, strict=True):
        if not query.closed:
            rows = Counter(tuple(s.get(v) for v in query.variables) for s in query.solutions())
            assert rows == expected.answers, f"answer set {rows}, expected {expected.answers}"
        assert_same(so_far + flat(query.take(), query.variables), expected.changes)
    assert engine.stats["late"] == len(reference.late)


def forget_all_that_may_be(engine: Engine) -> None:
    """Has the dictionary forget at once what it otherwise would over time: what is still needed must survive."""
    engine._core.housekeeping()
    engine._core.dictionary.sweep(1 << 16)
