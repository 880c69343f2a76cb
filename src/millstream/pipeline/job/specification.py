"""The job specification: everything that readers, cells and restarts must agree on, as one JSON text.

The text is part of every job's plan and of the cells' state: a job whose text differs from that of its checkpoint would
look for triples where they never went, so it is refused.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from pyoxigraph import BlankNode, Variable

from millstream.language import algebra as a
from millstream.limits import DEFAULT_LIMITS, Limits
from millstream.plan.conjunction import GraphSource, MergedSource, Source, SourcedPattern, WindowSource
from millstream.plan.distribute.cells import Cells, cells_at_rest, cells_for
from millstream.plan.distribute.precompute import PrecomputedParts, precomputed_parts
from millstream.plan.distribute.stages import Stages, split
from millstream.plan.nodes import Node, Quads, in_order, leaf_patterns
from millstream.plan.passes import planned, query_of
from millstream.plan.sources import sources_of

LAYOUT = 6


@dataclass(frozen=True, slots=True)
class StreamedSource:
    """One source of a job: a stream, or changes of a graph."""

    name: str | None
    """The IRI of the stream, or of the graph that changes concern if they name none; None is the default graph."""
    changes: bool = False
    rate: str | None = None
    """Elements a second, where nothing else tells their times."""
    ordered: bool = True
    """Whether it has an order of its own beyond that of its triggers."""
    keyed: bool = False
    """Whether its changes are states of keys, each of which replaces the one before."""

    @property
    def label(self) -> str:
        """What it is called where something is wrong with it."""
        return f"graph {self.name or 'default'}" if self.changes else str(self.name)

    @property
    def fraction(self) -> Fraction | None:
        return None if self.rate is None else Fraction(self.rate)


@dataclass(frozen=True)
class JobSpec:
    """A query over sources, on a grid of cells."""

    text: str
    output: str | None
    base: str | None
    sources: tuple[StreamedSource, ...]
    cells: Cells
    t0_ms: int = 0
    lateness_ms: int = 0
    now_ms: int = 0
    asked: int = 1
    """How many cells there were to be at most."""
    datasets: str = ""
    """What the datasets come to, as one number: a job goes on only with those it began with."""
    is_ahead: bool = False
    """Whether it is of the parts that are evaluated before streams begin, not of what streams reach."""
    limits: Limits = DEFAULT_LIMITS

    @cached_property
    def query(self) -> a.Query:
        return query_of(self.text, self.base, self.output)

    @cached_property
    def ahead(self) -> PrecomputedParts | None:
        """The plan in two, if something of it can be evaluated before streams begin: if no graph changes after that."""
        # A change names its graph as it comes, so with any source of changes all graphs may change.
        if any(source.changes for source in self.sources):
            return None
        return precomputed_parts(planned(self.text, self.base, self.output))

    @cached_property
    def plan(self) -> Node:
        """What is run of the query, or what of it is evaluated ahead."""
        if self.ahead is None:
            return planned(self.text, self.base, self.output)
        return self.ahead.parts if self.is_ahead else self.ahead.rest

    @cached_property
    def numbers(self) -> tuple[int, ...]:
        """For each of the patterns its number among all of the query."""
        return tuple(range(len(self.patterns))) if self.ahead is None else self.ahead.numbers

    @cached_property
    def stages(self) -> Stages | None:
        """What cells run and what runs after them, if they do not run all of the plan."""
        return None if self.cells.beyond is None else split(self.plan, self.cells.beyond)

    @cached_property
    def patterns(self) -> tuple[SourcedPattern, ...]:
        """The triple patterns of the plan, in the order in which they are numbered."""
        return leaf_patterns(self.plan)

    @cached_property
    def reads_any_graph(self) -> bool:
        """Whether named graphs matter whose names nobody knows beforehand."""
        return any(isinstance(node, Quads) for node in in_order(self.plan))

    @cached_property
    def graphs(self) -> tuple[str | None, ...]:
        """The graphs that the query names, in patterns or elsewhere."""
        found: dict[str | None, None] = {}
        if self.cells.whole:
            # A change there is a change for the query, though no pattern may be left that sees it.
            sources, default = sources_of(self.query), self.query.dataset.default
            if sources.default_graph:
                found.update(dict.fromkeys([None] if default is None else [graph.value for graph in default]))
            found.update(dict.fromkeys(graph.value for graph in sources.named_graphs))
        for pattern in self.patterns:
            parts = pattern.source.parts if isinstance(pattern.source, MergedSource) else (pattern.source,)
            for part in parts:
                if isinstance(part, GraphSource):
                    found.setdefault(None if part.graph is None else part.graph.value)
        return tuple(found)

    def reads(self, source: StreamedSource, of: Source) -> bool:
        """Whether a pattern's source is fed by one of the job's."""
        parts = of.parts if isinstance(of, MergedSource) else (of,)
        for part in parts:
            match part:
                case WindowSource(window):
                    if not source.changes and window.stream.value == source.name:
                        return True
                case GraphSource(graph):
                    if source.changes and (None if graph is None else graph.value) == source.name:
                        return True
        return False

    def to_json(self) -> str:
        """The text."""
        fields = asdict(replace(self, cells=replace(self.cells, variables=())))
        for source in fields["sources"]:
            # Jobs without such sources go on from checkpoints of before there were any.
            if not source["keyed"]:
                del source["keyed"]
        fields["cells"]["variables"] = [[v.value, isinstance(v, BlankNode)] for v in self.cells.variables]
        return json.dumps({"layout": LAYOUT, **fields}, sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> JobSpec:
        """From its text; one of an earlier layout may lack fields, and is only read to tell what changed."""
        fields = {name: _tuples(value) for name, value in json.loads(text).items() if name != "layout"}
        variables = tuple(BlankNode(name) if blank else Variable(name) for name, blank in fields["cells"]["variables"])
        fields["cells"] = Cells(**{**fields["cells"], "variables": variables})
        fields["sources"] = tuple(StreamedSource(**source) for source in fields["sources"])
        fields["limits"] = Limits.of(fields.get("limits", {}))
        return cls(**fields)


def _tuples(value: Any) -> Any:
    """What JSON has as lists."""
    if isinstance(value, dict):
        return {name: _tuples(each) for name, each in value.items()}
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def job_spec(
    text: str,
    sources: Sequence[StreamedSource],
    *,
    cells: int,
    output: str | None = None,
    base: str | None = None,
    t0_ms: int = 0,
    lateness_ms: int = 0,
    now_ms: int = 0,
    sizes: Mapping[int, float] | None = None,
    before: JobSpec | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> JobSpec:
    """Plans a query for at most so many cells; raises for queries and outputs that are not run.

    `sizes` of the views, by the number of the pattern in the query. With the plan of `before`, if as many cells were asked
    for: a job that goes on must find its triples where they went.
    """
    nowhere = Cells((), (), "")
    draft = JobSpec(text, output, base, tuple(sources), nowhere, t0_ms, lateness_ms, now_ms, cells, limits=limits)
    if before is not None and before.asked == cells and before.text == text:
        return replace(draft, cells=before.cells)
    changing = any(s.changes for s in sources)
    if sizes is not None:
        sizes = {place: sizes[number] for place, number in enumerate(draft.numbers) if number in sizes}
    return replace(draft, cells=cells_for(draft.query, draft.plan, cells, sizes, changing=changing))


def precompute_spec(whole: JobSpec, cells: int) -> JobSpec | None:
    """What of a query is evaluated before streams begin, for at most so many cells."""
    if whole.ahead is None:
        return None
    return replace(whole, cells=cells_at_rest(whole.ahead.parts, cells), datasets="", is_ahead=True)
