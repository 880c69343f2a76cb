"""Computed columns, filters and choices of columns, as many as follow each other: one program, one pass over the rows."""

from __future__ import annotations

from collections.abc import Sequence

from pyoxigraph import Literal, NamedNode, Variable

from millstream.kernels.aggregates.term_references import TermReferences
from millstream.kernels.flow.deltas import Deltas
from millstream.kernels.rows.row_wise import RowWise
from millstream.operators.expressions import Evaluator
from millstream.operators.expressions.programs import is_leaf
from millstream.plan.nodes import Extend, Filter, Project

RowNode = Extend | Filter | Project


def row_wise(
    inputs: Sequence[Deltas],
    width: int,
    chain: Sequence[RowNode],
    evaluator: Evaluator,
    references: TermReferences,
) -> RowWise:
    """The operator of a chain of nodes, each reading the one before."""
    given, variables = chain[0].input.variables, chain[-1].variables
    for node in chain:
        if not isinstance(node, Project):
            evaluator.check(node.expression)
    writer = evaluator.writer(given)
    for node in chain:
        match node:
            case Extend(_, variable, expression):
                writer.compute(variable, expression)
            case Filter(_, expression):
                writer.test(expression)
            case Project(_, chosen):
                writer.places = {name: writer.places[column] for name, column in chosen if column in writer.places}
    return RowWise(
        inputs,
        width,
        writer.program(variables),
        references,
        drops=not _keeps_apart(chain),
        kept=[variables.index(v) for v in _computed(chain)],
        constants=writer.constants,
    )


def _keeps_apart(chain: Sequence[RowNode]) -> bool:
    """Whether rows that differ before the chain still do behind it: all columns are there, under whatever name."""
    origin = {v: v for v in chain[0].input.variables}
    for node in chain:
        match node:
            case Extend(_, variable, Variable() as copied) if copied in origin:
                origin[variable] = origin[copied]
            case Project(_, chosen):
                origin = {name: origin[column] for name, column in chosen if column in origin}
    return set(chain[0].input.variables) <= set(origin.values())


def _computed(chain: Sequence[RowNode]) -> list[Variable]:
    """The columns at the end that somebody must keep the terms of."""
    names: set[Variable] = set()
    for node in chain:
        match node:
            case Extend(_, variable, expression):
                if not is_leaf(expression) or expression in names or isinstance(expression, NamedNode | Literal):
                    names.add(variable)
            case Project(_, chosen):
                names = {name for name, column in chosen if column in names}
    return [v for v in chain[-1].variables if v in names]
