"""Algebra written the way section 18.2 of the SPARQL 1.1 recommendation writes it, for tests to compare."""

from __future__ import annotations

from millstream.language import algebra as a
from millstream.language import parse_query
from millstream.language.printer import Printer

PROLOGUE = "PREFIX : <http://example.org/>\n"
_PRINTER = Printer({"": "http://example.org/", "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#"})


def parse(text: str) -> a.Query:
    """The query of a text that may use the prefix `:`."""
    return parse_query(PROLOGUE + text)


def algebra(group: str) -> str:
    """The algebra of a group graph pattern."""
    return written(parse(f"ASK {group}").pattern)


def written(pattern: a.Pattern) -> str:
    """A pattern as text; Z is the empty one, windows and selections are written as functions too."""
    p = _PRINTER
    match pattern:
        case a.BGP(()):
            return "Z"
        case a.BGP(triples):
            return f"BGP({'. '.join(p.triple(t) for t in triples)})"
        case a.Path(subject, path, object_):
            return f"Path({p.term(subject)}, {p.path(path)}, {p.term(object_)})"
        case a.Join(left, right):
            return f"Join({written(left)}, {written(right)})"
        case a.LeftJoin(left, right, expression):
            return f"LeftJoin({written(left)}, {written(right)}, {'true' if expression is None else shown(expression)})"
        case a.Filter(expression, inner):
            return f"Filter({shown(expression)}, {written(inner)})"
        case a.Union(left, right):
            return f"Union({written(left)}, {written(right)})"
        case a.Minus(left, right):
            return f"Minus({written(left)}, {written(right)})"
        case a.Graph(name, inner):
            return f"Graph({p.term(name)}, {written(inner)})"
        case a.Service(name, inner):
            return f"Service({p.term(name)}, {written(inner)})"
        case a.Window(window, inner):
            return f"Window({p.iri(window.stream)} [{window.window}], {written(inner)})"
        case a.Extend(inner, variable, expression):
            return f"Extend({written(inner)}, {p.term(variable)}, {shown(expression)})"
        case a.Values(variables, rows):
            body = " ".join("(" + " ".join("UNDEF" if v is None else p.term(v) for v in row) + ")" for row in rows)
            return f"Values({' '.join(p.term(v) for v in variables)}; {body})"
        case a.Group(inner, keys, aggregates):
            by = ", ".join(p.term(v) if v == e else f"{p.term(v)} = {shown(e)}" for v, e in keys)
            made = ", ".join(f"{p.term(v)} = {p.aggregate(g)}" for v, g in aggregates)
            return f"Group({'; '.join(filter(None, [by, made]))}; {written(inner)})"
        case a.OrderBy(inner, conditions):
            keys_text = ", ".join(("DESC " if c.descending else "") + shown(c.expression) for c in conditions)
            return f"OrderBy({written(inner)}; {keys_text})"
        case a.Project(inner, variables):
            return f"Project({written(inner)}; {' '.join(p.term(v) for v in variables)})"
        case a.Distinct(inner):
            return f"Distinct({written(inner)})"
        case a.Reduced(inner):
            return f"Reduced({written(inner)})"
        case a.Slice(inner, offset, limit):
            return f"Slice({written(inner)}; {offset}, {limit})"


def shown(expression: a.Expression) -> str:
    """An expression as SPARQL; the pattern of a lone EXISTS is written out."""
    match expression:
        case a.Exists(pattern):
            return f"EXISTS {written(pattern)}"
        case a.Not(a.Exists(pattern)):
            return f"NOT EXISTS {written(pattern)}"
        case _:
            return _PRINTER.expression(expression)
