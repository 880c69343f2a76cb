"""The counts of a dataflow's steps, by the nodes of a plan that they run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from millstream.language.printer import Printer
from millstream.operators.dataflow.layout import Root, Step, steps_below
from millstream.plan.explain.counts import CountedPlan, Counts
from millstream.plan.nodes import Distinct, Node, Ordered, Solutions

if TYPE_CHECKING:
    from millstream.operators.dataflow.dataflow import Dataflow


def counted_plan(flow: Dataflow, root: Root, printer: Printer, now: int) -> CountedPlan:
    """A plan that is at work in a dataflow, with what its operators have done; `now`: what has ended is not stored."""
    steps = {step.node: step for step in steps_below(root.step)}
    inside = {node for step in steps.values() for node in step.chain[:-1]}

    def step_of(node: Node) -> Step:
        if isinstance(node, Ordered):
            # An order of whole answer sets changes no answer.
            return step_of(node.input)
        # A conjunction by itself runs with its columns in the order that others have.
        return steps.get(node, root.step)

    def counts_of(node: Node) -> Counts | None:
        if node in inside or (isinstance(node, Distinct) and node not in steps):
            return None
        changes, kept, micros = flow.counts(step_of(node), now)
        return Counts(changes) if isinstance(node, Ordered) else Counts(changes, kept, micros)

    def pattern_counts_of(leaf: Solutions) -> list[Counts]:
        return [Counts(came, held) for came, held in flow.pattern_counts(step_of(leaf), now)]

    return CountedPlan(root.plan, printer, counts_of, pattern_counts_of)
