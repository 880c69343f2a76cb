"""SELECT clauses and solution modifiers to algebra: sections 18.2.4 and 18.2.5 of the recommendation.

Aliases of SELECT that papers use in GROUP BY and HAVING are put back to what they stand for, with a warning.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import reduce

from pyoxigraph import Variable

from millstream.errors import Place
from millstream.language import algebra as a
from millstream.language import syntax as s
from millstream.language.context import Context
from millstream.language.patterns import PatternTranslator, join
from millstream.language.scope import aggregates_in, in_scope, mentioned, outside_aggregates, rewrite


@dataclass(slots=True)
class _Grouping:
    """Keys and aggregates collected from everywhere in a query level; equal aggregates are computed once."""

    context: Context
    keys: list[tuple[Variable, a.Expression]] = field(default_factory=list)
    aggregates: dict[a.Aggregate, Variable] = field(default_factory=dict)

    @property
    def key_variables(self) -> frozenset[Variable]:
        return frozenset(v for v, _ in self.keys)

    def extract(self, expression: a.Expression) -> a.Expression:
        """The expression with its aggregates replaced by their variables."""

        def change(part: a.Expression) -> a.Expression | None:
            if isinstance(part, a.Aggregate):
                if part not in self.aggregates:
                    self.aggregates[part] = self.context.fresh_variable("agg")
                return self.aggregates[part]
            return None

        return rewrite(expression, change)


class SelectionTranslator:
    """Translates query levels: the outermost SELECT and every sub-select."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self.patterns = PatternTranslator(context, self.select)

    def select(self, query: s.SelectQuery, values: s.InlineData | None = None) -> a.Pattern:
        """The whole pattern of a SELECT; `values` is a VALUES clause that stands behind it."""
        pattern = self.patterns.group(query.where)
        values = values or query.values
        clause, modifier = query.select, query.modifier
        items = self._items(clause, pattern)
        having = [self.patterns.aggregating(h) for h in modifier.having]
        order = [(self.patterns.aggregating(o.expression), o.descending) for o in modifier.order_by]
        grouped = bool(modifier.group_by) or any(
            any(True for _ in aggregates_in(e))
            for e in [*(e for _, e, _ in items if e is not None), *having, *(e for e, _ in order)]
        )
        if grouped:
            pattern, items, having, order = self._group(pattern, clause, modifier, items, having, order)
        elif having:
            raise self._context.error("HAVING needs GROUP BY or an aggregate; use FILTER.", clause.place)
        if having:
            pattern = a.Filter(reduce(a.And, having), pattern)
        if values is not None:
            pattern = join(pattern, self.patterns.values(values))
        pattern = self._extend(pattern, items)
        variables = tuple(v for v, _, _ in items)
        self._warn_of_unbound(pattern, items)
        if order:
            pattern = a.OrderBy(pattern, tuple(a.OrderCondition(e, d) for e, d in order))
        pattern = a.Project(pattern, variables)
        if clause.distinct:
            pattern = a.Distinct(pattern)
        elif clause.reduced:
            pattern = a.Reduced(pattern)
        return slice_pattern(pattern, modifier)

    # Select items -------------------------------------------------------------------------------------------------

    def _items(
        self, clause: s.SelectClause, pattern: a.Pattern
    ) -> list[tuple[Variable, a.Expression | None, Place | None]]:
        if clause.items is None:
            return [(v, None, None) for v in in_scope(pattern)]
        items: list[tuple[Variable, a.Expression | None, Place | None]] = []
        seen: set[Variable] = set()
        for item in clause.items:
            expression = None if item.expression is None else self.patterns.aggregating(item.expression)
            if expression is not None and item.variable in seen:
                raise self._context.error(f"?{item.variable.value} is selected twice.", item.place)
            if not item.parenthesised and expression is not None:
                text = self._context.printer.expression(expression)
                self._context.warn(
                    "an expression in SELECT stands in parentheses.",
                    item.place,
                    f"({text} AS ?{item.variable.value})",
                )
            if item.variable not in seen:
                items.append((item.variable, expression, item.place))
            seen.add(item.variable)
        return items

    def _extend(self, pattern: a.Pattern, items: list[tuple[Variable, a.Expression | None, Place | None]]) -> a.Pattern:
        for variable, expression, place in items:
            if expression is None:
                continue
            if variable in in_scope(pattern):
                raise self._context.error(
                    f"?{variable.value} is already bound in the pattern; select the expression under another name.",
                    place,
                )
            pattern = a.Extend(pattern, variable, expression)
        return pattern

    def _warn_of_unbound(
        self, pattern: a.Pattern, items: list[tuple[Variable, a.Expression | None, Place | None]]
    ) -> None:
        bound = set(in_scope(pattern))
        for variable, _, place in items:
            if variable not in bound:
                self._context.warn(f"?{variable.value} is selected but nothing binds it.", place)

    # Grouping -----------------------------------------------------------------------------------------------------

    def _group(
        self,
        pattern: a.Pattern,
        clause: s.SelectClause,
        modifier: s.SolutionModifier,
        items: list[tuple[Variable, a.Expression | None, Place | None]],
        having: list[a.Expression],
        order: list[tuple[a.Expression, bool]],
    ) -> tuple[
        a.Pattern,
        list[tuple[Variable, a.Expression | None, Place | None]],
        list[a.Expression],
        list[tuple[a.Expression, bool]],
    ]:
        if clause.items is None:
            raise self._context.error("SELECT * cannot be used with GROUP BY; name the variables.", clause.place)
        grouping = _Grouping(self._context)
        bound = set(in_scope(pattern))
        aliases = {v: e for v, e, _ in items if e is not None}
        for condition in modifier.group_by:
            self._key(grouping, condition, bound, aliases)
        # An alias that became a key is selected as that key.
        items = [(v, None if aliases.get(v) is not None and v in grouping.key_variables else e, p) for v, e, p in items]
        having = [self._without_aliases(h, aliases, grouping, bound) for h in having]
        given: set[Variable] = set()
        for variable, expression, place in items:
            loose = {variable} if expression is None else outside_aggregates(grouping.extract(expression))
            loose -= grouping.key_variables | given | set(grouping.aggregates.values())
            if loose:
                name = min(v.value for v in loose)
                raise self._context.error(
                    f"?{name} is neither in GROUP BY nor inside an aggregate.",
                    place or clause.place,
                    f"add ?{name} to GROUP BY",
                )
            given.add(variable)
        items = [(v, None if e is None else grouping.extract(e), p) for v, e, p in items]
        having = [grouping.extract(h) for h in having]
        order = [(grouping.extract(e), d) for e, d in order]
        group = a.Group(pattern, tuple(grouping.keys), tuple((v, g) for g, v in grouping.aggregates.items()))
        return group, items, having, order

    def _key(
        self,
        grouping: _Grouping,
        condition: s.GroupCondition,
        bound: set[Variable],
        aliases: dict[Variable, a.Expression],
    ) -> None:
        expression = self.patterns.expression(condition.expression)
        variable = condition.variable
        if variable is not None:
            if variable in bound:
                raise self._context.error(
                    f"GROUP BY assigns ?{variable.value}, which the pattern already binds.", condition.place
                )
        elif not isinstance(expression, Variable):
            variable = self._context.fresh_variable("key")
        else:
            variable = expression
            meant = aliases.get(variable)
            if meant is not None and variable not in bound and not any(True for _ in aggregates_in(meant)):
                expression = meant
                text = self._context.printer.expression(meant)
                self._context.warn(
                    f"GROUP BY cannot use ?{variable.value}, which SELECT defines only after grouping.",
                    condition.place,
                    f"GROUP BY ({text} AS ?{variable.value}) and SELECT ?{variable.value}",
                )
        if variable not in grouping.key_variables:
            grouping.keys.append((variable, expression))

    def _without_aliases(
        self,
        expression: a.Expression,
        aliases: dict[Variable, a.Expression],
        grouping: _Grouping,
        bound: set[Variable],
    ) -> a.Expression:
        replaced = {
            v: e
            for v, e in aliases.items()
            if v not in grouping.key_variables and v not in bound and v in mentioned(expression)
        }
        if not replaced:
            return expression

        def change(part: a.Expression) -> a.Expression | None:
            return replaced.get(part) if isinstance(part, Variable) else None

        legal = rewrite(expression, change)
        names = ", ".join(f"?{v.value}" for v in replaced)
        self._context.warn(
            f"HAVING cannot use {names}, which SELECT defines only after it.",
            None,
            f"HAVING ({self._context.printer.expression(legal)})",
        )
        return legal


def slice_pattern(pattern: a.Pattern, modifier: s.SolutionModifier) -> a.Pattern:
    if modifier.limit is None and not modifier.offset:
        return pattern
    return a.Slice(pattern, modifier.offset or 0, modifier.limit)
