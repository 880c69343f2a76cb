"""How a query runs, as text: its delta operators drawn as a tree, then each of its conjunctions."""

from __future__ import annotations

from collections.abc import Sequence

from pyoxigraph import Variable

from millstream.language.printer import Printer
from millstream.plan import nodes as n
from millstream.plan.explain.conjunctions import explain_run
from millstream.plan.explain.query import Branch, draw


def explain_plan(
    root: n.Node,
    printer: Printer,
    *,
    summary: bool = True,
    lazy: bool = True,
    adaptive: bool = True,
    counted: Sequence[str] | None = None,
) -> str:
    """Several lines without a final newline; the switches are those of the engine. `counted`: its tree with counts."""
    leaves = [node for node in n.in_order(root) if isinstance(node, n.Solutions)]
    is_leaf = isinstance(root, n.Solutions) and counted is None
    names = ["runs as"] if is_leaf else [f"conjunction {i}" for i in range(1, len(leaves) + 1)]
    sections = [
        explain_run(leaf.conjunction, printer, summary=summary, lazy=lazy, adaptive=adaptive, name=name)
        for leaf, name in zip(leaves, names, strict=True)
    ]
    if is_leaf:
        return sections[0]
    tree = ["runs as", *(f"  {line}" for line in draw_plan(root, printer))] if counted is None else counted
    return "\n".join([*tree, *sections])


def draw_plan(root: n.Node, printer: Printer, whole: n.Node | None = None) -> list[str]:
    """The operators of a plan, or of a part of a `whole` one, as the lines of a tree."""
    return draw(PlanTree(printer, root if whole is None else whole).branch(root))


class PlanTree:
    """The nodes of a plan as they are drawn, each once."""

    def __init__(self, printer: Printer, whole: n.Node) -> None:
        self._printer = printer
        self._leaves = [node for node in n.in_order(whole) if isinstance(node, n.Solutions)]
        self._shown: set[n.Node] = set()

    def enter(self, node: n.Node) -> tuple[str, bool]:
        """The line of a node, and whether what is below it is drawn here."""
        if node in self._shown and not isinstance(node, n.Solutions | n.Rows | n.Quads | n.ExchangeInput | n.Precomputed):
            return f"the same as above: {self._label(node)}", False
        self._shown.add(node)
        return self._label(node), True

    def branch(self, node: n.Node) -> Branch:
        label, is_first = self.enter(node)
        return Branch(label, [self.branch(part) for part in n.inputs_of(node)] if is_first else [])

    def _label(self, node: n.Node) -> str:
        p = self._printer
        match node:
            case n.Solutions():
                return f"conjunction {self._leaves.index(node) + 1}: {_columns(node.variables)}"
            case n.Quads(triple, graph):
                return f"{p.triple(triple)} in each named graph {p.term(graph)}"
            case n.Rows(variables, rows):
                return f"{len(rows)} constant row{'' if len(rows) == 1 else 's'}: {_columns(variables)}"
            case n.ExchangeInput(part, variables):
                return f"part {part + 1} of all cells: {_columns(variables)}"
            case n.Precomputed(part, variables):
                return f"rows of part {part + 1}, evaluated before the stream: {_columns(variables)}"
            case n.ExchangeOutput(parts):
                return f"sends on {'one part' if len(parts) == 1 else f'{len(parts)} parts, as they follow'}"
            case n.Extend(_, variable, expression):
                return f"{p.term(variable)} = {p.expression(expression)}"
            case n.EqualityKey(_, variable, of):
                return f"{p.term(variable)} = a key of {p.term(of)} that equal values share"
            case n.Filter(_, expression):
                return f"filter {p.expression(expression)}"
            case n.Project(_, columns):
                renamed = (p.term(name) if name == c else f"{p.term(c)} as {p.term(name)}" for name, c in columns)
                return f"columns {' '.join(renamed) or 'none'}"
            case n.Distinct():
                return "distinct: a count a row"
            case n.Union():
                return "all rows of both"
            case n.Join():
                return self._join(node)
            case n.OrderedJoin(_, _, one, operator, other):
                return f"join by order, {p.term(one)} {operator} {p.term(other)}: an ordered index a side"
            case n.Unmatched(_, _, on):
                return f"those without a match{self._by_key(on)}"
            case n.Marked(_, _, variable, on):
                return f"whether there is a match, as {p.term(variable)}{self._by_key(on)}"
            case n.Group(_, keys, aggregates):
                made = ", ".join(f"{p.term(v)} = {_aggregate(g)}" for v, g in aggregates)
                return f"group by {_columns(keys)}: {made or 'nothing more'}"
            case n.TopK(_, conditions, _, offset, limit):
                first = "all" if limit is None else f"first {limit}"
                by = self._order(conditions) or "all columns"
                return f"{first}{f' after {offset}' if offset else ''} by {by}: an ordered index"
            case n.Ordered(_, conditions):
                return f"answer sets in order of {self._order(conditions)}"
            case n.Closure(_, _, _, start, end, fixed_start, fixed_end, zero_length):
                length = "any number of" if zero_length else "one or more"
                fixed = fixed_start is not None or fixed_end is not None
                ends = f"from {p.term(fixed_start or start)} to {p.term(fixed_end or end)}"
                whence = {"starts": "each start", "ends": "each end", None: "each"}[node.asks]
                asked = f"{whence} that the other side of the join has" if node.asks else "constants" if fixed else whence
                return f"paths {ends} by {length} edges: what is reached from {asked}"
            case n.Template(_, triples):
                return f"triples {' . '.join(p.triple(t) for t in triples)}"
            case n.Ask():
                return "whether there is a solution: a count"

    def _by_key(self, on: tuple[Variable, ...] | None) -> str:
        if on is None:
            return ": a count a row"
        return f" on {_columns(on)}: a count a key" if on else ": one count for all"

    def _order(self, conditions: tuple[tuple[Variable, bool], ...]) -> str:
        return ", ".join(self._printer.term(v) + (" descending" if down else "") for v, down in conditions)

    def _join(self, node: n.Join) -> str:
        if not node.shared:
            return "product"
        sure = node.left.certain & node.right.certain
        on = " ".join(self._printer.term(v) for v in node.shared)
        unsure = [self._printer.term(v) for v in node.shared if v not in sure]
        return f"join on {on}" + (f" ({' '.join(unsure)} may be unbound)" if unsure else "") + ": a hash index a side"


def _columns(variables: tuple[Variable, ...]) -> str:
    return " ".join(f"?{v.value}" for v in variables) or "no columns"


def _aggregate(aggregate: n.Aggregate) -> str:
    inside = "*" if aggregate.operand is None else f"?{aggregate.operand.value}"
    return f"{aggregate.function}({'DISTINCT ' if aggregate.distinct else ''}{inside})"
