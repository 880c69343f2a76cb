"""A random timeline with the reference evaluator's answers as expectations passes; with any one of them changed it fails."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from millstream.testing import read_spec
from tests.engine.machines import play
from tests.engine.scenarios import Scenario, Step, scenarios
from tests.reference import Reference

Expectation = tuple[int, int, dict[str, str]]
"""A time, a weight, and terms by variable."""


def expectations(scenario: Scenario, *, finish: bool) -> tuple[list[Expectation], int]:
    """What the reference evaluator emits, and how much was late."""
    reference = Reference(lateness_ms=scenario.lateness_ms, t0_ms=scenario.t0_ms)
    query = play(reference, scenario, finish=finish)
    if not finish:
        reference.advance_to(max(step.at_ms or 0 for step in scenario.steps))
    names = [variable.value for variable in query.query.variables]
    return [
        (change.at_ms, weight, {name: str(term) for name, term in zip(names, row, strict=True) if term is not None})
        for change in query.changes
        for row, weight in change.rows.items()
    ], len(reference.late)


def spec(scenario: Scenario, expected: list[Expectation], late: int, *, finish: bool) -> str:
    """The scenario as a SPEC."""
    lines = ["query", f"    {scenario.query}", f"lateness {scenario.lateness_ms}", f"t0 {scenario.t0_ms}"]
    lines += [] if scenario.output is None else [f"output {scenario.output}"]
    lines += [_event(step) for step in scenario.steps]
    for at_ms, weight, terms in expected:
        shown = " ".join(f"?{name}={term}" for name, term in terms.items())
        lines.append(f"expect at {at_ms} {weight:+d} {shown}")
    lines += [f"expect late {late}", *(["finish"] if finish else [])]
    return "".join(f"{line}\n" for line in lines)


def _event(step: Step) -> str:
    triples = " ".join(step.triples)
    target = f"<{step.target}>"
    match step.call, step.target:
        case "push", _:
            return f"at {step.at_ms} push {target} {triples}"
        case "advance", _:
            return f"at {step.at_ms} advance"
        case call, None:
            return f"at {step.at_ms} {call} {triples}"
        case call, _:
            return f"at {step.at_ms} {call} {'into' if call == 'insert' else 'from'} {target} {triples}"


def _other_value(expectation: Expectation) -> Expectation:
    at_ms, weight, terms = expectation
    return at_ms, weight, {**terms, **dict.fromkeys(list(terms)[:1], "<http://example.org/other>")}


MUTATIONS: list[Callable[[Expectation], list[Expectation]]] = [
    lambda e: [],
    lambda e: [e, e],
    lambda e: [(e[0] + 1, *e[1:])],
    lambda e: [(e[0], -e[1], e[2])],
    lambda e: [(e[0], e[1] * 2, e[2])],
    lambda e: [_other_value(e)] if e[2] else [],
]


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(scenarios(), st.booleans(), st.data())
def test_what_the_reference_evaluator_says_passes_and_anything_else_fails(
    scenario: Scenario, finish: bool, data: Any
) -> None:
    expected, late = expectations(scenario, finish=finish)
    outcome = read_spec(spec(scenario, expected, late, finish=finish)).run()
    assert outcome.passed, str(outcome)
    assert not read_spec(spec(scenario, expected, late + 1, finish=finish)).run().passed
    if not expected:
        return
    place = data.draw(st.integers(0, len(expected) - 1))
    mutated = data.draw(st.sampled_from(MUTATIONS))(expected[place])
    changed = [*expected[:place], *mutated, *expected[place + 1 :]]
    outcome = read_spec(spec(scenario, changed, late, finish=finish)).run()
    if finish or max((at_ms for at_ms, _, _ in mutated), default=0) <= max(step.at_ms or 0 for step in scenario.steps):
        assert outcome.missing or outcome.surplus, str(outcome)
        assert "missing" in str(outcome) or "surplus" in str(outcome)
