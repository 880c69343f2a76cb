"""From the text of a query to its plan: the one place, and the one ordered list of rewriting passes.

    text ── parsed ──► algebra ── QUERY_PASSES ──► algebra ── compiled ──► plan ── PLAN_PASSES ──► plan

Register, explain, Spark and the command line all ask here. A pass is a function in a file of its own that gives a query,
or a plan, with the same answers; it is run because it stands in one of the lists, in the order of the list.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from functools import lru_cache

from millstream.errors import OptionError
from millstream.language import algebra as a
from millstream.language import parse_query
from millstream.plan.compile.compiler import compiled
from millstream.plan.compile.fresh import with_solutions
from millstream.plan.counting import counting_solutions
from millstream.plan.lifting import lifted
from millstream.plan.nodes import Node
from millstream.plan.pruning import pruned

QUERY_PASSES: tuple[Callable[[a.Query], a.Query], ...] = (with_solutions,)
PLAN_PASSES: tuple[Callable[[Node], Node], ...] = (counting_solutions, pruned)


def query_of(text: str, base: str | None = None, output: str | None = None) -> a.Query:
    """The query that a text means, with the output it is given elsewhere, if any."""
    # What is neither text nor absent is refused, and cannot be looked up.
    known = all(option is None or isinstance(option, str) for option in (base, output))
    return (_parsed if known else _parsed.__wrapped__)(text, base, output)


def plan_of(query: a.Query, places: Collection[int] = ()) -> Node:
    """The plan of a query; raises UnsupportedQueryError for what cannot run continuously.

    With some places of constants it is the plan of all queries that differ in these alone: its first column then tells
    which of them a row is for. It raises RunsApartError if they had better not be one plan.
    """
    if places:
        query = lifted(query, places)
    for rewrite in QUERY_PASSES:
        query = rewrite(query)
    plan = compiled(query, places)
    for simplify in PLAN_PASSES:
        plan = simplify(plan)
    return plan


# The cells of a job, and queries that come again, ask for the same ones.


@lru_cache(maxsize=64)
def _parsed(text: str, base: str | None, output: str | None) -> a.Query:
    query = parse_query(text, base)
    return query if output is None else replace(query, output=output_named(output))


@lru_cache(maxsize=64)
def planned(text: str, base: str | None, output: str | None) -> Node:
    """The plan of the query that a text means."""
    return plan_of(query_of(text, base, output))


def output_named(name: str) -> a.Output:
    """The output of that name, as callers and snapshots have it."""
    try:
        return a.Output(name.lower())
    except (ValueError, AttributeError):
        names = ", ".join(o.value for o in a.Output)
        raise OptionError(f"output is one of {names}, got {name!r}.") from None
