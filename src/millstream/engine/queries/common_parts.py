"""Multi-query sharing: runs by what their leaves match, for queries that have some of it in common with one of them.

Leaves decide, since every part of a plan that is worth sharing has some. A query with something in common with several runs
goes where it has most.
"""

from __future__ import annotations

from collections import Counter

from millstream.engine.queries.run import QueryRun
from millstream.operators.dataflow.layout import Root, Step, steps_below
from millstream.plan.nodes import Node

_Key = tuple[str | None, Step]
"""The base of queries, by which functions of theirs make IRIs, and a leaf."""


class CommonParts:
    """The runs that take other queries."""

    def __init__(self) -> None:
        self._runs: dict[_Key, QueryRun] = {}

    def find(self, plan: Node, era: int, base: str | None) -> QueryRun | None:
        """The run that has most in common with a plan, if any has something."""
        common: Counter[QueryRun] = Counter()
        for step in steps_below(Root(plan, era).step):
            run = self._runs.get((base, step)) if step.reads else None
            if run is not None:
                common[run] += step.reads
        return common.most_common(1)[0][0] if common else None

    def enter(self, run: QueryRun, base: str | None) -> None:
        """A run to which a query has come; all of its queries have this base."""
        for step in run.operator.steps:
            if step.reads:
                self._runs.setdefault((base, step), run)

    def leave(self, run: QueryRun) -> None:
        """A run from which a query has gone."""
        steps = run.operator.steps
        self._runs = {key: other for key, other in self._runs.items() if other is not run or key[1] in steps}
