"""Runs a scenario on the engine and on the reference evaluator, and compares what they emit."""

from __future__ import annotations

from collections import Counter
from typing import Any

from millstream.engine import Engine
from tests.engine.scenarios import Scenario, Step
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
