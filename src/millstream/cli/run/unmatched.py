"""Why a query had no answer, where that is plain: a pattern that nothing came for. Mostly a name is spelt otherwise."""

from __future__ import annotations

import re

from millstream.engine import ContinuousQuery
from millstream.language.scope import mentioned
from millstream.plan import nodes as n
from millstream.plan.passes import plan_of


def unmatched_patterns(query: ContinuousQuery) -> list[str]:
    """The triple patterns of a running query that no triple has matched so far.

    Those are left out of which a filter may have dropped triples: that nothing is hot says nothing about names.
    """
    plan = plan_of(query.query)
    filters = [f for node in n.in_order(plan) if isinstance(node, n.Solutions) for f in node.conjunction.filters]
    filtered = {v.value for found in map(mentioned, filters) if len(found) == 1 for v in found}
    conjunctions = (part for part in query.operators() if part.label.startswith("conjunction"))
    missed = [pattern.label for part in conjunctions for pattern in part.inputs if not pattern.changes]
    return [label for label in dict.fromkeys(missed) if not filtered & {*re.findall(r"\?(\w+)", label)}]
