"""How a conjunction is run, as text: its parts and views, where filters apply, what streams are read for, the order."""

from __future__ import annotations

from pyoxigraph import BlankNode, NamedNode, Variable

from millstream.language import algebra as a
from millstream.language.printer import Printer
from millstream.language.scope import mentioned
from millstream.plan.conjunction import (
    Conjunction,
    GraphSource,
    MergedSource,
    ParameterSource,
    PatternVariable,
    Source,
    SourcedPattern,
    WindowSource,
    counted_of,
    order_test,
    term_test,
)
from millstream.plan.subqueries import subqueries_of

_KINDS = {0: "there or not", 1: "admits", 2: "pairs", 3: "triples"}
"""What is kept of the triples that a pattern matches, by how many variables it has."""


def explain_run(
    plan: Conjunction,
    printer: Printer,
    *,
    summary: bool = True,
    lazy: bool = True,
    adaptive: bool = True,
    name: str = "runs as",
) -> str:
    """Several lines without a final newline; the switches are those of the engine."""
    lines = [name]
    parts = plan.components
    for number, members in enumerate(parts, 1):
        lines.append(f"  part {number}: {_shape(plan, members)}")
        lines.extend(f"    {line}" for line in _views([plan.patterns[n] for n in members], printer))
        if counted := _counted(plan, members, adaptive):
            lines.append(f"    counted instead of listed: {', '.join(counted)}")
        if adaptive:
            for apart in subqueries_of(plan.patterns, members):
                texts = " . ".join(printer.triple(plan.patterns[n].triple) for n in apart)
                lines.append(f"    joined apart, while it has few solutions for its triples: {texts}")
        lines.extend(
            f"    filter {printer.expression(f)}, {_moment(plan, f)}"
            for f in plan.filters
            if _place(plan, f) == number - 1 and len(_bound(plan, f)) > 1
        )
    if len(parts) > 1:
        lines.append(f"  product of the {len(parts)} parts, taken last and only while each has a solution")
    lines.extend(f"  filter {printer.expression(f)}, on the whole" for f in plan.filters if _place(plan, f) is None)
    early = [f for f in plan.filters if len(_bound(plan, f)) == 1]
    lines.extend(f"  filter {printer.expression(f)}, before a triple is stored" for f in early)
    lines.extend(f"  {line}" for line in _summaries(plan, printer, summary))
    lines.append("  order: " + _order(plan, adaptive))
    if lazy and len(plan.patterns) > 1:
        lines.append("  nothing is joined while a view that is needed has no triple")
    return "\n".join(lines)


def _counted(plan: Conjunction, members: tuple[int, ...], adaptive: bool) -> list[str]:
    """The variables of a part that are counted, but for those that are joined apart."""
    apart = subqueries_of(plan.patterns, members) if adaptive else ()
    listed = {v for part in apart for n in part for v in plan.patterns[n].variables}
    counted = counted_of(plan) - listed
    return [str(v) for v in dict.fromkeys(v for n in members for v in plan.patterns[n].variables) if v in counted]


def _shape(plan: Conjunction, members: tuple[int, ...]) -> str:
    patterns = [plan.patterns[n] for n in members]
    variables = {v for p in patterns for v in p.variables}
    if not variables:
        return "a triple that is there or not"
    shared = sorted(v.value for v in variables if isinstance(v, Variable) and sum(v in p.variables for p in patterns) > 1)
    on = " joined on " + " ".join(f"?{v}" for v in shared) if shared else ""
    plural = "" if len(patterns) == 1 else "s"
    return f"{len(patterns)} pattern{plural}{on}"


def _views(patterns: list[SourcedPattern], printer: Printer) -> list[str]:
    texts = [(_KINDS[len(p.variables)], printer.triple(p.triple), _source(p.source, printer)) for p in patterns]
    widths = [max(len(row[i]) for row in texts) for i in range(2)]
    return [f"{kind:<{widths[0]}}  {text:<{widths[1]}}  in {source}" for kind, text, source in texts]


def describe_conjunction(plan: Conjunction) -> str:
    """Its parts in one line."""
    shapes = [_shape(plan, members) for members in plan.components]
    if not shapes:
        return "no patterns: one empty solution"
    return shapes[0] if len(shapes) == 1 else f"product of {', '.join(shapes)}"


def describe_pattern(pattern: SourcedPattern, printer: Printer) -> str:
    """What is kept of its triples, and where they come from."""
    return f"{_KINDS[len(pattern.variables)]} in {_source(pattern.source, printer)}"


def _source(source: Source, printer: Printer) -> str:
    match source:
        case WindowSource(window):
            return f"window {printer.iri(window.stream)} [{window.window}]"
        case ParameterSource():
            return "the constants of the queries that run as one plan"
        case GraphSource(None):
            return "the default graph"
        case GraphSource(NamedNode() as graph):
            return f"graph {printer.iri(graph)}"
        case MergedSource(()):
            return "no graph at all"
        case MergedSource(parts):
            return "the union of " + ", ".join(_source(part, printer) for part in parts)
    raise TypeError(source)


def _bound(plan: Conjunction, expression: a.Expression) -> set[PatternVariable]:
    return set(plan.variables) & set(mentioned(expression))


def _place(plan: Conjunction, expression: a.Expression) -> int | None:
    """The part that binds all variables of a filter; None: only the whole does."""
    variables = _bound(plan, expression)
    for number, members in enumerate(plan.components):
        if variables and variables <= {v for n in members for v in plan.patterns[n].variables}:
            return number
    return None


def _moment(plan: Conjunction, expression: a.Expression) -> str:
    if term_test(expression, plan.patterns) is not None:
        return "as soon as both are bound"
    return (
        "after the join"
        if order_test(expression) is None
        else "as soon as both are bound where their ids tell, else after the join"
    )


def _summaries(plan: Conjunction, printer: Printer, summary: bool) -> list[str]:
    """What a stream's triples must look like for anyone to keep them."""
    wanted: dict[NamedNode, set[str]] = {}
    for pattern in plan.patterns:
        parts = pattern.source.parts if isinstance(pattern.source, MergedSource) else (pattern.source,)
        for part in parts:
            if isinstance(part, WindowSource):
                wanted.setdefault(part.window.stream, set()).add(_constants(pattern, printer))
    # What no pattern of this query matches, another query of the stream may still ask for.
    if not summary:
        return [f"keeps all triples of {printer.iri(stream)}: the summary is off" for stream in wanted]
    return [
        f"keeps of {printer.iri(stream)}: {' or '.join(sorted(texts))}; the rest is dropped unread"
        if "everything" not in texts
        else f"keeps everything of {printer.iri(stream)}"
        for stream, texts in wanted.items()
    ]


def _constants(pattern: SourcedPattern, printer: Printer) -> str:
    t = pattern.triple
    terms = [None if isinstance(x, Variable | BlankNode) else printer.term(x) for x in (t.subject, t.predicate, t.object)]
    if not any(terms):
        return "everything"
    return "(" + " ".join(term or "*" for term in terms) + ")"


def _order(plan: Conjunction, adaptive: bool) -> str:
    if not adaptive:
        return "as written, always"
    if all(len(members) == 1 for members in plan.components):
        return "nothing to choose"
    return "chosen at each probe: what closes a cycle first, then the shortest list, ends of branches last"
