"""A timeline: a query, what its datasets hold, what comes in which order, and the answers expected of it.

Invariant: events stay in the order they are given, which is the order they come in. Expectations have no place among them:
all are compared when the timeline is over.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from pyoxigraph import Literal, Triple

from millstream.engine import Engine
from millstream.errors import DataError, OptionError, QueryError, QuerySyntaxError, UnsupportedQueryError
from millstream.ingest.triples import coerce_triples
from millstream.kernels.emission.terms import term_of as term_of_text
from millstream.language.algebra import Form, Output, Query
from millstream.language.printer import Printer
from millstream.operators.expressions.values.python_values import literal_text
from millstream.plan.passes import plan_of, query_of
from millstream.testing.notation import Term, given_text, iri_of, is_file, term_of, time_ms, triples_of

if TYPE_CHECKING:
    from millstream.testing.comparison import Outcome


@dataclass(frozen=True, slots=True)
class Event:
    """Something that comes: `push`, `insert`, `delete`, or `advance`, which has no triples."""

    call: str
    at_ms: int
    target: str | None
    """A stream, or a graph; None is the default graph."""
    triples: tuple[Triple, ...] = ()
    text: str = ""
    """The triples as they were written, if they were; for drawing."""


class Expected(NamedTuple):
    """An answer that is to come so many times; a negative weight takes it back."""

    at_ms: int
    weight: int
    bindings: Mapping[str, Term]


class Silence(NamedTuple):
    """No answer is to come after one time, until another and at it; None is without an end."""

    after_ms: int | None
    until_ms: int | None


class Timeline:
    """What comes and what is expected, told in the order it comes; `check` then runs it. Calls give the timeline itself."""

    def __init__(
        self,
        *queries: str | os.PathLike[str],
        prefixes: Mapping[str, str] | None = None,
        lateness: str | int = 0,
        t0: str | int = 0,
        output: str | None = None,
        name: str = "timeline",
    ) -> None:
        """Queries are texts or files, registered in that order; answers are expected of the last.

        `prefixes` are known to the queries as well, and theirs to everything that follows.
        """
        self.name = name
        self.prefixes = dict(prefixes or {})
        self.lateness_ms, self.t0_ms = time_ms(lateness), time_ms(t0)
        if self.lateness_ms < 0:
            raise OptionError(f"lateness {lateness}: it cannot be below 0")
        self.output = None if output is None else checked_output(output)
        self.queries: list[str] = []
        self.query: Query | None = None
        self.datasets: list[tuple[str | None, object]] = []
        """For each, its graph and a path or the triples."""
        self.events: list[Event] = []
        self.expected: list[Expected] = []
        self.silences: list[Silence] = []
        self.late = 0
        """How many elements and changes are expected to be late."""
        self.is_finished = False
        for query in queries:
            self.add_query(given_text(query)[0])

    def add_query(self, text: str) -> None:
        """One more query, from now on the one that is looked at."""
        head = "".join(f"PREFIX {name}: <{iri}> " for name, iri in self.prefixes.items())
        whole = f"{head}\n{text}" if head else text
        try:
            self.query = query_of(whole)
            # What is not run is told here, with its place.
            plan_of(self.query)
        except QueryError as error:
            raise (_placed(error, len(head) + 1, text) if head else error) from None
        self.queries.append(whole)
        self.prefixes = {**dict(self.query.prefixes), **self.prefixes}

    @property
    def checked(self) -> Query:
        """The query whose answers are expected."""
        if self.query is None:
            raise OptionError("a timeline has a query: Timeline(text)")
        return self.query

    @property
    def printer(self) -> Printer:
        """What prints terms as the timeline would write them."""
        return Printer(self.prefixes)

    # What comes -------------------------------------------------------------------------------------------------------

    def dataset(self, source: str | os.PathLike[str] | object, graph: str | None = None) -> Timeline:
        """What a graph holds before anything comes: a file, Turtle text, or triples."""
        name = None if graph is None else iri_of(graph, self.prefixes)
        if is_file(source):
            self.datasets.append((name, str(source)))
        else:
            self.datasets.append((name, self._triples(source)))
        return self

    def push(self, at: str | int, stream: str, triples: object = ()) -> Timeline:
        """One stream element."""
        return self._add("push", at, iri_of(stream, self.prefixes), triples)

    def insert(self, at: str | int, triples: object, graph: str | None = None) -> Timeline:
        """Triples enter a graph."""
        return self._add("insert", at, None if graph is None else iri_of(graph, self.prefixes), triples)

    def delete(self, at: str | int, triples: object, graph: str | None = None) -> Timeline:
        """Triples leave a graph."""
        return self._add("delete", at, None if graph is None else iri_of(graph, self.prefixes), triples)

    def advance(self, at: str | int) -> Timeline:
        """Time passes without an element: what comes for it from now on is late."""
        return self._add("advance", at, None, ())

    def finish(self) -> Timeline:
        """Input ends: what is held back is processed, and the last windows close."""
        self.is_finished = True
        return self

    def _add(self, call: str, at: str | int, target: str | None, triples: object) -> Timeline:
        if self.is_finished:
            raise DataError("input has ended: `finish` stands behind everything that comes")
        text = re.sub(r"\s#.*", "", triples) if isinstance(triples, str) else ""
        self.events.append(Event(call, time_ms(at), target, self._triples(triples), " ".join(text.split())))
        return self

    def _triples(self, triples: object) -> tuple[Triple, ...]:
        return triples_of(triples, self.prefixes) if isinstance(triples, str) else coerce_triples(triples)

    # What is expected -------------------------------------------------------------------------------------------------

    def expect(self, at: str | int, weight: int = 1, answer: object = None, /, **bindings: object) -> Timeline:
        """An answer at a time, so many times; negative, it is taken back.

        Bindings are by variable: Turtle text of one term, a term, or a Python value. A CONSTRUCT has Turtle text of its
        triples as `answer`, an ASK a bool. What is not named is unbound.
        """
        if weight == 0:
            raise DataError("an answer comes at least once: write +1, or -1 where it is taken back")
        at_ms = time_ms(at)
        for rows in self._rows(answer, bindings):
            self.check_variables(rows)
            self.expected.append(Expected(at_ms, weight, rows))
        for silence in self.silences:
            if (silence.after_ms is None or at_ms > silence.after_ms) and (
                silence.until_ms is None or at_ms <= silence.until_ms
            ):
                raise DataError("an answer is expected where nothing is: say first what is expected, then what is not")
        return self

    def _rows(self, answer: object, bindings: Mapping[str, object]) -> list[dict[str, Term]]:
        match self.checked.form:
            case Form.CONSTRUCT if answer is not None and not bindings:
                names = ("subject", "predicate", "object")
                return [dict(zip(names, triple, strict=True)) for triple in self._triples(answer)]
            case Form.ASK if isinstance(answer, bool) and not bindings:
                return [{"boolean": Literal(answer)}]
            case Form.SELECT if answer is None:
                return [{name: self.term(value) for name, value in bindings.items()}]
        how = {Form.CONSTRUCT: "triples, as in :a :b :c .", Form.ASK: "true or false"}
        raise DataError(f"the query is {self.checked.form.name}: an answer is {how.get(self.checked.form, '?name=value')}")

    def term(self, value: Any) -> Term:
        """The term that Turtle text, a Python value or a term means."""
        if isinstance(value, str):
            return term_of(value, self.prefixes)
        text = literal_text(value)
        return value if text is None else term_of_text(text)

    def check_variables(self, names: Iterable[str]) -> None:
        """Complains about names that are no variables of the query."""
        known = [variable.value for variable in self.checked.columns]
        for name in names:
            if name not in known:
                raise DataError(f"?{name}: the query has no such variable; it has {', '.join(f'?{v}' for v in known)}")

    def expect_nothing(self, until: str | int | None = None) -> Timeline:
        """No other answer than those expected so far: until a time and at it, or at all."""
        last = max((expected.at_ms for expected in self.expected), default=None)
        until_ms = None if until is None else time_ms(until)
        if last is not None and until_ms is not None and until_ms <= last:
            raise DataError("answers are expected until then already: say what is expected in the order of time")
        self.silences.append(Silence(last, until_ms))
        return self

    def expect_late(self, count: int) -> Timeline:
        """So many elements and changes come too late, and are set aside."""
        self.late = count
        return self

    # Running it -------------------------------------------------------------------------------------------------------

    @property
    def end_ms(self) -> int | None:
        """The last time that is named anywhere, which time passes to where input does not end."""
        named = [event.at_ms for event in self.events] + [expected.at_ms for expected in self.expected]
        named += [silence.until_ms for silence in self.silences if silence.until_ms is not None]
        return max(named, default=None)

    def run(self, engine: str = "embedded") -> Outcome:
        """What came of it, beside what was expected."""
        from millstream.testing.running import run

        return run(self, engine)

    def check(self, engine: str = "embedded") -> None:
        """Raises AssertionError, with the timeline drawn, unless exactly the expected answers come."""
        outcome = self.run(engine)
        if not outcome.passed:
            raise AssertionError(f"\n{outcome}")


def _placed(error: QueryError, before: int, text: str) -> QueryError:
    """The same error, placed in the text without the line of so many characters in front of it."""
    at = error.place
    place = None if at is None else replace(at, start=at.start - before, end=at.end - before, line=at.line - 1)
    match error:
        case QuerySyntaxError():
            return QuerySyntaxError(
                error.message, text=text, place=place, expected=error.expected, suggestion=error.suggestion
            )
        case UnsupportedQueryError():
            return UnsupportedQueryError(error.what, instead=error.instead, text=text, place=place)
    return QueryError(error.message, text=text, place=place)


def checked_output(name: str) -> str:
    """What a query emits, by its name."""
    known = [output.value for output in Output]
    if name.lower() not in known:
        raise OptionError(f"output {name}: it is one of {', '.join(known)}")
    return name.lower()


def new_engine(timeline: Timeline) -> Engine:
    """An engine as a timeline asks for, its datasets loaded."""
    engine = Engine(lateness_ms=timeline.lateness_ms, t0_ms=timeline.t0_ms)
    for graph, source in timeline.datasets:
        if isinstance(source, str):
            engine.load(source, graph)
        else:
            engine.insert(source, graph=graph)
    return engine
