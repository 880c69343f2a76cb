"""A syntax tree to a query in algebra: query forms, dataset clauses, output operators."""

from __future__ import annotations

from pyoxigraph import Literal, NamedNode, Variable

from millstream.errors import Place
from millstream.language import algebra as a
from millstream.language.scope import in_scope
from millstream.language.syntax import tree as s
from millstream.language.translation.context import Context
from millstream.language.translation.iris import Names
from millstream.language.translation.selection import SelectionTranslator
from millstream.windows.kinds import StreamWindow

_START = Place(0, 0, 1, 1)


def translate(unit: s.QueryUnit, text: str, base: str | None = None) -> a.Query:
    """The query that a syntax tree means; `text` is what its places point into."""
    names = Names(text, base)
    names.declare(unit.prologue)
    if unit.register is not None:
        names.declare(unit.register.prologue)
    return _Translation(unit, Context(text, names)).query()


class _Translation:
    def __init__(self, unit: s.QueryUnit, context: Context) -> None:
        self._unit = unit
        self._context = context
        self._selection = SelectionTranslator(context)
        self._patterns = self._selection.patterns
        self._default_windows: dict[StreamWindow, None] = {}

    def query(self) -> a.Query:
        self._declare_windows()
        query = self._unit.query
        template: tuple[a.TriplePattern, ...] = ()
        resources: tuple[NamedNode | Variable, ...] = ()
        place: Place | None = None
        match query:
            case s.SelectQuery():
                form, pattern = a.Form.SELECT, self._selection.select(query, self._unit.values)
                variables = in_scope(pattern)
            case s.ConstructQuery():
                form, pattern = a.Form.CONSTRUCT, self._modified(query)
                template = self._template(query.template)
                variables = in_scope(pattern)
            case s.AskQuery():
                form, pattern, variables = a.Form.ASK, self._modified(query), ()
            case s.DescribeQuery():
                form, place = a.Form.DESCRIBE, query.place
                pattern = self._modified(query)
                variables = in_scope(pattern)
                asked = variables if query.resources is None else query.resources
                resources = tuple(self._patterns.var_or_iri(resource) for resource in asked)
        dataset = self._dataset()
        self._warn_of_unused_windows()
        return a.Query(
            form,
            pattern,
            variables,
            self._output(),
            template,
            resources,
            dataset,
            default_windows=tuple(self._default_windows),
            windows=tuple(self._context.used_windows),
            name=self._name(),
            base=self._context.names.base,
            prefixes=tuple(self._context.names.prefixes.items()),
            warnings=tuple(self._context.warnings),
            text=self._context.text,
            place=place,
        )

    def _modified(self, query: s.ConstructQuery | s.AskQuery | s.DescribeQuery) -> a.Pattern:
        place = query.where.place if query.where is not None else _START
        return self._selection.modified(query.where, query.modifier, self._unit.values, place)

    def _template(self, block: s.TriplesBlock) -> tuple[a.TriplePattern, ...]:
        triples = []
        for triple in block.triples:
            subject, object_ = self._template_term(triple.subject), self._template_term(triple.object)
            if isinstance(subject, Literal):
                raise self._context.error(
                    f"{self._context.printer.term(subject)} cannot be the subject of a constructed triple, "
                    "as it is a literal.",
                    block.place,
                )
            if not isinstance(triple.predicate, Variable | s.IRIReference | s.PrefixedName):
                raise self._context.error("a CONSTRUCT template cannot have property paths.", block.place)
            predicate = self._patterns.var_or_iri(triple.predicate)
            triples.append(a.TriplePattern(subject, predicate, object_))
        return tuple(triples)

    def _template_term(self, term: s.Term) -> a.PatternTerm:
        # Labels of the template and of the pattern have nothing to do with each other.
        if isinstance(term, s.BlankNodeLabel):
            return self._context.blank_node(term.label, "t_")
        return self._patterns.term(term)

    # Datasets and windows -------------------------------------------------------------------------------------------

    def _declare_windows(self) -> None:
        for clause in self._unit.query.dataset:
            if not isinstance(clause, s.FromStream):
                continue
            if clause.name is None:
                window = self._context.window(clause.stream, clause.window)
                self._default_windows.setdefault(self._context.use(window))
                continue
            name = self._context.names.resolve(clause.name).value
            if name in self._context.named_windows:
                raise self._context.error(f"window <{name}> is declared twice.", clause.place)
            self._context.named_windows[name] = self._context.window(clause.stream, clause.window, name)

    def _warn_of_unused_windows(self) -> None:
        for name, window in self._context.named_windows.items():
            if window not in self._context.used_windows:
                self._context.warn(f"window <{name}> is declared but no WINDOW block uses it.", None)

    def _dataset(self) -> a.Dataset:
        clauses = [c for c in self._unit.query.dataset if isinstance(c, s.FromClause)]
        if not clauses:
            return a.Dataset()
        resolve = self._context.names.resolve
        default = tuple(dict.fromkeys(resolve(c.graph) for c in clauses if not c.named))
        named = tuple(dict.fromkeys(resolve(c.graph) for c in clauses if c.named))
        if not default and (self._context.used_windows or self._context.named_windows):
            return a.Dataset(None, named)
        return a.Dataset(default, named)

    # Output ---------------------------------------------------------------------------------------------------------

    def _output(self) -> a.Output:
        query, register = self._unit.query, self._unit.register
        named: dict[str, Place | None] = {}
        if register is not None:
            if register.computed_every is not None:
                raise self._context.unsupported(
                    "COMPUTED EVERY", register.computed_every, "Give each window a STEP: [RANGE 10m STEP 5m]."
                )
            if register.what not in ("QUERY", "STREAM"):
                named[register.what] = register.place
        match query:
            case s.SelectQuery(select):
                word, place = select.output, select.output_place
            case s.ConstructQuery() | s.AskQuery():
                word, place = query.output, query.output_place
            case _:
                word, place = None, None
        if word is not None:
            named[word] = place
        if len(named) > 1:
            words = " and ".join(named)
            raise self._context.error(f"the query asks for {words}; one output operator is enough.", place)
        if named:
            return a.Output[next(iter(named))]
        if any(isinstance(c, s.FromStream) for c in query.dataset):
            return a.Output.RSTREAM
        return a.Output.ISTREAM if self._context.used_windows else a.Output.CHANGES

    def _name(self) -> str | None:
        register = self._unit.register
        if register is None:
            return None
        if not isinstance(register.name, str):
            return self._context.names.resolve(register.name).value
        if register.what == "QUERY":
            return register.name
        return self._context.names.resolve(s.IRIReference(register.name, register.place)).value
