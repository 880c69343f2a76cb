"""A query as text that a person can read: what it reads, when it answers, and its algebra drawn as a tree."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from pyoxigraph import NamedNode, Variable

from millstream.language import algebra as a
from millstream.language.printer import Printer
from millstream.language.scope import bindable, exists_in
from millstream.plan.sources import Sources, sources_of
from millstream.windows.kinds import StreamWindow

_OUTPUTS = {
    a.Output.ISTREAM: "what appears",
    a.Output.DSTREAM: "what disappears",
    a.Output.RSTREAM: "the whole answer set",
    a.Output.CHANGES: "what appears (+1) and disappears (-1)",
}


@dataclass(frozen=True, slots=True)
class Branch:
    """A line of the drawing with those below it."""

    label: str
    below: list[Branch] = field(default_factory=list)


def explain(query: a.Query) -> str:
    """The whole explanation, several lines without a final newline."""
    printer = Printer(dict(query.prefixes))
    sections = [_head(query, printer), _reads(query, printer), "\n".join(draw(_tree(query, printer)))]
    if query.warnings:
        sections.append("\n".join(["warnings", *(f"  {w}" for w in query.warnings)]))
    return "\n\n".join(sections)


def draw(branch: Branch) -> list[str]:
    """The lines of a tree, joined by box characters."""
    lines = [branch.label]
    for i, child in enumerate(branch.below):
        last = i == len(branch.below) - 1
        first, *rest = draw(child)
        lines.append(("└─ " if last else "├─ ") + first)
        lines.extend(("   " if last else "│  ") + line for line in rest)
    return lines


def _head(query: a.Query, printer: Printer) -> str:
    when = "whenever a window closes" if query.closes_windows else "after every change"
    emits = f"emits {_OUTPUTS[query.output]} {when} ({query.output.name})"
    return f"{query.form.value}{_name(query, printer)}\n{emits}"


def _name(query: a.Query, printer: Printer) -> str:
    if query.name is None:
        return ""
    try:
        return f" {printer.iri(NamedNode(query.name))}"
    except ValueError:
        return f" {query.name}"


def _reads(query: a.Query, printer: Printer) -> str:
    lines = ["reads"]
    merged = set(query.default_windows)
    for window in query.windows:
        note = ", merged into the default graph" if window in merged else ""
        lines.append(f"  stream {_window(window, printer)}{note}")
    lines.extend(f"  {line}" for line in _graphs(query, sources_of(query), printer))
    return "\n".join(lines if len(lines) > 1 else ["reads nothing"])


def _graphs(query: a.Query, sources: Sources, printer: Printer) -> list[str]:
    lines = []
    default, named = query.dataset.default, query.dataset.named
    if sources.default_graph:
        if default is None:
            lines.append("default graph")
        else:
            lines.append("default graph: " + (" + ".join(printer.iri(g) for g in default) or "empty, without FROM"))
    if sources.any_named_graph:
        lines.append("all named graphs" if named is None else "named graphs " + ", ".join(printer.iri(g) for g in named))
    else:
        for graph in sources.named_graphs:
            absent = "" if named is None or graph in named else ", which no FROM NAMED lists"
            lines.append(f"graph {printer.iri(graph)}{absent}")
    return lines


def _window(window: StreamWindow, printer: Printer) -> str:
    return f"{printer.iri(window.stream)} [{window.window}]"


def _tree(query: a.Query, printer: Printer) -> Branch:
    body = _Tree(printer).branch(query.pattern)
    match query.form:
        case a.Form.CONSTRUCT:
            return Branch("construct", [*(Branch(printer.triple(t)) for t in query.template), body])
        case a.Form.ASK:
            return Branch("ask", [body])
        case a.Form.DESCRIBE:
            return Branch("describe " + (" ".join(printer.term(r) for r in query.resources) or "*"), [body])
        case a.Form.SELECT:
            return body


class _Tree:
    def __init__(self, printer: Printer) -> None:
        self._printer = printer
        self._graph = "the default graph"

    def _inside(self, graph: str, pattern: a.Pattern) -> Branch:
        """A pattern over another graph; one that only matches triples says so itself."""
        outside, self._graph = self._graph, graph
        branch = self.branch(pattern)
        self._graph = outside
        return branch if isinstance(pattern, a.BGP | a.Path) else Branch(graph, [branch])

    def branch(self, pattern: a.Pattern) -> Branch:
        p = self._printer
        match pattern:
            case a.BGP(()):
                return Branch("the empty solution")
            case a.BGP(triples):
                return Branch(f"match in {self._graph}", [Branch(p.triple(t)) for t in triples])
            case a.Path(subject, path, object_):
                return Branch(f"path {p.term(subject)} {p.path(path)} {p.term(object_)} in {self._graph}")
            case a.Join():
                parts = _flat(pattern, a.Join)
                return Branch(f"join{self._on(*parts)}", [self.branch(x) for x in parts])
            case a.Union():
                return Branch("union", [self.branch(x) for x in _flat(pattern, a.Union)])
            case a.LeftJoin(left, right, expression):
                below = [self.branch(left), self._called("optional", right)]
                where = "" if expression is None else f" where {p.expression(expression)}"
                exists = [] if expression is None else self._exists(expression)
                return Branch(f"left join{self._on(left, right)}{where}", below + exists)
            case a.Minus(left, right):
                below = [self.branch(left), self._called("without", right)]
                return Branch(f"minus{self._on(left, right)}", below)
            case a.Filter(expression, inner):
                return Branch(f"filter {p.expression(expression)}", [self.branch(inner), *self._exists(expression)])
            case a.Graph(name, inner):
                return self._inside(f"graph {p.term(name)}", inner)
            case a.Window(window, inner):
                return self._inside(f"window {_window(window, p)}", inner)
            case a.Extend(inner, variable, expression):
                label = f"bind ?{variable.value} = {p.expression(expression)}"
                return Branch(label, [self.branch(inner), *self._exists(expression)])
            case a.Values(variables, rows):
                return Branch(f"values {_names(variables)} ({len(rows)} row{'' if len(rows) == 1 else 's'})")
            case a.Service(name, inner):
                return Branch(f"service {p.term(name)}", [self.branch(inner)])
            case a.Group():
                return self._group(pattern)
            case a.OrderBy(inner, conditions):
                keys = ", ".join(p.expression(c.expression) + (" descending" if c.descending else "") for c in conditions)
                return Branch(f"order by {keys}", [self.branch(inner)])
            case a.Project(inner, variables):
                return Branch(f"select {_names(variables)}", [self.branch(inner)])
            case a.Distinct(inner):
                return Branch("distinct", [self.branch(inner)])
            case a.Reduced(inner):
                return Branch("reduced", [self.branch(inner)])
            case a.Slice(inner, offset, limit):
                first = "all" if limit is None else f"first {limit}"
                return Branch(first + (f" after {offset}" if offset else ""), [self.branch(inner)])

    def _group(self, group: a.Group) -> Branch:
        p = self._printer
        keys = ", ".join(p.term(v) if e == v else f"{p.expression(e)} as ?{v.value}" for v, e in group.keys)
        aggregates = [Branch(f"?{v.value} = {p.aggregate(g)}") for v, g in group.aggregates]
        label = f"group by {keys}" if keys else "group everything"
        return Branch(label, [*aggregates, self.branch(group.pattern)])

    def _called(self, name: str, pattern: a.Pattern) -> Branch:
        """A pattern whose part in the one above does not show from its place alone."""
        branch = self.branch(pattern)
        return Branch(f"{name}: {branch.label}", branch.below)

    def _exists(self, expression: a.Expression) -> list[Branch]:
        return [self._called("exists", e.pattern) for e in exists_in(expression)]

    def _on(self, *parts: a.Pattern) -> str:
        """What two or more parts share: the terms that must be equal."""
        counts = Counter(term for part in parts for term in bindable(part))
        shared = sorted(self._printer.term(term) for term, count in counts.items() if count > 1)
        return " on " + " ".join(shared) if shared else ", nothing shared"


def _flat(pattern: a.Pattern, kind: type[a.Join] | type[a.Union]) -> list[a.Pattern]:
    """A chain of the same binary node as one list."""
    if isinstance(pattern, kind):
        return [*_flat(pattern.left, kind), *_flat(pattern.right, kind)]
    return [pattern]


def _names(variables: tuple[Variable, ...]) -> str:
    return " ".join(f"?{v.value}" for v in variables)
