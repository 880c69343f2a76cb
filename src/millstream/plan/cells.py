"""How a conjunction is spread over cells: the variables that span a grid, their shares, and where each pattern's triples go.

A triple goes, once for each pattern it matches, to every cell that the variables it binds allow; so every solution is found
in exactly one cell, whatever the shape of the pattern, and no solution has to be shuffled again. Shares are chosen for the
least load of a cell. Some queries need one order of everything and take one cell; the plan says why.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod

from pyoxigraph import Variable

from millstream.language import algebra as a
from millstream.language.printer import Printer
from millstream.language.windows import Elements, Event, Step, Triples
from millstream.plan.conjunction import (
    Conjunction,
    MergedSource,
    PatternVariable,
    Source,
    SourcedPattern,
    WindowSource,
    conjunction_of,
)

_MOST_DIMENSIONS = 6


@dataclass(frozen=True, slots=True)
class Cells:
    """A grid of cells."""

    variables: tuple[PatternVariable, ...]
    """One a dimension; each has a share of two or more."""
    shares: tuple[int, ...]
    why: str
    """Why this grid and no other."""
    whole: bool = False
    """Whether the one cell must see every triple in order, not only those that patterns ask for."""
    stateless: bool = False
    """Whether every element is matched by itself, where it is read."""

    @property
    def count(self) -> int:
        return prod(self.shares)

    def dimensions(self, pattern: SourcedPattern) -> tuple[tuple[int, int], ...]:
        """Which dimensions a pattern's triples determine, each with the place in the triple that does."""
        terms = (pattern.triple.subject, pattern.triple.predicate, pattern.triple.object)
        return tuple((d, terms.index(v)) for d, v in enumerate(self.variables) if v in terms)

    def replication(self, pattern: SourcedPattern) -> int:
        """To how many cells each triple of a pattern goes."""
        known = {d for d, _ in self.dimensions(pattern)}
        return prod(share for d, share in enumerate(self.shares) if d not in known)

    def load(self, patterns: tuple[SourcedPattern, ...], sizes: Mapping[int, float]) -> float:
        """How many of all triples a cell gets, on average."""
        return _load(self.variables, self.shares, patterns, sizes)


def cells_for(
    query: a.Query, plan: Conjunction, cells: int, sizes: Mapping[int, float] | None = None, *, changing: bool = False
) -> Cells:
    """The grid for at most so many cells; `sizes` of the patterns' views, alike if not known.

    `changing`: whether datasets change while the query runs.
    """
    if _matches_elements_alone(query, plan) and not changing:
        return Cells((), (), "every element is matched by itself, where it is read", stateless=True)
    one_order = _needs_one_order(query)
    if one_order is None and changing and not any(isinstance(p.source, WindowSource) for p in plan.patterns):
        # What datasets give by themselves is told at the first change, and only who sees all knows which that is.
        one_order = "its first answers wait for the first change of any of its graphs"
    if one_order is not None:
        return Cells((), (), f"one cell: {one_order}", whole=True)
    candidates = _candidates(query, plan)
    if not candidates:
        return Cells((), (), "one cell: no variable that all answers tell apart is bound by a stream")
    if cells < 2:
        return Cells((), (), "one cell, as asked for")
    counted = dict.fromkeys(range(len(plan.patterns)), 1.0) if sizes is None else {**sizes}
    best = min(
        _grids(candidates, cells),
        key=lambda shares: (
            _load(candidates, shares, plan.patterns, counted),
            prod(shares),
            sum(share > 1 for share in shares),
        ),
    )
    spread = [(v, share) for v, share in zip(candidates, best, strict=True) if share > 1]
    variables, shares = tuple(v for v, _ in spread), tuple(share for _, share in spread)
    known = "as sampled" if sizes is not None else "all taken as equal"
    return Cells(variables, shares, f"the least load of a cell, the sizes of views {known}")


