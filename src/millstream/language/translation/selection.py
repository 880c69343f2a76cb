"""SELECT clauses and solution modifiers to algebra: sections 18.2.4 and 18.2.5 of the recommendation.

Aliases of SELECT that papers use in GROUP BY and HAVING are put back to what they stand for, with a warning.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import reduce
from typing import TypeAlias

from pyoxigraph import Variable

from millstream.errors import Place
from millstream.language import algebra as a
from millstream.language.scope import aggregates_in, in_scope, mentioned, outside_aggregates, rewrite
from millstream.language.syntax import tree as s
from millstream.language.translation.context import Context
from millstream.language.translation.patterns import EMPTY, PatternTranslator, join

Item: TypeAlias = tuple[Variable, a.Expression | None, Place | None]
"""What SELECT asks for: a variable alone or with the expression that it names."""


@dataclass(slots=True)
class _Level:
    """What one query level says beside its pattern."""

    place: Place
    items: list[Item]
    having: list[a.Expression]
    having_place: Place | None
    order: list[tuple[a.Expression, bool]]

    @property
    def aggregates(self) -> bool:
        expressions = [*(e for _, e, _ in self.items if e is not None), *self.having, *(e for e, _ in self.order)]
        return any(_aggregates(e) for e in expressions)

    def aliases(self) -> dict[Variable, a.Expression]:
        """The expressions that SELECT names, each in terms of the pattern's own variables."""
        found: dict[Variable, a.Expression] = {}
        for variable, expression, _ in self.items:
            if expression is not None:
                found[variable] = _replaced(expression, found)
        return found


@dataclass(slots=True)
class _Grouping:
    """Keys and aggregates collected from everywhere in a query level; equal aggregates are computed once."""

    context: Context
    bound: frozenset[Variable]
    aliases: dict[Variable, a.Expression]
    keys: dict[Variable, a.Expression] = field(default_factory=dict)
    aggregates: dict[a.Aggregate, Variable] = field(default_factory=dict)

    def extract(self, expression: a.Expression) -> a.Expression:
        """The expression with its aggregates replaced by their variables."""

        def change(part: a.Expression) -> a.Expression | None:
            if isinstance(part, a.Aggregate):
                if part not in self.aggregates:
                    self.aggregates[part] = self.context.fresh_variable("agg")
                return self.aggregates[part]
            return None

        return rewrite(expression, change)

    def sampled(self, expression: a.Expression, place: Place | None) -> a.Expression:
        """Section 18.2.4.1: in HAVING and ORDER BY a variable that is not grouped by stands for any of its values."""
        loose = outside_aggregates(expression) & self.bound - self.keys.keys() - self.aliases.keys()
        if not loose:
            return expression
        samples = {v: a.Aggregate("SAMPLE", v) for v in loose}
        for variable in sorted(loose, key=lambda v: v.value):
            self.context.warn(
                f"?{variable.value} is neither in GROUP BY nor inside an aggregate; any one of its values is taken.",
                place,
                f"SAMPLE(?{variable.value})",
            )

        def change(part: a.Expression) -> a.Expression | None:
            if isinstance(part, a.Aggregate):
                return part
            return samples.get(part) if isinstance(part, Variable) else None

        return rewrite(expression, change)


