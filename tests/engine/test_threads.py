"""One engine, several threads: calls take turns, and callbacks cannot make them wait for each other for ever."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from queue import Queue
from threading import Event, Thread
from typing import Any

import pyarrow as pa
import pytest

from millstream import ContinuousQuery, Engine
from tests.engine.notation import NAMESPACE, S, T, nt, over

_SOON = 0.05
_LONG = 60


@pytest.fixture
def hasty() -> Iterator[None]:
    """Threads change places as often as the interpreter lets them."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def together(*calls: Callable[[], object]) -> None:
    """Runs calls at once; what one raises is raised."""
    raised: list[BaseException] = []

    def run(call: Callable[[], object]) -> None:
        try:
            call()
        except BaseException as error:
            raised.append(error)

    threads = [Thread(target=run, args=(call,), daemon=True) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(_LONG)
        assert not thread.is_alive(), "threads wait for each other"
    if raised:
        raise raised[0]


def timed(*elements: tuple[str, int]) -> pa.Table:
    """`a p b` and a time, as a table."""
    columns = zip(*(text.split() for text, _ in elements), strict=True)
    terms = {name: [f"<{NAMESPACE}{term}>" for term in column] for name, column in zip("spo", columns, strict=True)}
    return pa.table({**terms, "at_ms": [at_ms for _, at_ms in elements]})


# Work whose answers do not depend on who comes first: all at one time, each worker about names of its own.

QUERY = f"PREFIX : <{NAMESPACE}> SELECT ?x ?z {{ STREAM <{S}> [ALL] {{ ?x :p ?y . ?y :q ?z }} ?z :r ?w }}"


ARRIVING: dict[str, Any] = {"time": "arrival", "clock_ms": lambda: 0}


def worker(engine: Engine, query: ContinuousQuery, who: int, found: Counter[tuple[str, ...]]) -> None:
    def count(answers: list[Any]) -> None:
        found.update(tuple(str(answer.bindings[v]) for v in ("x", "z")) for answer in answers)

    for i in range(60):
        name = f"{who}x{i}"
        engine.insert(nt(f"z{name} r w{i}"))
        engine.push(S, nt(f"a{name} p b{name}"), at_ms=0)
        engine.push(S, nt(f"b{name} q z{name}", f"b{name} q nowhere"), at_ms=0)
        match i % 6:
            case 0:
                own = engine.register(over("ALL", "?x :own ?y", T))
                engine.push(T, nt(f"{name} own {i}"), at_ms=0)
                own.close()
                assert f"{NAMESPACE}{name}" in {answer.bindings["x"].value for answer in own.take()}
            case 1:
                count(query.take())
            case 2:
                engine.read(S, (nt(f"a{name}l{k} p b{name}") for k in range(20)), format="nt", **ARRIVING)
            case 3:
                assert len(Engine.restore(engine.snapshot()).queries) >= 1
            case 4:
                engine.push_table(S, timed((f"t{name} p b{name}", 0)))
            case _:
                engine.delete(nt(f"z{name} r w{i}"))
                query.solutions()
                assert query.explain()
                assert 0 < query.stats["elements"] <= engine.stats["elements"]
    count(query.take())


def test_threads_get_the_answers_that_one_thread_gets(hasty: None) -> None:
    def answers(run: Callable[..., None]) -> Counter[tuple[str, ...]]:
        engine, found = Engine(), [Counter[tuple[str, ...]]() for _ in range(4)]
        query = engine.register(QUERY, output="istream")
        run(*((lambda who=who: worker(engine, query, who, found[who])) for who in range(4)))
        return sum(found, Counter())

    alone = answers(lambda *calls: [call() for call in calls])
    assert alone.total() > 4 * 60
    assert answers(together) == alone


def test_callbacks_hear_answers_in_order_whoever_brings_them(hasty: None) -> None:
    heard: list[int] = []
    engine = Engine()
    engine.register(over("ALL"), on_answer=lambda answer: heard.append(int(answer.bindings["y"].value.rsplit("/", 1)[1])))
    kept = engine.register(over("ALL"))

    def push(who: int) -> None:
        for i in range(500):
            engine.push(S, nt(f"a{who} p {who * 1000 + i}"), at_ms=0)

    together(*(lambda who=who: push(who) for who in range(4)))  # type: ignore[misc]
    assert heard == [int(answer.bindings["y"].value.rsplit("/", 1)[1]) for answer in kept.take()]
    assert len(heard) == 2000


# Callbacks ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "bring",
    [
        lambda engine: engine.push(S, nt("a p b"), at_ms=1),
        lambda engine: engine.insert(nt("a p b"), at_ms=1, graph=f"{NAMESPACE}g"),
        lambda engine: engine.push_table(S, timed(("a p b", 1))),
        lambda engine: engine.read(S, timed(("a p b", 1), ("c q d", 0))),
        lambda engine: engine.read(S, iter([nt("a p b")]), format="nt", **ARRIVING),
        lambda engine: engine.read(S, nt("a p b").encode(), format="nt", time="rate:1"),
        lambda engine: engine.load(nt("a p b").encode(), f"{NAMESPACE}g", format="nt"),
    ],
    ids=["push", "insert", "table", "elements", "iterator", "lines", "load"],
)
def test_a_callback_may_wait_for_another_thread_that_calls_the_engine(bring: Callable[[Engine], object]) -> None:
    engine, heard = Engine(), Queue[int]()

    def hear(_: object) -> None:
        together(lambda: heard.put(engine.stats["queries"]), lambda: engine.push(T, nt("x p y"), at_ms=1))

    engine.register(over("ALL"), on_answer=hear)
    engine.register(f"SELECT * {{ GRAPH <{NAMESPACE}g> {{ ?x ?p ?y }} }}", on_answer=hear)
    other = engine.register(over("ALL", stream=T))
    together(lambda: bring(engine))
    assert heard.get(timeout=_LONG) == 3
    assert len(other.take()) == 1


