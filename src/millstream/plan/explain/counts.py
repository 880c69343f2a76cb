"""What the operators of a running query have done: a tree of counts, and the same as text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from millstream.language.printer import Printer
from millstream.plan import nodes as n
from millstream.plan.explain.conjunctions import describe_conjunction, describe_pattern
from millstream.plan.explain.operators import PlanTree
from millstream.plan.explain.query import Branch, draw


@dataclass(frozen=True, slots=True)
class Counts:
    """What one operator has done."""

    changes: int
    stored: int | None = None
    micros: float | None = None


@dataclass(frozen=True, slots=True)
class OperatorCounts:
    """An operator of a running query with those that it reads: what came out of it, what it keeps, where time goes.

    `changes` counts what it gave, +1 and -1 alike; `stored` are rows or entries that it keeps now, None for an operator that
    keeps nothing; `micros` is CPU time in it alone while the query was measured, else None. The inputs of a conjunction are
    its triple patterns: `changes` are then triples that came or were taken back before their end, which a window knows.
    """

    label: str
    detail: str | None
    changes: int
    stored: int | None
    micros: float | None
    inputs: tuple[OperatorCounts, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """The same in plain values, for JSON."""
        inputs = [part.as_dict() for part in self.inputs]
        micros = None if self.micros is None else round(self.micros, 3)
        found = {"label": self.label, "detail": self.detail, "changes": self.changes, "stored": self.stored}
        return {**found, "micros": micros, "inputs": inputs}

    def __iter__(self) -> Iterator[OperatorCounts]:
        """Itself and all below it, as they are drawn."""
        yield self
        for part in self.inputs:
            yield from part


CountsOf: TypeAlias = Callable[[n.Node], Counts | None]
"""The counts of a node; None for one that another does in the same pass."""
PatternCountsOf: TypeAlias = Callable[[n.Solutions], Sequence[Counts]]
"""The counts of a conjunction's patterns."""


class CountedPlan:
    """A plan with the counts of its operators."""

    def __init__(self, root: n.Node, printer: Printer, counts_of: CountsOf, pattern_counts_of: PatternCountsOf) -> None:
        self._printer = printer
        self._counts_of = counts_of
        self._pattern_counts_of = pattern_counts_of
        self._tree = PlanTree(printer, root)
        self._told: set[n.Node] = set()
        self._lines: list[Counts | None] = []
        """The counts of every line, as they are drawn."""
        self._drawn, self.operators = self._of(root)

    def _of(self, node: n.Node) -> tuple[Branch, OperatorCounts]:
        """A node as lines of the drawing, and as an operator."""
        label, is_first = self._tree.enter(node)
        counts = self._counts_of(node)
        if counts is None:
            # The operator above does it, as a join does that makes its rows distinct.
            self._lines.append(None)
            drawn, read = self._of(n.inputs_of(node)[0])
            return Branch(label, [drawn]), read
        if not is_first or node in self._told:
            # What it keeps and its time are told once.
            self._lines.append(Counts(counts.changes))
            return Branch(label), OperatorCounts(label, None, counts.changes, None, None)
        self._told.add(node)
        self._lines.append(counts)
        labels, inputs = [], n.inputs_of(node)
        while len(inputs) == 1 and self._counts_of(inputs[0]) is None:
            labels.append(self._tree.enter(inputs[0])[0])
            self._lines.append(None)
            inputs = n.inputs_of(inputs[0])
        parts = self._patterns(node) if isinstance(node, n.Solutions) else [self._of(part) for part in inputs]
        below = [drawn for drawn, _ in parts]
        for inner in reversed(labels):
            below = [Branch(inner, below)]
        detail = f"in one pass with {', '.join(labels)}" if labels else None
        if isinstance(node, n.Solutions):
            detail = describe_conjunction(node.conjunction)
        operators = tuple(operator for _, operator in parts)
        return Branch(label, below), OperatorCounts(label, detail, counts.changes, counts.stored, counts.micros, operators)

    def _patterns(self, leaf: n.Solutions) -> list[tuple[Branch, OperatorCounts]]:
        found = []
        counted = self._pattern_counts_of(leaf)
        for pattern, counts in zip(leaf.conjunction.patterns, counted, strict=True):
            text, where = self._printer.triple(pattern.triple), describe_pattern(pattern, self._printer)
            self._lines.append(counts)
            operator = OperatorCounts(text, where, counts.changes, counts.stored, counts.micros)
            found.append((Branch(f"{text}  {where}"), operator))
        return found

    def text(self) -> list[str]:
        """The tree, with the counts in columns beside it."""
        drawn = [f"  {line}" for line in draw(self._drawn)]
        has_time = any(counts is not None and counts.micros is not None for counts in self._lines)
        heads = ["changes", "stored", *(["CPU ms"] if has_time else [])]
        rows = [_cells(counts)[: len(heads)] for counts in self._lines]
        widths = [max(len(head), *(len(row[i]) for row in rows)) for i, head in enumerate(heads)]
        wide = max(map(len, ("runs as", *drawn)))
        return [
            f"{line:<{wide}}  {'  '.join(f'{cell:>{width}}' for cell, width in zip(row, widths, strict=True))}".rstrip()
            for line, row in zip(("runs as", *drawn), (heads, *rows), strict=True)
        ]


def _cells(counts: Counts | None) -> list[str]:
    if counts is None:
        # Done in one pass with the line above, which has what came out of it.
        return ["↑", "", ""]
    stored = "" if counts.stored is None else f"{counts.stored:,}"
    return [f"{counts.changes:,}", stored, "" if counts.micros is None else f"{counts.micros / 1000:,.2f}"]
