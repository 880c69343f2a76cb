"""HyperCube shares: the variables that span a grid of cells, their shares, and where each pattern's triples go.

A triple goes, once for each pattern it matches, to every cell that the variables it binds allow; so every answer is found
in exactly one cell, whatever the shape of the pattern, and nothing has to be shuffled again. Shares are chosen for the
least load of a cell. Where an operator needs rows of several cells, cells run what is below it and a second stage the
rest. Some queries need one order of everything and take one cell; the plan says why.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

from millstream.language import algebra as a
from millstream.plan.conjunction import PatternVariable
from millstream.plan.distribute.partitioning import Cut, buckets_of, cuts_of, obstacle_to, only_adds, waits_for_streams
from millstream.plan.distribute.stages import Stages, stages_of
from millstream.plan.nodes import ExchangeOutput, Node, Ordered, Quads, in_order
from millstream.windows.window import ElementWindow

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
    """For each dimension and each pattern the place in the pattern's triples that determines it, -1 if none does.

    Behind the patterns, in the same way, columns of the parts of the plan whose rows are given.
    """
    beyond: tuple[int, ...] | None = None
    """The places of the plan's nodes that run in a second stage; None: there is none."""
    everywhere: tuple[tuple[int, ...], ...] = ()
    """For each dimension the parts sent on to the second stage whose rows are the same all along it."""
    second: str = ""
    """Why there is a second stage."""
    buckets: int = 1
    """Into how many parts the second stage is cut."""
    by: tuple[int, ...] = ()
    """For each part sent on the place of the column that tells the bucket its rows go to, if there are several."""

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

    def sends(self, cell: int, part: int) -> bool:
        """Whether a cell sends a part's rows on: of those that have the same ones the first."""
        for share, everywhere in zip(reversed(self.shares), reversed(self.everywhere), strict=True):
            cell, coordinate = divmod(cell, share)
            if coordinate and part in everywhere:
                return False
        return True

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
    cuts, obstacle = _candidates(query, plan)
    if cuts:
        return _grid(cuts, cells, sizes) or Cells((), (), "one cell, as asked for")
    # The least load of a cell, and of such grids the most of the plan in cells.
    found, idle = _in_stages(query, plan, cells, sizes, obstacle)
    if not found:
        alone = ", and below that there is no join to spread" if idle else ""
        return Cells((), (), f"one cell: {obstacle}{alone}")
    return min(found, key=lambda some: some[:2])[2]


def cells_at_rest(parts: ExchangeOutput, cells: int) -> Cells:
    """The grid for parts of a plan that only read graphs which do not change."""
    if any(isinstance(node, Quads) for node in in_order(parts)):
        return Cells((), (), "one task: GRAPH with a variable reads graphs whose names are not known beforehand", whole=True)
    cuts, obstacle = cuts_of(parts, at_rest=True)[:_MOST_DIMENSIONS], obstacle_to(parts, at_rest=True)
    found, _ = _in_stages(None, parts, cells, None, obstacle)
    grid = _grid(cuts, cells, None) if cuts else None
    if grid is not None:
        # A part that cannot be cut is then evaluated in every cell, so a second stage may be less work.
        found.append((grid.load(_counted(cuts, None)), 0, grid))
    if not found:
        return Cells((), (), "one task, as asked for" if cells == 1 else f"one task: {obstacle}")
    return min(found, key=lambda some: some[:2])[2]


def _in_stages(
    query: a.Query | None, plan: Node, cells: int, sizes: Mapping[int, float] | None, obstacle: str
) -> tuple[list[tuple[float, int, Cells]], bool]:
    """Grids for what is below an obstacle, with the load of a cell and how much of the plan is not in cells.

    Where cells would have nothing to join, their rows would only be sent on, which costs more than it spreads; also told is
    whether there are such. Without a query the plan reads no stream.
    """
    found: list[tuple[float, int, Cells]] = []
    idle = False
    for stages in stages_of(plan, at_rest=query is None):
        cuts = cuts_of(stages.cells, at_rest=query is None)[:_MOST_DIMENSIONS]
        grid = _grid(cuts, cells, sizes) if cuts else None
        if grid is not None and stages.joins:
            counted = _counted(cuts, sizes)
            grid = replace(grid, beyond=stages.beyond, second=obstacle)
            grid = grid if query is None else _in_buckets(query, plan, stages, grid)
            found.append((grid.load(counted), len(stages.beyond), grid))
        idle |= grid is not None
    return found, idle


