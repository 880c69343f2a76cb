"""How Spark runs a query, as text: the grid of its cells, where triples go, and what comes after the cells."""

from __future__ import annotations

from collections.abc import Mapping

from pyoxigraph import Variable

from millstream.language import algebra as a
from millstream.language.printer import Printer
from millstream.plan.cells import Cells, balances, cells_for
from millstream.plan.compiler import compile_query
from millstream.plan.conjunction import PatternVariable
from millstream.plan.explain_plan import draw_plan
from millstream.plan.nodes import Node, leaf_patterns
from millstream.plan.partitioning import cuts_of
from millstream.plan.stages import split


def explain_cells(query: a.Query, cells: int, sizes: Mapping[int, float] | None = None) -> str:
    """The grid of a query as text, several lines without a final newline."""
    plan = compile_query(query)
    grid, printer = cells_for(query, plan, cells, sizes), Printer(dict(query.prefixes))
    if grid.stateless:
        return f"on Spark\n  no cells: {grid.why}, without shuffle or state"
    if not grid.variables:
        return f"on Spark\n  {grid.why}"
    names = [_name(v) for v in grid.variables]
    product = " x ".join(f"{name} {share}" for name, share in zip(names, grid.shares, strict=True))
    lines = ["on Spark", f"  {grid.count} cells of {cells}: {product}", f"  why: {grid.why}"]
    if grid.beyond is None and balances(query) and not all(cut.tells for cut in cuts_of(plan)):
        lines.append("  only variables of the answer tell cells apart: equal answers must meet when a window closes")
    patterns = leaf_patterns(plan)
    texts = [printer.triple(p.triple) for p in patterns]
    width = max(map(len, texts))
    for number, text in enumerate(texts):
        copies = grid.replication(number)
        # A dimension is called by one variable; patterns of other conjunctions may have another one in its place.
        triple = patterns[number].triple
        terms = (triple.subject, triple.predicate, triple.object)
        known = " ".join(printer.term(terms[place]) for _, place in grid.dimensions(number))
        to = f"to {copies} cells" if copies > 1 else "to one cell"
        lines.append(f"  {text:<{width}}  {to}" + (f" by {known}" if known else ""))
    return "\n".join([*lines, *_second(plan, grid, printer)])


def _second(plan: Node, grid: Cells, printer: Printer) -> list[str]:
    if grid.beyond is None:
        return []
    stages = split(plan, grid.beyond)
    lines = ["  cells run", *(f"    {line}" for line in draw_plan(stages.cells, printer))]
    keys = {stages.cells.parts[part].variables[place] for part, place in enumerate(grid.by)}
    where = "one bucket" if grid.buckets == 1 else f"{grid.buckets} buckets by {' '.join(sorted(map(printer.term, keys)))}"
    lines.append(f"  a second stage runs the rest, in {where}: {grid.second}")
    return [*lines, *(f"    {line}" for line in draw_plan(stages.rest, printer))]


def _name(variable: PatternVariable) -> str:
    return f"?{variable.value}" if isinstance(variable, Variable) else f"_:{variable.value}"
