"""The reference evaluator: what every query must emit, by recomputing every answer set at every change.

It is the executable form of the semantics: slow, obvious, and without any idea of its own about SPARQL, which
pyoxigraph evaluates over the contents of windows and datasets. Production code cannot import it.

A tick is (milliseconds, phase): 0 for the expiries of that millisecond, 1 for its elements and dataset changes, 2 for what
enters and leaves on grids. `Reference` takes the same calls as `millstream.Engine`; each registered query collects its
changes, one `Change` for every answer set that emitted something.

Where pyoxigraph departs from the recommendation, the recommendation wins; tests must not rely on it there:
- its store keeps numbers, dates and booleans by value: "01"^^xsd:integer comes back as "1", and both are one term to it;
- it finds an IRI <= and >= itself, where the recommendation has no order for IRIs;
- it does arithmetic on decimals with 18 digits after the point;
- it gives what does not depend on triples (VALUES, an aggregate without keys) in a named graph that does not exist;
- an aggregate without keys inside of GRAPH ?g is one for all graphs to it, without the graph's name;
- to it ?s :p|:p ?o is ?s :p ?o, where the recommendation has each solution twice;
- it gives no COUNT of an expression that is an error somewhere, where the recommendation counts the others;
- it refuses `!()` as a path, and `GROUP BY (?x AS ?y)`;
- it may apply FILTER EXISTS after a join with another group, whose values then take the place of variables inside;
- it has the name of the graph in both sides of a MINUS inside of GRAPH ?g, which then share a variable;
- it forgets inside of GRAPH ?g and a sub-query which graph it is in;
- it has the blank nodes of patterns in solutions, so that COUNT(DISTINCT *) counts more of them;
- it joins no value that BIND gives inside of GRAPH ?g for ?g itself;
- it has no path of length zero from or to a term that is not in the graph (section 18.4: `:a :p* ?x` always has :a);
- it gives `:a :p+ :b` inside of GRAPH ?g once for each last step of such a path, where the recommendation has it once;
- it orders literals that no operator compares ("" and 1, "n" and true) by their texts, which section 15.1 leaves open.
"""

from __future__ import annotations

import hashlib
import heapq
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cmp_to_key, partial
from typing import Any, TypeAlias

import pyoxigraph as ox
from pyoxigraph import BlankNode, DefaultGraph, Literal, NamedNode, Quad, Store, Triple, Variable

from millstream.ingest.triples import coerce_triples
from millstream.language import algebra as a
from millstream.language.translation.iris import DEFAULT_BASE, resolve
from millstream.windows.kinds import Elements, Event, Landmark, Now, Range, Session, Slide, Step, StreamWindow, Triples
from tests.plain_sparql import NOW, OwnAggregate, plain

Tick: TypeAlias = tuple[int, int]
Row: TypeAlias = tuple[Any, ...]
"""A solution in the order of the query's variables (None: unbound), a triple alone, or a boolean alone."""
GraphName: TypeAlias = NamedNode | None

EXPIRY, ELEMENT, GRID = 0, 1, 2
FOREVER: Tick = (1 << 62, 0)
BEGINNING: Tick = (-(1 << 62), 0)
TRUE = Literal(True)
_PATCH = re.compile(r"(?P<word>[AD]) (?P<triple>.*)")
_UPDATE = re.compile(r"(?P<word>INSERT|DELETE) DATA \{ (?P<triple>.*) \} ;")


@dataclass(frozen=True)
class Change:
    """What one change made a query emit: rows with weights, at a time."""

    at_ms: int
    rows: Counter[Row]


@dataclass(frozen=True)
class Arrival:
    """A triple as one window sees it. Count windows go by the numbers, which count from registration."""

    triple: Triple
    seen_from: Tick
    until: Tick
    element_number: int
    triple_number: int


