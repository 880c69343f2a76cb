"""A continuous query as plain SPARQL, for an engine that knows no streams: windows become named graphs.

The text itself is edited at the places the parser reports, so everything that is not a stream clause reaches the outside
engine as the user wrote it. What is edited:

- `STREAM <s> [...]` and `WINDOW <w>` become `GRAPH <urn:reference:window:k>`; REGISTER, FROM and output operators go;
- `GRAPH ?g` is kept from the windows' graphs;
- LIMIT and OFFSET get an ORDER BY completed by the projected variables in term order;
- REDUCED goes, which lets repeats be dropped or not;
- MEDIAN, SAMPLE, GROUP_CONCAT and NOW become calls that the reference evaluator answers itself;
- CONSTRUCT becomes the SELECT of its pattern; the reference evaluator fills the template.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

from pyoxigraph import NamedNode, Variable

from millstream.language import algebra as a
from millstream.language import parse_query
from millstream.language.parser.parser import parse as parse_syntax
from millstream.language.scope import in_scope
from millstream.language.syntax import tree as s
from millstream.language.translation.context import Context
from millstream.language.translation.iris import Names
from millstream.language.translation.patterns import PatternTranslator
from millstream.language.translation.selection import SelectionTranslator
from millstream.windows.kinds import StreamWindow

WINDOW_GRAPHS = "urn:reference:window:"
NOW = NamedNode("urn:reference:now")
_NONDETERMINISTIC = {"RAND", "UUID", "STRUUID", "BNODE"}
_ORDER_BY = re.compile(r"\bORDER\s+BY\b", re.IGNORECASE)


@dataclass(frozen=True)
class OwnAggregate:
    """An aggregate that the outside engine lacks, or leaves without an order."""

    function: str
    distinct: bool
    separator: str


@dataclass
class PlainQuery:
    """What to run, what graphs the windows are, and which aggregates the reference evaluator must bring."""

    query: a.Query
    text: str
    window_graphs: dict[StreamWindow, NamedNode] = field(default_factory=dict)
    aggregates: dict[NamedNode, OwnAggregate] = field(default_factory=dict)


def plain(text: str, base: str | None = None) -> PlainQuery:
    """The plain form of a query in any of the dialects; lenient forms are refused, they have a legal one."""
    query = parse_query(text, base)
    unit, text = parse_syntax(text)
    return _Rewriting(query, unit, text).run()


class _Rewriting:
    def __init__(self, query: a.Query, unit: s.QueryUnit, text: str) -> None:
        self.unit = unit
        self.text = text
        self.plain = PlainQuery(query, text)
        self.edits: list[tuple[int, int, str]] = []
        self.names = Names(text, None)
        self.names.declare(unit.prologue)
        if unit.register is not None:
            self.names.declare(unit.register.prologue)
        # Only used to learn which windows and variables a place stands for; what is run is the edited text.
        self.context = Context(text, self.names)
        for clause in unit.query.dataset:
            if isinstance(clause, s.FromStream) and clause.name is not None:
                name = self.names.resolve(clause.name).value
                self.context.named_windows[name] = self.context.window(clause.stream, clause.window, name)

    def run(self) -> PlainQuery:
        for window in self.plain.query.windows:
            self.plain.window_graphs[window] = NamedNode(f"{WINDOW_GRAPHS}{len(self.plain.window_graphs)}")
        if self.unit.register is not None:
            self.cut(self.unit.register.place)
        for node in _walk(self.unit):
            self.visit(node)
        self.query_form()
        text = self.text
        for start, end, new in sorted(self.edits, reverse=True):
            text = text[:start] + new + text[end:]
        self.plain.text = text
        return self.plain

    def cut(self, place: Any) -> None:
        if place is not None:
            self.edits.append((place.start, place.end, " "))

    def visit(self, node: Any) -> None:
        match node:
            case s.FromClause() | s.FromStream():
                self.cut(node.place)
            case s.StreamGraphPattern(stream, window):
                assert not isinstance(stream, Variable)
                self.graph(node.place, self.context.window(stream, window))
            case s.WindowGraphPattern(name):
                assert not isinstance(name, Variable)
                self.graph(node.place, self.context.named_windows[self.names.resolve(name).value])
            case s.GraphPattern(Variable(value=name), _, place):
                self.edits.append((place.start, place.start, "{ "))
                self.edits.append((place.end, place.end, f' FILTER(!STRSTARTS(STR(?{name}), "{WINDOW_GRAPHS}")) }}'))
            case s.AggregateCall(function) if function in ("MEDIAN", "SAMPLE", "GROUP_CONCAT"):
                self.own_aggregate(node)
            case s.Call("NOW"):
                self.edits.append((node.place.start, node.place.end, str(NOW)))
            case s.Call(str() as function) if function in _NONDETERMINISTIC:
                raise ValueError(f"{function} has no reproducible answer")
            case s.SelectQuery():
                self.complete_order(node)
            case s.SelectClause(reduced=True):
                # What the outside engine drops depends on its order; to drop nothing is as right.
                found = re.compile(r"\bREDUCED\b", re.IGNORECASE).search(self.text, node.place.start)
                assert found is not None
                self.edits.append((found.start(), found.end(), ""))
            case s.SelectItem(parenthesised=False):
                raise ValueError("give the reference evaluator the legal form: parentheses around the expression")

    def graph(self, place: Any, window: StreamWindow) -> None:
        self.edits.append((place.start, place.end, f"GRAPH {self.plain.window_graphs[window]} "))

    def own_aggregate(self, call: s.AggregateCall) -> None:
        own = OwnAggregate(call.function, call.distinct, " " if call.separator is None else call.separator)
        name = NamedNode(f"urn:reference:aggregate:{len(self.plain.aggregates)}")
        self.plain.aggregates[name] = own
        self.edits.append((call.place.start, call.place.end, str(name)))
        self.cut(call.separator_place)
        if call.distinct:
            # The outside engine's custom aggregates take no DISTINCT; the reference evaluator drops repeats itself.
            found = re.compile(r"\s*\(\s*(DISTINCT)", re.IGNORECASE).match(self.text, call.place.end)
            assert found is not None
            self.edits.append((found.start(1), found.end(1), ""))

    def complete_order(self, query: s.SelectQuery) -> None:
        modifier = query.modifier
        if modifier.slice_place is None:
            return
        if query.select.items is None:
            variables = in_scope(
                PatternTranslator(self.context, SelectionTranslator(self.context).select).group(query.where)
            )
        else:
            variables = tuple(i.variable for i in query.select.items)
        self.insert_order(modifier, variables)

    def insert_order(self, modifier: s.SolutionModifier, variables: tuple[Variable, ...]) -> None:
        assert modifier.slice_place is not None
        if not variables:
            return
        start = end = modifier.slice_place.start
        word = "" if modifier.order_by else "ORDER BY "
        asked = [(o.expression, o.descending) for o in modifier.order_by if isinstance(o.expression, Variable)]
        if asked and len(asked) == len(modifier.order_by):
            # Of literals that `<` does not compare the outside engine has an order of its own.
            start = [found.start() for found in _ORDER_BY.finditer(self.text, 0, end)][-1]
            word = "ORDER BY " + "".join(solution_order(v, "DESC" if down else "ASC") for v, down in asked)
        self.edits.append((start, end, word + " ".join(term_order(v) for v in variables) + " "))

    def query_form(self) -> None:
        match self.unit.query:
            case s.SelectQuery(select):
                self.cut(select.output_place)
            case s.ConstructQuery() as construct:
                self.edits = [e for e in self.edits if not construct.place.start <= e[0] < construct.place.end]
                self.edits.append((construct.place.start, construct.place.end, "SELECT * "))
                if construct.modifier.slice_place is not None:
                    self.insert_order(construct.modifier, self.plain.query.variables)
            case s.AskQuery() as ask:
                self.cut(ask.output_place)


def term_order(variable: Variable) -> str:
    """ORDER BY conditions that order any two different terms.

    Unbound, blank nodes, IRIs, literals; numbers before other literals and by value; then lexical form, language, datatype.
    """
    v = f"?{variable.value}"
    double = "<http://www.w3.org/2001/XMLSchema#double>"
    return (
        f"(IF(!BOUND({v}), 0, IF(isBlank({v}), 1, IF(isIRI({v}), 2, IF(isNumeric({v}), 3, 4))))) "
        f"(IF(isNumeric({v}), {double}({v}), 0)) (STR({v})) (LANG({v})) (STR(DATATYPE({v}))) {v}"
    )


def solution_order(variable: Variable, word: str) -> str:
    """ORDER BY conditions for what section 15.1 orders, and for literals that `<` does not compare.

    Unbound, blank nodes, IRIs, numbers, booleans, other literals by lexical form, datatype, language. Equal values tie.
    """
    v, boolean = f"?{variable.value}", "<http://www.w3.org/2001/XMLSchema#boolean>"
    is_text = f"isLiteral({v}) && !isNumeric({v}) && DATATYPE({v}) != {boolean}"
    kind = f"IF(!BOUND({v}), 0, IF(isBlank({v}), 1, IF(isIRI({v}), 2, IF(isNumeric({v}), 3, IF({is_text}, 5, 4)))))"
    texts = (f"IF({is_text}, {text}, 0)" for text in (f"STR({v})", f"STR(DATATYPE({v}))", f"LANG({v})"))
    return "".join(f"{word}({key}) " for key in (kind, f"IF({is_text}, 0, {v})", *texts))


def _walk(node: Any) -> Iterator[Any]:
    if is_dataclass(node):
        yield node
        for f in fields(node):
            yield from _walk(getattr(node, f.name))
    elif isinstance(node, tuple):
        for part in node:
            yield from _walk(part)
