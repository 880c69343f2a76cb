"""Runs a scenario on the engine and on the reference evaluator, and compares what they emit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa
from pyoxigraph import BlankNode, Literal, NamedNode, RdfFormat, Triple, parse

from millstream.engine import Engine
from tests.engine.edits import Many
from tests.engine.scenarios import BLANKS, Close, Register, Scenario, Session, Step
from tests.reference import Change, Reference, Row

DECIMAL = "http://www.w3.org/2001/XMLSchema#decimal"
TRIPLE = ("subject", "predicate", "object")
TRUTH = ("boolean",)


def play(machine: Any, scenario: Scenario, *, finish: bool = True) -> Any:
    """Registers the query and makes the calls; gives the query."""
    query = machine.register(scenario.query, output=scenario.output)
    for step in scenario.steps:
        take_step(machine, step)
    if finish:
        machine.finish()
    return query


def take_step(machine: Any, step: Step) -> None:
    if isinstance(step, Many):
        step.take(machine)
        return
    text = "\n".join(step.triples)
    match step.call:
        case "push":
            machine.push(step.target, _as_given(text), at_ms=step.at_ms)
        case "insert":
            machine.insert(_as_given(text), at_ms=step.at_ms, graph=step.target)
        case "delete":
            machine.delete(_as_given(text), at_ms=step.at_ms, graph=step.target)
        case "load":
            machine.load(text.encode(), graph=step.target, format="nt")
        case "patch":
            machine.read_changes(text.encode(), graph=step.target, format="rdfpatch")
        case "update":
            words = {"A": "INSERT", "D": "DELETE"}
            data = "\n".join(f"{words[line[0]]} DATA {{ {line[2:]} }} ;" for line in step.triples)
            machine.read_changes(data.encode(), graph=step.target, format="sparql")
        case "advance":
            machine.advance_to(step.at_ms)


def _as_given(text: str) -> Any:
    """Text, or objects if there are blank nodes: these keep their identity from call to call, labels in text do not."""
    if "_:" not in text:
        return text
    return [quad.triple for quad in parse(input=text.encode(), format=RdfFormat.N_TRIPLES)]


def flat(answers: list[Any], variables: tuple[str, ...]) -> list[tuple[int, int, Row]]:
    return [(x.at_ms, x.weight, row_of(x.bindings, variables)) for x in answers]


def row_of(bindings: Any, variables: tuple[str, ...]) -> Row:
    """A row as the reference evaluator has it: terms, one triple, or a boolean."""
    terms = tuple(bindings.get(v) for v in variables)
    if variables == TRIPLE:
        return (Triple(*terms),)
    if variables == TRUTH:
        return (terms[0].value == "true",)
    return terms


def answer_set(query: Any) -> Counter[Row]:
    """The answer set of a query of the engine."""
    found = query.solutions()
    if isinstance(found, bool):
        # Before the first change there is no answer, which reads as false.
        return Counter([(found,)]) if found or len(query.parameterised.emitter.answer_rows()[1]) else Counter()
    return Counter((x,) if isinstance(x, Triple) else tuple(x.get(v) for v in query.variables) for x in found)


def comparable(row: Row) -> Row:
    """A row without what depends on the evaluator: labels of computed blank nodes, digits of decimals that nobody counts."""
    return tuple(_comparable(term) for term in row)


def _comparable(term: Any) -> Any:
    match term:
        case Triple():
            return Triple(*(_comparable(t) for t in (term.subject, term.predicate, term.object)))
        case BlankNode() if term.value not in BLANKS:
            return BlankNode("any")
        case Literal() if term.datatype.value == DECIMAL:
            return Literal(str(round(Decimal(term.value), 9).normalize()), datatype=NamedNode(DECIMAL))
        case _:
            return term


def assert_same(emitted: list[tuple[int, int, Row]], expected: list[Change]) -> None:
    """The emissions, in order, fall into the expected changes; within a change any order will do."""
    at = 0
    for change in expected:
        size = sum(abs(w) for w in change.rows.values())
        found = emitted[at : at + size]
        for at_ms, _, _ in found:
            assert at_ms == change.at_ms, f"at {at_ms}, expected the change {change}; all: {emitted} expected {expected}"
        rows = Counter((weight, comparable(row)) for _, weight, row in found)
        wanted: Counter[Any] = Counter()
        for row, count in change.rows.items():
            wanted[1 if count > 0 else -1, comparable(row)] += abs(count)
        assert rows == wanted, f"found {found}, expected {change}; all: {emitted} expected {expected}"
        at += size
    assert at == len(emitted), f"unexpected: {emitted[at:]}"


def assert_same_set(found: Counter[Row], expected: Counter[Row]) -> None:
    """Two answer sets are equal."""
    rows, wanted = (Counter(comparable(row) for row in some.elements()) for some in (found, expected))
    assert rows == wanted, f"answer set {found}, expected {expected}"


def check(scenario: Scenario, **options: Any) -> None:
    """The engine emits what the reference evaluator does, and both have the same answer set, also before the end."""
    for finish in (False, True):
        engine = Engine(lateness_ms=scenario.lateness_ms, t0_ms=scenario.t0_ms, **options)
        reference = Reference(lateness_ms=scenario.lateness_ms, t0_ms=scenario.t0_ms)
        query = play(engine, scenario, finish=finish)
        expected = play(reference, scenario, finish=finish)
        assert_same(flat(query.take(), query.variables), expected.changes)
        assert_same_set(answer_set(query), expected.answers)
        assert engine.stats["late"] == len(reference.late)


def check_once(scenario: Scenario, *, looks: bool = True, **options: Any) -> None:
    """As `check`, in one run; with `looks` somebody looks at the answer set before the end."""
    engine = Engine(lateness_ms=scenario.lateness_ms, t0_ms=scenario.t0_ms, **options)
    reference = Reference(lateness_ms=scenario.lateness_ms, t0_ms=scenario.t0_ms)
    query = play(engine, scenario, finish=False)
    expected = play(reference, scenario, finish=False)
    if looks:
        assert_same_set(answer_set(query), expected.answers)
    engine.finish()
    reference.finish()
    assert_same(flat(query.take(), query.variables), expected.changes)
    assert_same_set(answer_set(query), expected.answers)
    assert engine.stats["late"] == len(reference.late)


def run_session(
    session: Session,
    after_each: Callable[[Engine], Engine | None] = lambda _: None,
    *,
    take_each: bool = False,
    **options: Any,
) -> None:
    """Every query of a session emits what the reference evaluator says, whatever else runs, until it is closed.

    `after_each` may do something to the engine after each step, or give another to go on with.
    """
    engine = Engine(lateness_ms=session.lateness_ms, t0_ms=session.t0_ms, **options)
    reference = Reference(lateness_ms=session.lateness_ms, t0_ms=session.t0_ms)
    for graph, some in session.loaded:
        text = "\n".join(some)
        engine.load(text.encode(), graph=graph, format="nt")
        reference.load(text, graph=graph)
    queries: list[tuple[Any, Any]] = []
    emitted: list[list[tuple[int, int, Row]]] = []
    for step in session.steps:
        match step:
            case Register(text, output):
                queries.append((engine.register(text, output=output), reference.register(text, output=output)))
                emitted.append([])
            case Close(place):
                query, expected = queries[place]
                query.close()
                if expected in reference.queries:
                    reference.queries.remove(expected)
            case Step():
                take_step(engine, step)
                take_step(reference, step)
        if (another := after_each(engine)) is not None:
            engine = another
            still_open = iter(engine.queries)
            queries = [(query if query.closed else next(still_open), expected) for query, expected in queries]
        for (query, _), so_far in zip(queries, emitted, strict=True):
            so_far.extend(flat(query.take(), query.variables) if take_each else ())
    engine.finish()
    reference.finish()
    assert engine.clock_ms == max(reference.clock_ms, session.t0_ms)
    for (query, expected), so_far in zip(queries, emitted, strict=True):
        if not query.closed:
            assert_same_set(answer_set(query), expected.answers)
        assert_same(so_far + flat(query.take(), query.variables), expected.changes)
    assert engine.stats["late"] == len(reference.late)


def forget_all_that_may_be(engine: Engine) -> None:
    """Has the dictionary forget at once what it otherwise would over time: what is still needed must survive."""
    engine._core.housekeeping()
    engine._core.dictionary.sweep(1 << 16)


def compare_runs(
    session: Session,
    after_each: Callable[[Engine], Engine | None] = lambda _: None,
    *,
    take_each: bool = True,
    **options: Any,
) -> None:
    """A session answers the same, step by step, whatever is done to the engine after each step, with any options."""
    engines = [
        Engine(lateness_ms=session.lateness_ms, t0_ms=session.t0_ms),
        Engine(lateness_ms=session.lateness_ms, t0_ms=session.t0_ms, **options),
    ]
    queries: list[list[Any]] = [[], []]
    for engine in engines:
        for graph, some in session.loaded:
            engine.load("\n".join(some).encode(), graph=graph, format="nt")
    for step in [*session.steps, None]:
        for engine, ours in zip(engines, queries, strict=True):
            match step:
                case Register(text, output):
                    ours.append(engine.register(text, output=output))
                case Close(place):
                    ours[place].close()
                case Step():
                    take_step(engine, step)
                case None:
                    engine.finish()
        if (another := after_each(engines[1])) is not None:
            engines[1] = another
            still_open = iter(another.queries)
            queries[1] = [query if query.closed else next(still_open) for query in queries[1]]
        if take_each or step is None:
            for one, other in zip(*queries, strict=True):
                emitted = [
                    Counter((x[0], x[1], comparable(x[2])) for x in flat(q.take(), q.variables)) for q in (one, other)
                ]
                assert emitted[0] == emitted[1], f"after {step}, {one.text}: {emitted[1]}, expected {emitted[0]}"
                if not one.closed:
                    assert_same_set(answer_set(other), answer_set(one))


def fits_a_table(step: Step | Register | Close) -> bool:
    """Whether an element may come in a table: it has triples, and no blank node that is the same elsewhere."""
    return isinstance(step, Step) and step.call == "push" and bool(step.triples) and "_:" not in "".join(step.triples)


def table_of(elements: list[tuple[str, tuple[str, ...], int]]) -> pa.Table:
    """Elements of one stream, with their triples and times, as a table."""
    rows = [(*t.removesuffix(" .").split(" "), at_ms, i) for i, (_, ts, at_ms) in enumerate(elements) for t in ts]
    return pa.table(dict(zip(("s", "p", "o", "at_ms", "element"), map(list, zip(*rows, strict=True)), strict=True)))


def graphs_of(elements: list[tuple[str, tuple[str, ...], int]]) -> str:
    """The same as graphs of TriG that say when they happened."""
    graphs = (
        f"<g:{number}> {{ {' '.join(ts)} }} {_generated(number, at_ms)}\n" for number, (_, ts, at_ms) in enumerate(elements)
    )
    return "".join(graphs)


def quads_of(elements: list[tuple[str, tuple[str, ...], int]]) -> str:
    """The same as N-Quads."""
    lines = []
    for number, (_, some, at_ms) in enumerate(elements):
        lines += [f"{t.removesuffix(' .')} <g:{number}> ." for t in some] + [_generated(number, at_ms)]
    return "\n".join(lines) + "\n"


def _generated(number: int, at_ms: int) -> str:
    at = (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=at_ms)).isoformat(timespec="milliseconds")
    return f'<g:{number}> <http://www.w3.org/ns/prov#generatedAtTime> "{at}"^^<http://www.w3.org/2001/XMLSchema#dateTime> .'


def compare_with_engines_of_their_own(session: Session, cut: int, *, calls_back: bool) -> None:
    """All queries in one engine, elements in tables, beside engines with one query each, elements one by one."""
    together, waiting = Engine(lateness_ms=session.lateness_ms, t0_ms=session.t0_ms), []
    registers = [step for step in session.steps if isinstance(step, Register)]
    alone = [Engine(lateness_ms=session.lateness_ms, t0_ms=session.t0_ms) for _ in registers]
    for engine in (together, *alone):
        for graph, triples in session.loaded:
            engine.load("\n".join(triples).encode(), graph=graph, format="nt")
    ours: list[Any] = []
    theirs: list[Any] = []
    heard: list[list[Any]] = [[] for _ in registers]

    def flush() -> None:
        if waiting:
            rows = [(str(step.target), step.triples, step.at_ms) for step in waiting]
            together.push_table(str(waiting[0].target), table_of(rows))
            waiting.clear()

    for step in session.steps:
        if not fits_a_table(step):
            flush()
        match step:
            case Register(text, output):
                number = len(ours)
                callback = heard[number].append if calls_back else None
                ours.append(together.register(text, output=output, on_answer=callback))
                theirs.append(alone[number].register(text, output=output))
            case Close(place):
                ours[place].close()
                theirs[place].close()
            case Step(_, target):
                for engine in alone:
                    take_step(engine, step)
                if not fits_a_table(step):
                    take_step(together, step)
                    continue
                if waiting and (waiting[0].target != target or len(waiting) == cut):
                    flush()
                waiting.append(step)
    flush()
    # To one time for all: where everything ends depends on who else is there, and windows that step close until then.
    end_ms = max((step.at_ms for step in session.steps if isinstance(step, Step) and step.at_ms is not None), default=0) + 50
    for engine in (together, *alone):
        engine.advance_to(end_ms)
    for query, expected, answers in zip(ours, theirs, heard, strict=True):
        emissions = answers if calls_back else query.take(), expected.take()
        # Labels of blank nodes in what was loaded are each engine's own.
        found, wanted = ([(t, w, comparable(r)) for t, w, r in flat(some, query.variables)] for some in emissions)
        assert sorted(found, key=str) == sorted(wanted, key=str), query.text
        assert [at_ms for at_ms, _, _ in found] == [at_ms for at_ms, _, _ in wanted]