def test_a_query_registered_between_two_parts_of_a_source_sees_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("millstream.ingest.readers.scanning.CHUNK_BYTES", 200)
    engine, late = Engine(), list[ContinuousQuery]()

    def hear(_: object) -> None:
        if not late:
            late.append(engine.register(over("ALL", "?x :q ?y")))

    engine.register(over("ALL"), on_answer=hear)
    lines = "\n".join(nt(f"a{i} p b", f"a{i} q b") for i in range(50)).encode()
    engine.read(S, lines, format="nt", time="rate:1000")
    assert 40 < len(late[0].take()) < 50


def test_a_callback_that_pushes_while_a_source_is_read_makes_the_rest_late() -> None:
    engine = Engine()
    engine.register(over("ALL"), on_answer=lambda _: engine.push(T, nt("x q y"), at_ms=100))
    query = engine.register(over("ALL"))
    # The second is late and splits the source in parts: of the later, one lies before what the callback brought.
    engine.read(S, timed(("a p b", 50), ("b p c", 10), ("c p d", 60), ("d p e", 200)))
    assert [answer.at_ms for answer in query.take()] == [50, 200]
    assert engine.stats["late"] >= 2


def test_an_endless_source_lets_other_threads_in() -> None:
    engine, ready, over_now = Engine(), Event(), Event()
    query = engine.register(over("ALL"))

    def source() -> Iterator[str]:
        yield nt("a p b")
        ready.set()
        assert over_now.wait(_LONG)
        yield nt("c p d")

    reader = Thread(target=lambda: engine.read(S, source(), format="nt", **ARRIVING), daemon=True)
    reader.start()
    assert ready.wait(_LONG)
    assert len(query.take()) == 1
    over_now.set()
    reader.join(_LONG)
    assert len(query.take()) == 1


# Every call takes its turn --------------------------------------------------------------------------------------------


class Nowhere:
    """A sink that keeps nothing."""

    def open(self, position: bytes | None) -> None: ...
    def write(self, answers: pa.Table) -> None: ...
    def commit(self) -> bytes:
        return b""

    def close(self) -> None: ...


WITHOUT_STATE = {
    "name",
    "variables",
    "warnings",
    "closed",
    "restore",
    "stop_reading",
    "run",
    "emitted",
    "pending",
    "keeps",
    "to_pandas",
    "to_polars",
    "live",
}
"""What never changes, is one value, makes an engine of its own, or calls one of the others once."""
FOR_THE_ENGINE = {
    "dump",
    "load",
    "attach",
    "detach",
    "count_from",
    "hold_pending",
    "emit",
    "only_count",
    "forget_answers",
    "is_new",
}
"""What an engine calls on its queries, in its own turn."""

ENGINE_CALLS: dict[str, Callable[[Engine], object]] = {
    "load": lambda engine: engine.load(nt("a p b").encode(), format="nt"),
    "insert": lambda engine: engine.insert(nt("a p b")),
    "delete": lambda engine: engine.delete(nt("a p b")),
    "read_changes": lambda engine: engine.read_changes(f"A {nt('a p b')}".encode(), format="rdfpatch"),
    "register": lambda engine: engine.register(over("ALL")),
    "queries": lambda engine: engine.queries,
    "push": lambda engine: engine.push(S, nt("a p b"), at_ms=1),
    "push_many": lambda engine: engine.push_many(S, [(nt("a p b"), 1)]),
    "push_table": lambda engine: engine.push_table(S, timed(("a p b", 1))),
    "change_many": lambda engine: engine.change_many([("insert", nt("a p b"), 1, None)]),
    "read": lambda engine: engine.read(S, timed(("a p b", 1), ("a p b", 0))),
    "positions": lambda engine: engine.positions,
    "clock_ms": lambda engine: engine.clock_ms,
    "advance_to": lambda engine: engine.advance_to(5),
    "finish": lambda engine: engine.finish(),
    "rejected": lambda engine: engine.rejected(),
    "stats": lambda engine: engine.stats,
    "snapshot": lambda engine: engine.snapshot(),
}
QUERY_CALLS: dict[str, Callable[[ContinuousQuery], object]] = {
    "take": lambda query: query.take(),
    "take_table": lambda query: query.take_table(),
    "to": lambda query: query.to(Nowhere()),
    "solutions": lambda query: query.solutions(),
    "stats": lambda query: query.stats,
    "explain": lambda query: query.explain(),
    "operators": lambda query: query.operators(),
    "measure": lambda query: query.measure(),
    "close": lambda query: query.close(),
}


def public(kind: type) -> set[str]:
    return {name for name in vars(kind) if not name.startswith("_")}


def test_every_public_call_is_among_those_that_are_tried() -> None:
    assert public(Engine) - WITHOUT_STATE == set(ENGINE_CALLS)
    assert public(ContinuousQuery) - WITHOUT_STATE - FOR_THE_ENGINE == set(QUERY_CALLS)


@pytest.mark.parametrize("name", [f"engine.{name}" for name in ENGINE_CALLS] + [f"query.{name}" for name in QUERY_CALLS])
def test_a_call_waits_for_the_one_before_it(name: str) -> None:
    engine = Engine()
    query = engine.register(over("ALL"))
    of, _, method = name.partition(".")
    call: Any = (ENGINE_CALLS if of == "engine" else QUERY_CALLS)[method]
    with engine._core.lock:
        thread = Thread(target=call, args=(engine if of == "engine" else query,), daemon=True)
        thread.start()
        thread.join(_SOON)
        assert thread.is_alive()
    thread.join(_LONG)
    assert not thread.is_alive()
