"""How a query is spread over cells: the variables that span a grid, their shares, and where each pattern's triples go.

A triple goes, once for each pattern it matches, to every cell that the variables it binds allow; so every answer is found
in exactly one cell, whatever the shape of the pattern, and nothing has to be shuffled again. Shares are chosen for the
least load of a cell. Some queries need one order of everything and take one cell; the plan says why.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from pyoxigraph import Variable

from millstream.language import algebra as a
from millstream.language.printer import Printer
from millstream.language.windows import Elements, Event, Step, Triples
from millstream.plan.compiler import compile_query
from millstream.plan.conjunction import PatternVariable
from millstream.plan.nodes import Node, Ordered, Quads, in_order, leaf_patterns
from millstream.plan.partitioning import Cut, cuts_of, obstacle_to, only_adds, waits_for_streams

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
    places: tuple[tuple[int, ...], ...] = ()
    """For each dimension and each pattern the place in the pattern's triples that determines it, -1 if none does."""

    @property
    def count(self) -> int:
        return prod(self.shares)

    def dimensions(self, number: int) -> tuple[tuple[int, int], ...]:
        """Which dimensions a pattern's triples determine, each with the place in the triple that does."""
        return tuple((d, places[number]) for d, places in enumerate(self.places) if places[number] >= 0)

    def replication(self, number: int) -> int:
        """To how many cells each triple of a pattern goes."""
        known = {d for d, _ in self.dimensions(number)}
        return prod(share for d, share in enumerate(self.shares) if d not in known)

    def load(self, sizes: Mapping[int, float]) -> float:
        """How many of all triples a cell gets, on average."""
        return _load(self.places, self.shares, sizes)


def cells_for(
    query: a.Query, plan: Node, cells: int, sizes: Mapping[int, float] | None = None, *, changing: bool = False
) -> Cells:
    """The grid for at most so many cells; `sizes` of the patterns' views, alike if not known.

    `changing`: whether datasets change while the query runs.
    """
    if _matches_elements_alone(query, plan) and not changing:
        return Cells((), (), "every element is matched by itself, where it is read", stateless=True)
    one_order = _needs_one_order(query, plan, changing=changing)
    if one_order is not None:
        return Cells((), (), f"one cell: {one_order}", whole=True)
    if isinstance(plan, Ordered) and query.output is a.Output.RSTREAM:
        return Cells((), (), "one cell: the order of the answers of a window needs all of them")
    cuts = _candidates(query, plan)
    if not cuts:
        return Cells((), (), f"one cell: {_obstacle(plan)}")
    if cells < 2:
        return Cells((), (), "one cell, as asked for")
    counted = dict.fromkeys(range(len(cuts[0].places)), 1.0) if sizes is None else {**sizes}
    places = [cut.places for cut in cuts]
    best = min(
        (shares for shares in _grids(len(cuts), cells) if not _repeats(places, shares)),
        key=lambda shares: (_load(places, shares, counted), prod(shares), sum(share > 1 for share in shares)),
    )
    spread = [(cut, share) for cut, share in zip(cuts, best, strict=True) if share > 1]
    known = "as sampled" if sizes is not None else "all taken as equal"
    return Cells(
        tuple(cut.variable for cut, _ in spread),
        tuple(share for _, share in spread),
        f"the least load of a cell, the sizes of views {known}",
        places=tuple(cut.places for cut, _ in spread),
    )


def _grids(dimensions: int, most: int) -> Iterator[tuple[int, ...]]:
    if not dimensions:
        yield ()
        return
    for share in range(1, most + 1):
        for rest in _grids(dimensions - 1, most // share):
            yield (share, *rest)


def _repeats(places: Sequence[tuple[int, ...]], shares: tuple[int, ...]) -> bool:
    """Whether one term would determine two dimensions, which then leave cells empty."""
    used = [some for some, share in zip(places, shares, strict=True) if share > 1]
    return any(len(known) != len(set(known)) for known in ([x for x in some if x >= 0] for some in zip(*used, strict=True)))


def _load(places: Sequence[tuple[int, ...]], shares: tuple[int, ...], sizes: Mapping[int, float]) -> float:
    total = 0.0
    for number, size in sizes.items():
        total += size / prod(share for some, share in zip(places, shares, strict=True) if some[number] >= 0)
    return total


def _candidates(query: a.Query, plan: Node) -> list[Cut]:
    """The cuts that may span the grid, those of most patterns first.

    Where a change can both give and take an answer, equal answers must meet to be balanced, so only what tells answers
    apart may tell cells apart.
    """
    mixed = balances(query) or (query.output is not a.Output.RSTREAM and not only_adds(plan))
    return [cut for cut in cuts_of(plan) if cut.tells or not mixed][:_MOST_DIMENSIONS]


def _obstacle(plan: Node) -> str:
    if cuts_of(plan):
        return "no variable that all answers tell apart is bound by a stream"
    return obstacle_to(plan)


def balances(query: a.Query) -> bool:
    """Whether one change can give and take the same answer, so that nothing of it is emitted, whatever its pattern is."""
    steps = any(isinstance(w.window, Step) for w in query.windows)
    return steps and query.output is not a.Output.RSTREAM


def _needs_one_order(query: a.Query, plan: Node, *, changing: bool) -> str | None:
    """Why one cell must see everything that happens, if it must."""
    if query.output is a.Output.RSTREAM and not query.closes_windows:
        return "RSTREAM after every change needs all changes in order"
    for window in query.windows:
        if isinstance(window.window, Triples | Elements):
            return f"[{window.window}] counts the stream in order"
        if isinstance(window.window, Event):
            return "[EVENT] is emptied by the stream's next element"
    if not query.windows:
        return "it reads no stream"
    if any(isinstance(node, Quads) for node in in_order(plan)):
        return "GRAPH with a variable reads graphs whose names are not known beforehand"
    if query.form is a.Form.CONSTRUCT and query.name in {w.stream.value for w in query.windows}:
        return "it reads what it constructs"
    if changing and not waits_for_streams(plan):
        # What datasets give by themselves is told with the first change that is one, and only who sees all knows which is.
        return "its first answers wait for the first change of any of its graphs"
    return None


def _matches_elements_alone(query: a.Query, plan: Node) -> bool:
    """Whether all answers are those of single elements: EVENT windows of one stream, and only what appears is emitted."""
    streams = {w.stream for w in query.windows}
    if len(streams) != 1 or not all(isinstance(w.window, Event) for w in query.windows):
        return False
    if any(isinstance(node, Quads) for node in in_order(plan)) or query.name in {s.value for s in streams}:
        return False
    return waits_for_streams(plan) and query.output in (a.Output.ISTREAM, a.Output.RSTREAM)


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
    if balances(query) and not all(cut.tells for cut in cuts_of(plan)):
        lines.append("  only variables of the answer tell cells apart: equal answers must meet when a window closes")
    patterns = leaf_patterns(plan)
    texts = [printer.triple(p.triple) for p in patterns]
    width = max(map(len, texts))
    for number, text in enumerate(texts):
        copies = grid.replication(number)
        known = " ".join(names[d] for d, _ in grid.dimensions(number))
        to = f"to {copies} cells" if copies > 1 else "to one cell"
        lines.append(f"  {text:<{width}}  {to}" + (f" by {known}" if known else ""))
    return "\n".join(lines)


def _name(variable: PatternVariable) -> str:
    return f"?{variable.value}" if isinstance(variable, Variable) else f"_:{variable.value}"