class SelectionTranslator:
    """Translates query levels: the outermost SELECT and every sub-select."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self.patterns = PatternTranslator(context, self.select)

    def select(self, query: s.SelectQuery, values: s.InlineData | None = None) -> a.Pattern:
        """The whole pattern of a SELECT; `values` is a VALUES clause that stands behind it."""
        pattern = self.patterns.group(query.where)
        clause, modifier = query.select, query.modifier
        values = values or query.values
        inline = EMPTY if values is None else self.patterns.values(values)
        level = self._level(clause.place, self._items(clause, join(pattern, inline)), modifier)
        if clause.items is None and (modifier.group_by or level.aggregates):
            raise self._context.error("SELECT * cannot be used with GROUP BY; name the variables.", clause.place)
        pattern = join(self._grouped(pattern, level, modifier), inline)
        pattern = self._extend(pattern, level.items)
        self._warn_of_unbound(pattern, level.items)
        pattern = a.Project(_ordered(pattern, level), tuple(v for v, _, _ in level.items))
        if clause.distinct:
            pattern = a.Distinct(pattern)
        elif clause.reduced:
            pattern = a.Reduced(pattern)
        return _sliced(pattern, modifier)

    def modified(
        self, where: s.GroupGraphPattern | None, modifier: s.SolutionModifier, values: s.InlineData | None, place: Place
    ) -> a.Pattern:
        """The pattern of a form without SELECT, under its solution modifiers; of a group, its keys can be seen."""
        pattern = EMPTY if where is None else self.patterns.group(where)
        inline = EMPTY if values is None else self.patterns.values(values)
        level = self._level(place, [], modifier)
        grouped = bool(modifier.group_by) or level.aggregates
        pattern = _ordered(join(self._grouped(pattern, level, modifier), inline), level)
        if grouped:
            keys = (c.variable or c.expression for c in modifier.group_by)
            named = (v for v in keys if isinstance(v, Variable))
            pattern = a.Project(pattern, tuple(dict.fromkeys((*named, *in_scope(inline)))))
        return _sliced(pattern, modifier)

    def _level(self, place: Place, items: list[Item], modifier: s.SolutionModifier) -> _Level:
        having = [self.patterns.aggregating(h) for h in modifier.having]
        order = [(self.patterns.aggregating(o.expression), o.descending) for o in modifier.order_by]
        return _Level(place, items, having, modifier.having_place, order)

    # Select items -------------------------------------------------------------------------------------------------

    def _items(self, clause: s.SelectClause, pattern: a.Pattern) -> list[Item]:
        if clause.items is None:
            return [(v, None, None) for v in in_scope(pattern)]
        items: list[Item] = []
        seen: set[Variable] = set()
        for item in clause.items:
            expression = None if item.expression is None else self.patterns.aggregating(item.expression)
            if expression is not None and item.variable in seen:
                raise self._context.error(f"?{item.variable.value} is selected twice.", item.place)
            if not item.parenthesised and expression is not None:
                text = self._context.printer.expression(expression)
                self._context.warn(
                    "an expression in SELECT stands in parentheses, together with its name.",
                    item.place,
                    f"({text} AS ?{item.variable.value})",
                )
            if item.variable not in seen:
                items.append((item.variable, expression, item.place))
            seen.add(item.variable)
        return items

    def _extend(self, pattern: a.Pattern, items: list[Item]) -> a.Pattern:
        bound = set(in_scope(pattern))
        for variable, expression, place in items:
            if expression is None:
                continue
            if variable in bound:
                raise self._context.error(
                    f"?{variable.value} is already bound in the pattern; select the expression under another name.",
                    place,
                )
            pattern = a.Extend(pattern, variable, expression)
            bound.add(variable)
        return pattern

    def _warn_of_unbound(self, pattern: a.Pattern, items: list[Item]) -> None:
        bound = set(in_scope(pattern))
        for variable, _, place in items:
            if variable not in bound:
                self._context.warn(f"?{variable.value} is selected but nothing binds it.", place)

    # Grouping -----------------------------------------------------------------------------------------------------

    def _grouped(self, pattern: a.Pattern, level: _Level, modifier: s.SolutionModifier) -> a.Pattern:
        """The pattern under GROUP BY and HAVING; the expressions of the level then read what the groups give."""
        grouping = _Grouping(self._context, frozenset(in_scope(pattern)), level.aliases())
        used = self._keys(grouping, modifier.group_by)
        # An alias that became a key is selected as that key.
        level.items = [(v, None if v in used else e, p) for v, e, p in level.items]
        level.having = [self._without_aliases(h, grouping, level.having_place) for h in level.having]
        if modifier.group_by or level.aggregates:
            self._check_items(grouping, level)
            level.items = [(v, None if e is None else grouping.extract(e), p) for v, e, p in level.items]
            sampled = [grouping.sampled(h, level.having_place) for h in level.having]
            level.having = [grouping.extract(h) for h in sampled]
            level.order = [(grouping.extract(grouping.sampled(e, None)), d) for e, d in level.order]
            aggregates = tuple((v, g) for g, v in grouping.aggregates.items())
            pattern = a.Group(pattern, tuple(grouping.keys.items()), aggregates)
        return a.Filter(reduce(a.And, level.having), pattern) if level.having else pattern

    def _keys(self, grouping: _Grouping, conditions: tuple[s.GroupCondition, ...]) -> set[Variable]:
        """Collects the keys; gives the aliases of SELECT that were used as keys."""
        used: set[Variable] = set()
        for condition in conditions:
            expression, variable = self.patterns.expression(condition.expression), condition.variable
            if variable is not None:
                if variable in grouping.bound or variable in grouping.keys:
                    raise self._context.error(
                        f"GROUP BY assigns ?{variable.value}, which already has a value.", condition.place
                    )
            elif not isinstance(expression, Variable):
                variable = self._context.fresh_variable("key")
            else:
                variable = expression
                if variable in grouping.aliases and variable not in grouping.bound and variable not in grouping.keys:
                    expression = self._meant_by(variable, grouping, condition.place)
                    used.add(variable)
            grouping.keys.setdefault(variable, expression)
        return used

    def _meant_by(self, alias: Variable, grouping: _Grouping, place: Place) -> a.Expression:
        meant = grouping.aliases[alias]
        if _aggregates(meant):
            raise self._context.error(
                f"GROUP BY cannot use ?{alias.value}, which is computed from the groups; use a sub-query.", place
            )
        text = self._context.printer.expression(meant)
        self._context.warn(
            f"GROUP BY cannot use ?{alias.value}, which SELECT defines only after grouping.",
            place,
            f"GROUP BY ({text} AS ?{alias.value}) and SELECT ?{alias.value}",
        )
        return meant

    def _check_items(self, grouping: _Grouping, level: _Level) -> None:
        given: set[Variable] = set()
        for variable, expression, place in level.items:
            loose = {variable} if expression is None else outside_aggregates(expression)
            loose = loose - grouping.keys.keys() - given
            if loose:
                name = min(v.value for v in loose)
                raise self._context.error(
                    f"?{name} is neither in GROUP BY nor inside an aggregate.",
                    place or level.place,
                    f"add ?{name} to GROUP BY",
                )
            given.add(variable)

    def _without_aliases(self, expression: a.Expression, grouping: _Grouping, place: Place | None) -> a.Expression:
        read = mentioned(expression) - grouping.keys.keys() - grouping.bound
        replaced = {v: e for v, e in grouping.aliases.items() if v in read}
        if not replaced:
            return expression
        legal = _replaced(expression, replaced)
        names = ", ".join(f"?{v.value}" for v in replaced)
        for aggregate in aggregates_in(legal):
            if aggregate.operand is not None and _aggregates(aggregate.operand):
                raise self._context.error(f"{aggregate.function} of {names}: an aggregate cannot contain another.", place)
        self._context.warn(
            f"HAVING cannot use {names}, which SELECT defines only after it.",
            place,
            f"HAVING ({self._context.printer.expression(legal)})",
        )
        return legal


def _aggregates(expression: a.Expression) -> bool:
    return any(True for _ in aggregates_in(expression))


def _replaced(expression: a.Expression, meanings: dict[Variable, a.Expression]) -> a.Expression:
    return rewrite(expression, lambda part: meanings.get(part) if isinstance(part, Variable) else None)


def _ordered(pattern: a.Pattern, level: _Level) -> a.Pattern:
    return a.OrderBy(pattern, tuple(a.OrderCondition(e, d) for e, d in level.order)) if level.order else pattern


def _sliced(pattern: a.Pattern, modifier: s.SolutionModifier) -> a.Pattern:
    if modifier.limit is None and not modifier.offset:
        return pattern
    return a.Slice(pattern, modifier.offset or 0, modifier.limit)
