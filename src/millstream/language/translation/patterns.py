"""Group graph patterns and expressions to algebra: section 18.2.2 of the recommendation."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from functools import reduce
from typing import Any

from pyoxigraph import Literal, NamedNode, Variable

from millstream.errors import Place
from millstream.language import algebra as a
from millstream.language.functions import FUNCTIONS, MANY
from millstream.language.scope import in_scope
from millstream.language.syntax import tree as s
from millstream.language.translation.context import Context

EMPTY = a.BGP(())
"""Z, the unit of Join."""

_OPERATIONS: dict[str, Callable[..., a.Expression]] = {
    "||": a.Or,
    "&&": a.And,
    "!": a.Not,
    "u+": a.UnaryPlus,
    "u-": a.UnaryMinus,
}
_REPETITIONS: dict[str, Callable[[Any], a.PropertyPath]] = {"?": a.ZeroOrOne, "*": a.ZeroOrMore, "+": a.OneOrMore}
_INSIDE_WINDOW = "Move it out of the block: what a STREAM or WINDOW block matches is the content of its window alone."


def join(left: a.Pattern, right: a.Pattern) -> a.Pattern:
    if left == EMPTY:
        return right
    if right == EMPTY:
        return left
    return a.Join(left, right)


class PatternTranslator:
    """Translates groups; sub-selects go through the function given, which knows queries."""

    def __init__(self, context: Context, select: Callable[[s.SelectQuery], a.Pattern]) -> None:
        self._context = context
        self._names = context.names
        self._select = select
        self._labels: dict[str, int] = {}
        self._block = 0
        self._inside_window = False

    def group(self, group: s.GroupGraphPattern) -> a.Pattern:
        pattern, constraint = self._group(group)
        return pattern if constraint is None else a.Filter(constraint, pattern)

    def _group(self, group: s.GroupGraphPattern) -> tuple[a.Pattern, a.Expression | None]:
        """The pattern and its filters apart: OPTIONAL takes the filters of its own group, and of no group within."""
        constraints = [e.constraint for e in group.elements if isinstance(e, s.FilterElement)]
        pattern: a.Pattern = EMPTY
        for element in _joined_blocks(group):
            pattern = self._element(pattern, element)
        translated = [self.expression(c) for c in constraints]
        return pattern, reduce(a.And, translated) if translated else None

    def _element(self, before: a.Pattern, element: s.Element) -> a.Pattern:
        match element:
            case s.TriplesBlock(triples):
                self._block += 1
                return join(before, self._triples(triples))
            case s.OptionalPattern(group):
                right, constraint = self._group(group)
                return a.LeftJoin(before, right, constraint)
            case s.MinusPattern(group):
                return a.Minus(before, self.group(group))
            case s.BindElement(expression, variable, place):
                if variable in in_scope(before):
                    raise self._context.error(
                        f"BIND assigns ?{variable.value}, which is already used before it in the group.", place
                    )
                return a.Extend(before, variable, self.expression(expression))
            case s.UnionPattern(groups):
                return join(before, reduce(a.Union, [self.group(g) for g in groups]))
            case s.GraphPattern(name, group, place):
                if self._inside_window:
                    raise self._context.unsupported("GRAPH inside a STREAM or WINDOW block", place, _INSIDE_WINDOW)
                return join(before, a.Graph(self.var_or_iri(name), self.group(group)))
            case s.ServicePattern(name, group, silent, place):
                return join(before, a.Service(self.var_or_iri(name), self.group(group), silent, place))
            case s.InlineData():
                return join(before, self.values(element))
            case s.SubSelect(query):
                return join(before, self._select(query))
            case s.StreamGraphPattern() | s.WindowGraphPattern():
                return join(before, self._window(element))
            case s.GroupGraphPattern():
                return join(before, self.group(element))
            case s.FilterElement():
                return before

    def _window(self, element: s.StreamGraphPattern | s.WindowGraphPattern) -> a.Pattern:
        word = "STREAM" if isinstance(element, s.StreamGraphPattern) else "WINDOW"
        if self._inside_window:
            raise self._context.unsupported(f"{word} inside a STREAM or WINDOW block", element.place, _INSIDE_WINDOW)
        if isinstance(element, s.StreamGraphPattern):
            if isinstance(element.stream, Variable):
                raise self._context.unsupported(
                    f"STREAM ?{element.stream.value}", element.place, "Name the stream by its IRI, one block a stream."
                )
            window = self._context.window(element.stream, element.window)
        else:
            if isinstance(element.name, Variable):
                raise self._context.unsupported(
                    f"WINDOW ?{element.name.value}", element.place, "Name the window by its IRI, one block a window."
                )
            name = self._names.resolve(element.name).value
            declared = self._context.named_windows
            if name not in declared:
                close = difflib.get_close_matches(name, list(declared), n=1, cutoff=0.6)
                suggestion = f"did you mean <{close[0]}>?" if close else None
                known = ", ".join(f"<{w}>" for w in declared) or "none"
                raise self._context.error(
                    f"window <{name}> is not declared; " + (suggestion or f"declared are: {known}."),
                    element.place,
                    suggestion,
                )
            window = declared[name]
        self._inside_window = True
        try:
            inner = self.group(element.group)
        finally:
            self._inside_window = False
        return a.Window(self._context.use(window), inner, element.place)

    # Triples and paths ----------------------------------------------------------------------------------------------

    def _triples(self, triples: tuple[s.Triple, ...]) -> a.Pattern:
        pattern: a.Pattern = EMPTY
        simple: list[a.TriplePattern] = []
        for triple in triples:
            subject, object_ = self.pattern_term(triple.subject), self.pattern_term(triple.object)
            if isinstance(triple.predicate, Variable):
                simple.append(a.TriplePattern(subject, triple.predicate, object_))
                continue
            for piece in self._path(subject, self._property_path(triple.predicate), object_):
                if isinstance(piece, a.TriplePattern):
                    simple.append(piece)
                else:
                    pattern = join(join(pattern, a.BGP(tuple(simple))), piece)
                    simple = []
        return join(pattern, a.BGP(tuple(simple)))

    def _path(self, subject: a.PatternTerm, path: a.PropertyPath, object_: a.PatternTerm) -> list[a.TriplePattern | a.Path]:
        """Section 18.2.2.4: what a path pattern is short for."""
        match path:
            case a.Link(predicate):
                return [a.TriplePattern(subject, predicate, object_)]
            case a.Inverse(inner):
                return self._path(object_, inner, subject)
            case a.Sequence(first, second):
                middle = self._context.fresh_blank_node("step")
                return [*self._path(subject, first, middle), *self._path(middle, second, object_)]
            case _:
                return [a.Path(subject, path, object_)]

    def _property_path(self, path: s.Path) -> a.PropertyPath:
        match path:
            case s.IRIReference() | s.PrefixedName():
                return a.Link(self._names.resolve(path))
            case s.Inverse(inner):
                return a.Inverse(self._property_path(inner))
            case s.Sequence(steps):
                return reduce(a.Sequence, [self._property_path(p) for p in steps])
            case s.Alternative(choices):
                return reduce(a.Alternative, [self._property_path(p) for p in choices])
            case s.Repetition(inner, modifier):
                return _REPETITIONS[modifier](self._property_path(inner))
            case s.NegatedSet(forward, backward):
                negated = a.NegatedPropertySet(frozenset(self._names.resolve(i) for i in forward))
                inverse = a.Inverse(a.NegatedPropertySet(frozenset(self._names.resolve(i) for i in backward)))
                if not backward:
                    return negated
                return a.Alternative(negated, inverse) if forward else inverse

    # Terms ----------------------------------------------------------------------------------------------------------

    def pattern_term(self, term: s.Term) -> a.PatternTerm:
        if isinstance(term, s.BlankNodeLabel):
            if term.label.startswith("_:") and self._labels.setdefault(term.label, self._block) != self._block:
                raise self._context.error(
                    f"blank node {term.label} stands in two basic graph patterns; use a variable to join them.",
                    term.place,
                )
            return self._context.blank_node(term.label, "b_")
        return self.term(term)

    def term(self, term: Variable | s.IRI | Literal | s.TypedLiteral | s.TaggedLiteral) -> Variable | NamedNode | Literal:
        match term:
            case s.TaggedLiteral(lexical, language, place):
                try:
                    return Literal(lexical, language=language)
                except ValueError as error:
                    raise self._context.error(f"@{language} is not a language tag: {error}.", place) from None
            case s.IRIReference() | s.PrefixedName():
                return self._names.resolve(term)
            case s.TypedLiteral(lexical, datatype):
                return Literal(lexical, datatype=self._names.resolve(datatype))
            case _:
                return term

    def var_or_iri(self, name: Variable | s.IRI) -> Variable | NamedNode:
        return name if isinstance(name, Variable) else self._names.resolve(name)

    def values(self, data: s.InlineData) -> a.Values:
        rows = []
        for row in data.rows:
            if len(row) != len(data.variables):
                terms = f"{len(row)} term{'' if len(row) == 1 else 's'}"
                raise self._context.error(f"VALUES has {len(data.variables)} variables, but a row of {terms}.", data.place)
            rows.append(tuple(None if v is None else self.term(v) for v in row))
        if len(set(data.variables)) != len(data.variables):
            raise self._context.error("VALUES names a variable twice.", data.place)
        return a.Values(data.variables, tuple(rows))  # type: ignore[arg-type]  # no variable stands in a row

    # Expressions ----------------------------------------------------------------------------------------------------

    def expression(self, expression: s.Expression) -> a.Expression:
        """An expression that may not aggregate: filters, BIND, GROUP BY."""
        return self._expression(expression, None)

    def aggregating(self, expression: s.Expression) -> a.Expression:
        """An expression of SELECT, HAVING or ORDER BY."""
        return self._expression(expression, "")

    def _expression(self, expression: s.Expression, inside: str | None) -> a.Expression:
        match expression:
            case s.Operation(operator, operands):
                return _operation(operator, [self._expression(o, inside) for o in operands])
            case s.Call(function, arguments, distinct, place):
                if not isinstance(function, str):
                    values = tuple(self._expression(x, inside) for x in arguments)
                    iri = self._names.resolve(function)
                    if distinct:
                        raise self._context.unsupported(
                            f"The custom aggregate <{iri.value}>",
                            place,
                            "Use one of COUNT, SUM, AVG, MIN, MAX, MEDIAN, SAMPLE and GROUP_CONCAT.",
                        )
                    return a.FunctionCall(iri, values, place)
                self._check_arguments(function, arguments, place)
                return a.FunctionCall(function, tuple(self._expression(x, inside) for x in arguments), place)
            case s.AggregateCall():
                return self._aggregate(expression, inside)
            case s.ExistsCall(group, negated, place):
                found = a.Exists(self.group(group), place)
                return a.Not(found) if negated else found
            case _:
                return self.term(expression)

    def _aggregate(self, call: s.AggregateCall, inside: str | None) -> a.Aggregate:
        if inside is None:
            raise self._context.error(
                f"{call.function} may stand only in SELECT, HAVING and ORDER BY, not in FILTER, BIND or GROUP BY.",
                call.place,
            )
        if inside:
            raise self._context.error(
                f"{call.function} inside {inside}: an aggregate cannot contain another; use a sub-query.", call.place
            )
        if call.operand is None and call.function != "COUNT":
            raise self._context.error(f"{call.function}(*) has no meaning; only COUNT takes *.", call.place)
        if call.separator is not None and call.function != "GROUP_CONCAT":
            raise self._context.error(f"{call.function} takes no SEPARATOR; only GROUP_CONCAT does.", call.place)
        operand = None if call.operand is None else self._expression(call.operand, call.function)
        return a.Aggregate(call.function, operand, call.distinct, call.separator, call.place)

    def _check_arguments(self, function: str, arguments: tuple[s.Expression, ...], place: Place) -> None:
        fewest, most = FUNCTIONS[function]
        if not fewest <= len(arguments) <= most:
            wanted = str(fewest) if fewest == most else f"at least {fewest}" if most == MANY else f"{fewest} or {most}"
            plural = "argument" if wanted == "1" else "arguments"
            raise self._context.error(f"{function} takes {wanted} {plural}, got {len(arguments)}.", place)
        if function == "BOUND" and not isinstance(arguments[0], Variable):
            raise self._context.error("BOUND takes a variable.", place)


def _joined_blocks(group: s.GroupGraphPattern) -> list[s.Element]:
    """The elements without filters; triples that only a filter parted form one basic graph pattern."""
    elements: list[s.Element] = []
    for element in group.elements:
        if isinstance(element, s.FilterElement):
            continue
        if isinstance(element, s.TriplesBlock) and elements and isinstance(elements[-1], s.TriplesBlock):
            elements[-1] = s.TriplesBlock(elements[-1].triples + element.triples, elements[-1].place)
        else:
            elements.append(element)
    return elements


def _operation(operator: str, operands: list[a.Expression]) -> a.Expression:
    if operator in _OPERATIONS:
        return _OPERATIONS[operator](*operands)
    if operator in ("IN", "NOT IN"):
        found = a.In(operands[0], tuple(operands[1:]))
        return found if operator == "IN" else a.Not(found)
    return (a.Arithmetic if operator in "+-*/" else a.Comparison)(operator, operands[0], operands[1])
