"""Steps of plans: what runs as one, what is reused, and what began at different times."""

from __future__ import annotations

from pyoxigraph import Variable

from millstream.language import parse_query
from millstream.operators.dataflow.layout import step_of, steps_below
from millstream.plan.nodes import Extend, Filter, Join, Project, Rows
from millstream.plan.passes import plan_of

A, B, C, D = map(Variable, "ABCD")
START = Rows((A, B, C), ())


def test_nodes_that_only_their_successor_reads_form_a_chain() -> None:
    extended = Extend(START, D, A)
    left, right = Filter(extended, A), Filter(extended, B)
    projected = Project(right, ((A, A),))
    last = step_of(Join(left, projected))
    assert [step.chain for step in last.inputs] == [(left,), (right, projected)]
    assert {step.chain for part in last.inputs for step in part.inputs} == {(extended,)}
    assert [step.node for step in steps_below(last)] == [START, extended, left, projected, last.node]


def test_what_is_known_is_not_gone_into() -> None:
    shared = step_of(Filter(START, A))
    last = step_of(Join(Filter(START, A), Filter(START, B)))
    assert [step.node for step in steps_below(last, {shared})] == [START, last.inputs[1].node, last.node]
    assert steps_below(last, {shared, last.inputs[1]}) == [last]
    assert steps_below(last, {last}) == []


def test_a_chain_is_that_of_its_own_plan() -> None:
    """What another plan runs in the middle of a chain, or beyond it, makes no difference."""
    extended = Extend(START, D, A)
    assert step_of(Filter(extended, A)).chain == (extended, Filter(extended, A))
    assert step_of(extended) is not step_of(Filter(extended, A)).inputs[0]


def test_equal_plans_have_the_same_steps_and_windows_those_of_their_era() -> None:
    text = "SELECT * WHERE {{ {} GRAPH <http://e/g> {{ ?r <http://e/q> ?f }} }}"
    graphs = text.format("GRAPH <http://e/h> { ?p <http://e/p> ?r }")
    assert step_of(plan_of(parse_query(graphs)), 1) is step_of(plan_of(parse_query(graphs)), 2)
    stream = text.format("STREAM <http://e/s> [RANGE 10s] { ?p <http://e/p> ?r }")
    assert step_of(plan_of(parse_query(stream)), 1) is step_of(plan_of(parse_query(stream)), 1)
    assert step_of(plan_of(parse_query(stream)), 1) is not step_of(plan_of(parse_query(stream)), 2)