def _grids(candidates: tuple[PatternVariable, ...], most: int) -> Iterator[tuple[int, ...]]:
    if not candidates:
        yield ()
        return
    for share in range(1, most + 1):
        for rest in _grids(candidates[1:], most // share):
            yield (share, *rest)


def _load(
    variables: tuple[PatternVariable, ...],
    shares: tuple[int, ...],
    patterns: tuple[SourcedPattern, ...],
    sizes: Mapping[int, float],
) -> float:
    total = 0.0
    for number, pattern in enumerate(patterns):
        cells = prod(share for v, share in zip(variables, shares, strict=True) if v in pattern.variables)
        total += sizes.get(number, 0.0) / cells
    return total


def _candidates(query: a.Query, plan: Conjunction) -> tuple[PatternVariable, ...]:
    """The variables that may span the grid, those of most patterns first.

    Where a change can both give and take an answer, equal answers must meet to be balanced, so only variables of the
    answer may tell cells apart.
    """
    allowed: set[PatternVariable] = {v for p in plan.patterns if _reads_stream(p.source) for v in p.variables}
    if balances(query):
        allowed &= set(plan.projection)
    uses = {v: sum(v in p.variables for p in plan.patterns) for v in plan.variables if v in allowed}
    return tuple(sorted(uses, key=lambda v: -uses[v])[:_MOST_DIMENSIONS])


def balances(query: a.Query) -> bool:
    """Whether one change can give and take the same answer, so that nothing of it is emitted."""
    steps = any(isinstance(w.window, Step) for w in query.windows)
    return steps and query.output is not a.Output.RSTREAM


def _needs_one_order(query: a.Query) -> str | None:
    if query.output is a.Output.RSTREAM and not query.closes_windows:
        return "RSTREAM after every change needs all changes in order"
    for window in query.windows:
        if isinstance(window.window, Triples | Elements):
            return f"[{window.window}] counts the stream in order"
        if isinstance(window.window, Event):
            return "[EVENT] is emptied by the stream's next element"
    if not query.windows:
        return "it reads no stream"
    return None


def _matches_elements_alone(query: a.Query, plan: Conjunction) -> bool:
    """Whether all answers are those of single elements: EVENT windows of one stream, and only what appears is emitted."""
    streams = {w.stream for w in query.windows}
    if len(streams) != 1 or not all(isinstance(w.window, Event) for w in query.windows):
        return False
    in_windows = any(isinstance(p.source, WindowSource) for p in plan.patterns)
    return in_windows and query.output in (a.Output.ISTREAM, a.Output.RSTREAM)


def _reads_stream(source: Source) -> bool:
    if isinstance(source, MergedSource):
        return any(isinstance(part, WindowSource) for part in source.parts)
    return isinstance(source, WindowSource)


def explain_cells(query: a.Query, cells: int, sizes: Mapping[int, float] | None = None) -> str:
    """The grid of a query as text, several lines without a final newline."""
    plan = conjunction_of(query)
    grid, printer = cells_for(query, plan, cells, sizes), Printer(dict(query.prefixes))
    if grid.stateless:
        return f"on Spark\n  no cells: {grid.why}, without shuffle or state"
    if not grid.variables:
        return f"on Spark\n  {grid.why}"
    names = [_name(v) for v in grid.variables]
    product = " x ".join(f"{name} {share}" for name, share in zip(names, grid.shares, strict=True))
    lines = ["on Spark", f"  {grid.count} cells of {cells}: {product}", f"  why: {grid.why}"]
    if balances(query) and set(plan.variables) - set(plan.projection):
        lines.append("  only variables of the answer tell cells apart: equal answers must meet when a window closes")
    texts = [printer.triple(p.triple) for p in plan.patterns]
    width = max(map(len, texts))
    for pattern, text in zip(plan.patterns, texts, strict=True):
        copies = grid.replication(pattern)
        known = " ".join(names[d] for d, _ in grid.dimensions(pattern))
        to = f"to {copies} cells" if copies > 1 else "to one cell"
        lines.append(f"  {text:<{width}}  {to}" + (f" by {known}" if known else ""))
    return "\n".join(lines)


def _name(variable: PatternVariable) -> str:
    return f"?{variable.value}" if isinstance(variable, Variable) else f"_:{variable.value}"
