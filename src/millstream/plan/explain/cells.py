"""How Spark runs a query, as text: the grid of its cells, where triples go, and what comes after the cells."""

from __future__ import annotations

from collections.abc import Mapping

from pyoxigraph import Variable

from millstream.language import algebra as a
from millstream.language.printer import Printer
from millstream.plan.conjunction import PatternVariable
from millstream.plan.distribute.cells import Cells, balances, cells_at_rest, cells_for
from millstream.plan.distribute.partitioning import cuts_of
from millstream.plan.distribute.precompute import PrecomputedParts, precomputed_parts
from millstream.plan.distribute.stages import split
from millstream.plan.explain.operators import draw_plan
from millstream.plan.nodes import Node, leaf_patterns
from millstream.plan.passes import plan_of


def explain_cells(query: a.Query, cells: int, sizes: Mapping[int, float] | None = None) -> str:
    """The grid of a query as text, several lines without a final newline."""
    whole, printer = plan_of(query), Printer(dict(query.prefixes))
    ahead = precomputed_parts(whole)
    plan = whole if ahead is None else ahead.rest
    if ahead is not None and sizes is not None:
        sizes = {place: sizes[number] for place, number in enumerate(ahead.numbers) if number in sizes}
    grid = cells_for(query, plan, cells, sizes)
    first = [] if ahead is None else _first(whole, ahead, cells, printer)
    if grid.stateless:
        return "\n".join(["on Spark", *first, f"  no cells: {grid.why}, without shuffle or state"])
    if not grid.variables:
        return "\n".join(["on Spark", *first, f"  {grid.why}"])
    names = [_name(v) for v in grid.variables]
    product = " x ".join(f"{name} {share}" for name, share in zip(names, grid.shares, strict=True))
    lines = ["on Spark", *first, f"  {grid.count} cells of {cells}: {product}", f"  why: {grid.why}"]
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
    return "\n".join([*lines, *_second(whole, plan, grid, printer)])


def _first(whole: Node, ahead: PrecomputedParts, cells: int, printer: Printer) -> list[str]:
    """What is evaluated before the stream: its plan, and how large datasets are spread for it."""
    grid = cells_at_rest(ahead.parts, cells)
    lines = []
    for number, part in enumerate(ahead.parts.parts):
        lines.append(f"  part {number + 1} is evaluated in batch before the stream, unless graphs change")
        lines += [f"    {line}" for line in draw_plan(part, printer, whole)]
    tasks = f"{grid.count} tasks by {' '.join(map(_name, grid.variables))}" if grid.variables else grid.why
    after = "" if grid.beyond is None else f", and one task after them: {grid.second}"
    return [*lines, f"  over large datasets by {tasks}{after}"]


def _second(whole: Node, plan: Node, grid: Cells, printer: Printer) -> list[str]:
    if grid.beyond is None:
        return []
    stages = split(plan, grid.beyond)
    lines = ["  cells run", *(f"    {line}" for line in draw_plan(stages.cells, printer, whole))]
    keys = {stages.cells.parts[part].variables[place] for part, place in enumerate(grid.by)}
    where = "one bucket" if grid.buckets == 1 else f"{grid.buckets} buckets by {' '.join(sorted(map(printer.term, keys)))}"
    lines.append(f"  a second stage runs the rest, in {where}: {grid.second}")
    return [*lines, *(f"    {line}" for line in draw_plan(stages.rest, printer))]


def _name(variable: PatternVariable) -> str:
    return f"?{variable.value}" if isinstance(variable, Variable) else f"_:{variable.value}"