@dataclass
class WindowContent:
    """One window of one query: everything that arrived and may still be or become visible."""

    window: StreamWindow
    t0_ms: int
    arrivals: list[Arrival] = field(default_factory=list)
    elements: int = 0
    triples: int = 0
    event_open: bool = False
    last_end: Tick = BEGINNING
    """The latest finite end of anything that was, is or will be visible, without what `finish` does not wait for."""

    def grid(self, at_ms: int, length_ms: int) -> int:
        """The first grid instant at or after a time."""
        return self.t0_ms + -(-(at_ms - self.t0_ms) // length_ms) * length_ms

    def arrive(self, triples: tuple[Triple, ...], at_ms: int, *, awaited: bool = True) -> None:
        self.elements += 1
        self.event_open = True
        prolonged = False
        if isinstance(self.window.window, Session):
            # Every element puts off the end of what is still seen.
            still = [x for x in self.arrivals if self.visible(x, (at_ms, ELEMENT))]
            self.arrivals = [replace(x, until=self.end_of(at_ms)) for x in still]
            prolonged = bool(still)
        if awaited and (triples or prolonged):
            self.last_end = max(self.last_end, self.end_of(at_ms))
        for triple in triples:
            self.triples += 1
            seen_from, until = self.interval(at_ms)
            self.arrivals.append(Arrival(triple, seen_from, until, self.elements, self.triples))

    def interval(self, at_ms: int) -> tuple[Tick, Tick]:
        """The table of windows: seen from, until (exclusive)."""
        match self.window.window:
            case Range(range_ms):
                return (at_ms, ELEMENT), (at_ms + range_ms, EXPIRY)
            case Slide(range_ms, slide_ms):
                return (at_ms, ELEMENT), (self.grid(at_ms, slide_ms) + range_ms, EXPIRY)
            case Step(range_ms, step_ms):
                return (self.grid(at_ms, step_ms), GRID), (self.grid(at_ms + range_ms, step_ms), GRID)
            case Landmark(length_ms):
                return (at_ms, ELEMENT), (self.grid(at_ms + 1, length_ms), EXPIRY)
            case Now():
                return (at_ms, ELEMENT), (at_ms + 1, EXPIRY)
            case Session(gap_ms):
                return (at_ms, ELEMENT), (at_ms + gap_ms, EXPIRY)
            case _:
                return (at_ms, ELEMENT), FOREVER

    def end_of(self, at_ms: int) -> Tick:
        """When what arrives at a time ends, if it is ever seen and time ends it."""
        seen_from, until = self.interval(at_ms)
        return until if seen_from < until < FOREVER else BEGINNING

    def visible(self, arrival: Arrival, tick: Tick) -> bool:
        match self.window.window:
            case Triples(count):
                return self.triples - arrival.triple_number < count
            case Elements(count):
                return self.elements - arrival.element_number < count
            case Event():
                return self.event_open and arrival.element_number == self.elements
            case _:
                return arrival.seen_from <= tick < arrival.until

    def content(self, tick: Tick) -> set[Triple]:
        return {arrival.triple for arrival in self.arrivals if self.visible(arrival, tick)}

    def ticks_after(self, tick: Tick) -> list[Tick]:
        """When the content may change by itself."""
        return [t for arrival in self.arrivals for t in (arrival.seen_from, arrival.until) if tick < t < FOREVER]


class ReferenceQuery:
    """One registered query and all it emitted."""

    def __init__(self, engine: Reference, text: str, output: str | None) -> None:
        self.engine = engine
        self.plain = plain(text)
        self.query = self.plain.query
        self.output = a.Output(output) if output else self.query.output
        self.windows = {w: WindowContent(w, engine.t0_ms) for w in self.query.windows}
        self.changes: list[Change] = []
        self.answers: Counter[Row] = Counter()
        self.first_element_ms: int | None = None
        self.last_instant: Tick = (-(1 << 62), GRID)
        self.passed: Tick = self.last_instant
        self.now = _datetime(engine.clock_ms)
        self.reads_default, self.reads_named = graphs_read(self.query)

    @property
    def closes_windows(self) -> bool:
        return self.query.closes_windows

    @property
    def streams(self) -> set[str]:
        """The streams it reads."""
        return {w.stream.value for w in self.windows}

    @property
    def last_end(self) -> Tick:
        """The latest finite end of anything it sees or will see."""
        return max((w.last_end for w in self.windows.values()), default=BEGINNING)

    @property
    def feeds(self) -> str | None:
        """The stream that its answers form."""
        if self.query.form is not a.Form.CONSTRUCT or self.output not in (a.Output.ISTREAM, a.Output.RSTREAM):
            return None
        return self.query.name

    def reads(self, graph: GraphName) -> bool:
        dataset = self.query.dataset
        if graph is None:
            return self.reads_default and dataset.default is None
        if self.reads_default and dataset.default is not None and graph in dataset.default:
            return True
        if dataset.named is not None and graph not in dataset.named:
            return False
        return self.reads_named is None or graph in self.reads_named

    # Instants of grids ------------------------------------------------------------------------------------------------

    def next_instant(self, after: Tick) -> Tick | None:
        """The next instant at which windows close, for a query that answers then."""
        if not self.closes_windows or self.first_element_ms is None:
            return None
        since = max(self.first_element_ms, after[0] if after < (after[0], GRID) else after[0] + 1)
        return min((w.grid(since, _step_ms(w.window)), GRID) for w in self.windows.values())

    # Answers ----------------------------------------------------------------------------------------------------------

    def report(self, tick: Tick) -> None:
        """Recomputes the answer set after a change and emits what the output operator asks for."""
        before, self.answers = self.answers, self.evaluate(tick)
        appeared, disappeared = self.answers - before, before - self.answers
        emitted: Counter[Row] = Counter()
        match self.output:
            case a.Output.ISTREAM:
                emitted = appeared
            case a.Output.DSTREAM:
                emitted = disappeared
            case a.Output.RSTREAM:
                emitted = Counter(self.answers)
            case a.Output.CHANGES:
                emitted = Counter(appeared)
                for row, count in disappeared.items():
                    emitted[row] = -count
        if emitted:
            self.changes.append(Change(tick[0], emitted))
            if self.feeds is not None:
                triples = tuple(sorted((row[0] for row in emitted), key=str))
                self.engine.feed(self, triples, tick[0])

    def evaluate(self, tick: Tick) -> Counter[Row]:
        store = Store()
        for name in self.plain.window_graphs.values():
            # An empty window is an empty graph, not one that does not exist.
            store.add_graph(name)
        for graph, triples in self.contents(tick):
            store.extend(Quad(t.subject, t.predicate, t.object, graph) for t in triples)
        return self.evaluate_in(store)

    def evaluate_in(self, store: Store) -> Counter[Row]:
        """The answers over what a store has of the graphs and windows."""
        found: Any = store.query(
            self.plain.text,
            base_iri=DEFAULT_BASE,
            custom_functions={NOW: lambda: self.now},
            custom_aggregate_functions={n: partial(Accumulator, own) for n, own in self.plain.aggregates.items()},
        )
        match self.query.form:
            case a.Form.ASK:
                return Counter([(bool(found),)])
            case a.Form.CONSTRUCT:
                return Counter(dict.fromkeys(((t,) for solution in found for t in self.instantiate(solution)), 1))
            case _:
                return Counter(tuple(solution[v.value] for v in self.query.variables) for solution in found)

    def contents(self, tick: Tick) -> Iterable[tuple[NamedNode | DefaultGraph, Iterable[Triple]]]:
        """The graphs the plain query sees: its dataset, windows merged into the default graph, windows of their own."""
        graphs, dataset = self.engine.graphs, self.query.dataset
        default: list[GraphName] = [None] if dataset.default is None else list(dataset.default)
        for graph in default:
            yield DefaultGraph(), graphs.get(graph, ())
        for window in self.query.default_windows:
            yield DefaultGraph(), self.windows[window].content(tick)
        for name, triples in graphs.items():
            if name is not None and (dataset.named is None or name in dataset.named):
                yield name, triples
        for window, graph_name in self.plain.window_graphs.items():
            yield graph_name, self.windows[window].content(tick)

    def instantiate(self, solution: Any) -> Iterable[Triple]:
        bindings = {v: solution[v.value] for v in self.query.variables}

        def term(t: a.PatternTerm) -> Any:
            match t:
                case Variable():
                    return bindings.get(t)
                case BlankNode():
                    return skolem(t.value, bindings)
                case _:
                    return t

        for pattern in self.query.template:
            s, p, o = term(pattern.subject), term(pattern.predicate), term(pattern.object)
            if isinstance(s, NamedNode | BlankNode) and isinstance(p, NamedNode) and o is not None:
                yield Triple(s, p, o)

    def forget(self, tick: Tick) -> None:
        """Drops what can never be seen again, so that long timelines stay affordable."""
        for content in self.windows.values():
            content.arrivals = [
                x for x in content.arrivals if content.visible(x, tick) or (x.seen_from > tick and x.seen_from < x.until)
            ]


class Reference:
    """The engine's calls, answered by recomputing."""

    def __init__(self, *, lateness_ms: int = 0, t0_ms: int = 0) -> None:
        self.lateness_ms = lateness_ms
        self.t0_ms = t0_ms
        self.graphs: dict[GraphName, set[Triple]] = {None: set()}
        self.queries: list[ReferenceQuery] = []
        self.late: list[Any] = []
        self._tick: Tick = (-(1 << 62), EXPIRY)
        self._reached: int | None = None
        self._max_seen: int | None = None
        self._passed: int | None = None
        self._held: list[tuple[int, int, Any]] = []
        self._number = 0
        self._fed: list[tuple[str, tuple[Triple, ...], int, bool]] = []
        self._of_input: dict[ReferenceQuery, int] | None = None
        """Once input has ended: until when queries see something that comes of it, not by way of their own answers."""
        self._input_over = 0
        """Until when anything comes of it."""

    @property
    def clock_ms(self) -> int:
        """The time that processing has reached; t0 if nothing came yet."""
        return self.t0_ms if self._reached is None else self._reached

    # Calls ------------------------------------------------------------------------------------------------------------

    def register(self, text: str, output: str | None = None) -> ReferenceQuery:
        query = ReferenceQuery(self, text, output)
        self.queries.append(query)
        if not query.windows:
            query.report((self.clock_ms, ELEMENT))
            self._process_fed()
        return query

    def push(self, stream: str, triples: Any, at_ms: int) -> None:
        self._offer(at_ms, ("element", resolve(DEFAULT_BASE, stream), coerce_triples(triples)))

    def insert(self, triples: Any, at_ms: int | None = None, graph: str | None = None) -> None:
        self._offer(at_ms, ("insert", _graph_name(graph), coerce_triples(triples)))

    def delete(self, triples: Any, at_ms: int | None = None, graph: str | None = None) -> None:
        self._offer(at_ms, ("delete", _graph_name(graph), coerce_triples(triples)))

    def load(self, source: Any, graph: str | None = None, *, format: str = "nt") -> None:
        """What a graph holds from now on: N-Triples, or triples."""
        assert format == "nt"
        self.insert(source.decode() if isinstance(source, bytes) else source, graph=graph)

    def read_changes(self, source: bytes, graph: str | None = None, *, format: str) -> None:
        """Changes that happen now: a triple a line, in either syntax, with the word for it in front."""
        for line in source.decode().splitlines():
            change = (_PATCH if format == "rdfpatch" else _UPDATE).fullmatch(line)
            assert change is not None
            call = self.insert if change["word"] in ("A", "INSERT") else self.delete
            call(change["triple"], graph=graph)

    def advance_to(self, at_ms: int) -> None:
        self._passed = at_ms if self._passed is None else max(self._passed, at_ms)
        self._run(at_ms)
        self._pass_time((at_ms, GRID + 1))
        self._reach(at_ms)

    def finish(self) -> None:
        """Everything held is processed, then time reaches the last end: what expires there does, no window closes there."""
        if self._held:
            self._run(max(at_ms for at_ms, _, _ in self._held))
        self._of_input = {q: q.last_end[0] for q in self.queries}
        self._input_over = max(self._of_input.values(), default=BEGINNING[0])
        while True:
            end = max((q.last_end for q in self.queries), default=BEGINNING)
            if end == BEGINNING or (end[0], ELEMENT) <= self._tick:
                break
            self._pass_time((end[0], ELEMENT))
            self._reach(end[0])
        self._of_input = None

    # Order of processing ----------------------------------------------------------------------------------------------

    def _offer(self, at_ms: int | None, operation: Any) -> None:
        if at_ms is None:
            # Whatever is held back: a change that happens now happens among the elements of this millisecond, or behind
            # its grids if these have passed.
            self._apply(max((self.clock_ms, ELEMENT), self._tick), operation)
            self._process_fed()
            return
        point = None if self._max_seen is None else self._max_seen - self.lateness_ms
        if (point is not None and at_ms < point) or (self._passed is not None and at_ms <= self._passed):
            self.late.append((at_ms, operation))
            return
        self._number += 1
        heapq.heappush(self._held, (at_ms, self._number, operation))
        self._max_seen = at_ms if self._max_seen is None else max(self._max_seen, at_ms)
        reached = self._max_seen - self.lateness_ms
        self._run(reached)
        # Time has reached that point, but more may come at it: its expiries are due, its grid instant is not.
        self._pass_time((reached, ELEMENT))
        self._reach(reached)

    def _reach(self, at_ms: int) -> None:
        self._reached = at_ms if self._reached is None else max(self._reached, at_ms)

    def _run(self, until_ms: int) -> None:
        while self._held and self._held[0][0] <= until_ms:
            at_ms, _, operation = heapq.heappop(self._held)
            self._pass_time((at_ms, ELEMENT))
            self._reach(at_ms)
            self._apply((at_ms, ELEMENT), operation)
            self._process_fed()

    def _apply(self, tick: Tick, operation: Any) -> None:
        match operation:
            case ("element", stream, triples):
                self._element(stream, triples, tick[0])
            case (kind, graph, triples):
                content = self.graphs.setdefault(graph, set())
                effective = set(triples) - content if kind == "insert" else set(triples) & content
                if kind == "insert":
                    content |= effective
                else:
                    content -= effective
                if effective:
                    for query in self.queries:
                        if query.reads(graph) and not query.closes_windows:
                            query.report(tick)

    def _element(self, stream: str, triples: tuple[Triple, ...], at_ms: int, awaited: bool = True) -> None:
        if self._tick == (at_ms, EXPIRY):
            self._tick = (at_ms, ELEMENT)
        for query in self.queries:
            windows = [w for w in query.windows.values() if w.window.stream.value == stream]
            if not windows:
                continue
            # An EVENT window is emptied as a change of its own before the next element.
            emptied = False
            for window in windows:
                if isinstance(window.window.window, Event) and window.event_open:
                    window.event_open = False
                    emptied = True
            if emptied and not query.closes_windows:
                query.report(max((at_ms, ELEMENT), query.passed))
        for query in self.queries:
            windows = [w for w in query.windows.values() if w.window.stream.value == stream]
            if not windows:
                continue
            # What is fed at an instant comes before or after the query's own change on the grids.
            tick = max((at_ms, ELEMENT), query.passed)
            if query.first_element_ms is None:
                query.first_element_ms = at_ms
            for window in windows:
                window.arrive(triples, at_ms, awaited=awaited)
            if not query.closes_windows:
                query.report(tick)
            query.forget(tick)

    def feed(self, query: ReferenceQuery, triples: tuple[Triple, ...], at_ms: int) -> None:
        """The emissions of a CONSTRUCT query become an element, processed next."""
        assert query.feeds is not None
        self._fed.append((query.feeds, triples, at_ms, self._is_awaited(query, at_ms)))

    def _is_awaited(self, query: ReferenceQuery, at_ms: int) -> bool:
        """Whether `finish` waits for the end of what a query constructs: until input is over, as long as that lasts."""
        if self._of_input is None:
            return True
        if at_ms <= self._of_input[query]:
            for reader in self.queries:
                ends = [w.end_of(at_ms)[0] for w in reader.windows.values() if w.window.stream.value == query.feeds]
                self._input_over = max([self._input_over, *ends])
                if query.feeds not in self._made_of(reader):
                    self._of_input[reader] = max([self._of_input[reader], *ends])
        return at_ms <= self._input_over

    def _made_of(self, query: ReferenceQuery) -> set[str]:
        """The streams into which answers of a query go, directly or through other queries."""
        streams = {query.feeds} - {None}
        while more := {q.feeds for q in self.queries if streams & q.streams} - streams - {None}:
            streams |= more
        return {stream for stream in streams if stream is not None}

    def _process_fed(self) -> None:
        while self._fed:
            stream, triples, at_ms, awaited = self._fed.pop(0)
            if self._reached is None and any(stream in query.streams for query in self.queries):
                # Somebody sees an element: time has come to it, and what is earlier is late.
                self._reach(at_ms)
                self._passed, self._tick = at_ms - 1, (at_ms, ELEMENT)
            self._element(stream, triples, at_ms, awaited)

    def _feeding_order(self) -> list[ReferenceQuery]:
        """The queries as registered, but each after those that feed the streams it reads."""
        ordered: list[ReferenceQuery] = []

        def visit(query: ReferenceQuery, path: tuple[ReferenceQuery, ...]) -> None:
            if query in ordered or query in path:
                return
            for other in self.queries:
                if other.feeds is not None and any(w.stream.value == other.feeds for w in query.windows):
                    visit(other, (*path, query))
            ordered.append(query)

        for query in self.queries:
            visit(query, ())
        return ordered

    def _pass_time(self, until: Tick) -> None:
        """All changes that time brings by itself before a tick, in order."""
        while True:
            ticks = [t for q in self.queries for w in q.windows.values() for t in w.ticks_after(self._tick)]
            ticks += [t for q in self.queries if (t := q.next_instant(max(q.last_instant, self._tick))) is not None]
            tick = min(ticks, default=FOREVER)
            if tick >= until:
                break
            self._tick = tick
            self._reach(tick[0])
            for query in self._feeding_order():
                query.passed = tick
                if query.closes_windows:
                    if query.next_instant(_just_before(tick)) == tick and tick > query.last_instant:
                        query.last_instant = tick
                        query.report(tick)
                elif any(w.content(tick) != w.content(_just_before(tick)) for w in query.windows.values()):
                    query.report(tick)
                query.forget(tick)
                if tick[1] == GRID:
                    # What is fed at an instant belongs to the same instant of those that read it.
                    self._process_fed()
            self._process_fed()
        self._tick = max(self._tick, until)


# Parts ------------------------------------------------------------------------------------------------------------------


def _just_before(tick: Tick) -> Tick:
    at_ms, phase = tick
    return (at_ms, phase - 1) if phase else (at_ms - 1, GRID)


def _step_ms(window: StreamWindow) -> int:
    assert window.window.step_ms is not None
    return window.window.step_ms


def _graph_name(graph: str | None) -> GraphName:
    return None if graph is None else NamedNode(resolve(DEFAULT_BASE, graph))


def _datetime(at_ms: int) -> Literal:
    import datetime

    moment = datetime.datetime(1970, 1, 1) + datetime.timedelta(milliseconds=at_ms)
    return Literal(moment.isoformat() + "Z", datatype=NamedNode("http://www.w3.org/2001/XMLSchema#dateTime"))


def skolem(label: str, bindings: dict[Variable, Any]) -> BlankNode:
    """The blank node a template makes for a solution: the same for the same solution."""
    text = label + "\n" + "\n".join(sorted(f"{v.value} {t}" for v, t in bindings.items() if t is not None))
    return BlankNode("c" + hashlib.sha256(text.encode()).hexdigest()[:32])


def graphs_read(query: a.Query) -> tuple[bool, set[NamedNode] | None]:
    """Whether a query reads the default graph, and which named graphs (None: any)."""
    named: set[NamedNode] | None = set()
    default = False

    def visit(node: Any, graph: Any) -> None:
        nonlocal named, default
        match node:
            case a.BGP(()):
                pass
            case a.BGP() | a.Path():
                if graph is None:
                    default = True
            case a.Graph(name, inner):
                if isinstance(name, Variable):
                    named = None
                elif named is not None:
                    named.add(name)
                visit(inner, name)
            case a.Window(_, inner):
                visit(inner, "window")
            case tuple():
                for part in node:
                    visit(part, graph)
            case _ if hasattr(node, "__dataclass_fields__") and not isinstance(node, StreamWindow):
                for name in node.__dataclass_fields__:
                    if name != "place":
                        visit(getattr(node, name), graph)

    visit(query.pattern, None)
    return default, named


class Accumulator:
    """MEDIAN, SAMPLE and GROUP_CONCAT for the outside engine, in term order where order matters."""

    def __init__(self, own: OwnAggregate) -> None:
        self.own = own
        self.terms: list[Any] = []

    def accumulate(self, term: Any) -> None:
        self.terms.append(term)

    def finish(self) -> Any:
        terms = list(dict.fromkeys(self.terms)) if self.own.distinct else self.terms
        if self.own.function == "MEDIAN":
            return median(terms)
        ordered = sorted(terms, key=term_key)
        if self.own.function == "SAMPLE":
            return ordered[0] if ordered else None
        if not all(isinstance(t, Literal | NamedNode) for t in ordered):
            return None
        return Literal(self.own.separator.join(t.value for t in ordered))


def median(terms: list[Any]) -> Any:
    """The middle value, or half the sum of the two middle ones; nothing for no values or one that is not a number."""
    if not terms or any(not isinstance(t, Literal) or _calculate("isNumeric(?x)", x=t) != TRUE for t in terms):
        return None

    def compare(x: Any, y: Any) -> int:
        if _calculate("?x < ?y", x=x, y=y) == TRUE:
            return -1
        return 1 if _calculate("?y < ?x", x=x, y=y) == TRUE else 0

    ordered = sorted(sorted(terms, key=term_key), key=cmp_to_key(compare))
    middle = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[middle]
    return _calculate("(?x + ?y) / 2", x=ordered[middle - 1], y=ordered[middle])


def _calculate(expression: str, **values: Literal) -> Any:
    names, terms = " ".join(f"?{name}" for name in values), " ".join(map(str, values.values()))
    found: Any = Store().query(f"SELECT ({expression} AS ?r) {{ VALUES ({names}) {{ ({terms}) }} }}")
    (solution,) = found
    return solution["r"]


def term_key(term: Any) -> tuple[Any, ...]:
    """Term order; see `plain_sparql.term_order`."""
    match term:
        case None:
            return (0,)
        case BlankNode():
            return (1, term.value)
        case NamedNode():
            return (2, term.value)
        case Literal():
            number = _calculate("IF(isNumeric(?x), <http://www.w3.org/2001/XMLSchema#double>(?x), ?none)", x=term)
            rest = (term.value, term.language or "", term.datatype.value)
            return (4, 0.0, *rest) if number is None else (3, float(number.value), *rest)
    raise TypeError(ox.__name__)