def _in_buckets(query: a.Query, plan: Node, stages: Stages, grid: Cells) -> Cells:
    """The second stage in as many buckets as there are cells, if one key cuts all of it."""
    if isinstance(plan, Ordered) and query.output is a.Output.RSTREAM:
        return grid
    keys = [places for places, tells in buckets_of(stages.rest) if tells or not _is_mixed(query, plan)]
    return replace(grid, buckets=grid.count, by=keys[0]) if keys else grid


def _counted(cuts: Sequence[Cut], sizes: Mapping[int, float] | None) -> Mapping[int, float]:
    # What is given is taken as a graph that nobody counted.
    return {number: 1.0 if sizes is None else sizes.get(number, 1.0) for number in range(len(cuts[0].places))}


def _grid(cuts: Sequence[Cut], cells: int, sizes: Mapping[int, float] | None) -> Cells | None:
    """The grid with the least load of a cell; None if it has only one."""
    counted = _counted(cuts, sizes)
    places = [cut.places for cut in cuts]
    best = min(
        (shares for shares in _grids(len(cuts), cells) if not _repeats(places, shares)),
        key=lambda shares: (_load(places, shares, counted), prod(shares), sum(share > 1 for share in shares)),
    )
    spread = [(cut, share) for cut, share in zip(cuts, best, strict=True) if share > 1]
    if not spread:
        return None
    known = "as sampled" if sizes is not None else "all taken as equal"
    return Cells(
        tuple(cut.variable for cut, _ in spread),
        tuple(share for _, share in spread),
        f"the least load of a cell, the sizes of views {known}",
        places=tuple(cut.places for cut, _ in spread),
        everywhere=tuple(cut.everywhere for cut, _ in spread),
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


def _candidates(query: a.Query, plan: Node) -> tuple[list[Cut], str]:
    """The cuts of the whole plan that may span the grid, those of most patterns first; else what keeps it from being cut.

    Where a change can both give and take an answer, equal answers must meet to be balanced, so only what tells answers
    apart may tell cells apart.
    """
    if isinstance(plan, Ordered) and query.output is a.Output.RSTREAM:
        return [], "the order of the answers of a window needs all of them"
    cuts = cuts_of(plan)
    if not cuts:
        return [], obstacle_to(plan)
    telling = [cut for cut in cuts if cut.tells or not _is_mixed(query, plan)][:_MOST_DIMENSIONS]
    return telling, "no variable that all answers tell apart is bound by a stream"


def _is_mixed(query: a.Query, plan: Node) -> bool:
    """Whether a change can both give and take an answer."""
    return balances(query) or (query.output is not a.Output.RSTREAM and not only_adds(plan))


def balances(query: a.Query) -> bool:
    """Whether one change can give and take the same answer, so that nothing of it is emitted, whatever its pattern is."""
    steps = any(w.window.step_ms is not None for w in query.windows)
    return steps and query.output is not a.Output.RSTREAM


def _needs_one_order(query: a.Query, plan: Node, *, changing: bool) -> str | None:
    """Why one cell must see everything that happens, if it must."""
    if query.output is a.Output.RSTREAM and not query.closes_windows:
        return "RSTREAM after every change needs all changes in order"
    for window in query.windows:
        if (one_order := window.window.one_order) is not None:
            return one_order
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
    if len(streams) != 1 or not all(isinstance(w.window, ElementWindow) for w in query.windows):
        return False
    if any(isinstance(node, Quads) for node in in_order(plan)) or query.name in {s.value for s in streams}:
        return False
    return waits_for_streams(plan) and query.output in (a.Output.ISTREAM, a.Output.RSTREAM)
