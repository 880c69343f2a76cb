"""Snapshots whose archive is sound and whose values are not: refused as a snapshot, or taken and of use."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from random import Random
from types import FrameType
from typing import Any

import numpy as np

from millstream import Engine, MillstreamError, SnapshotError
from millstream.engine.snapshot import pack, unpack

MOST_SECONDS = 20
PREFIX = "PREFIX : <http://e/> "
# One of every kind of state: feeds, unions, members, parts in common, products, tuples, paths, groups, orders, reporters.
QUERIES = (
    ("SELECT CHANGES * { STREAM :s [RANGE 20] { ?a :p ?b . ?b :q ?c } ?c :r ?d }",),
    ("SELECT * { STREAM :s [RANGE 20] { ?a ?p ?b . ?b :q ?c } GRAPH ?g { ?c :r ?d } }",),
    (
        "SELECT RSTREAM * { STREAM :s [RANGE 20 STEP 5] { ?a :p ?b } }",
        "SELECT CHANGES * { STREAM :s [RANGE 7 STEP 7] { ?a :q ?b } }",
    ),
    ("SELECT RSTREAM * { STREAM :s [TRIPLES 5] { ?a :p ?b } STREAM :t [ELEMENTS 3] { ?b :q ?c } }",),
    ("SELECT RSTREAM * { STREAM :s [RANGE 9] { ?a :p ?b } STREAM :t [EVENT] { ?b :q ?c } }",),
    ("SELECT RSTREAM * { STREAM :s [SESSION 3] { ?a :p ?b } }", "SELECT CHANGES * { STREAM :s [SESSION 9] { ?a ?q ?b } }"),
    (
        "SELECT CHANGES ?b (COUNT(*) AS ?n) (SUM(?v) AS ?m) { STREAM :s [RANGE 20] { ?a :p ?b . ?a :v ?v } } GROUP BY ?b",
        "SELECT CHANGES ?b (MAX(?a) AS ?x) (SAMPLE(?a) AS ?y) { STREAM :s [RANGE 20] { ?a :p ?b } } GROUP BY ?b",
    ),
    ("SELECT CHANGES ?b ?c { STREAM :s [RANGE 20 SLIDE 5] { ?a :p ?b } OPTIONAL { ?b :r ?c } MINUS { ?b :q ?d } }",),
    ("SELECT CHANGES * { ?a :p+ ?b . FILTER NOT EXISTS { ?b :q ?a } }", "SELECT ?a ?b { ?a :p ?b } ORDER BY ?b LIMIT 2"),
    tuple(f"SELECT CHANGES * {{ STREAM :s [ALL] {{ :n{i} :p ?b . ?b :q ?c }} }}" for i in range(3)),
    ("SELECT CHANGES * { STREAM :s [RANGE 20] { ?a :p ?b } STREAM :t [NOW] { ?c :q ?d } :n1 :r :n2 }",),
    ("SELECT CHANGES * FROM STREAM :s [RANGE 9] FROM STREAM :t [RANGE 20] WHERE { ?a :p ?b . ?b ?q ?c }",),
    (
        "SELECT CHANGES ?a (CONCAT(STR(?b), 'x') AS ?y) { STREAM :s [RANGE 20] { ?a :p ?b } }",
        "ASK { STREAM :s [RANGE 4] { ?a :q ?b } }"),
    (
        "REGISTER ISTREAM :u AS CONSTRUCT { ?a :pq ?c . ?c :made [] } { STREAM :s [RANGE 20] { ?a :p ?b . ?b :q ?c } }",
        "SELECT CHANGES * { STREAM :u [RANGE 30] { ?a :pq ?b } }",
    ),
)  # fmt: skip


def _triples(chance: Random, count: int) -> str:
    lines = []
    for _ in range(count):
        s, o = (f"<http://e/n{chance.randrange(6)}>" for _ in range(2))
        p = chance.choice("pqpqrv")
        if p == "v":
            o = chance.choice(
                ['"7"^^<http://www.w3.org/2001/XMLSchema#integer>', '"1.5"^^<http://www.w3.org/2001/XMLSchema#double>']
            )
        lines.append(f"{s} <http://e/{p}> {o} .")
    return "\n".join(lines)


@cache
def snapshot_of(number: int, lateness_ms: int) -> bytes:
    """An engine in the midst of its work: things held back, answers that nobody took."""
    chance = Random(number)
    engine = Engine(lateness_ms=lateness_ms)
    engine.insert(_triples(chance, 12))
    engine.insert(_triples(chance, 12), graph="http://e/g")
    made = [engine.register(PREFIX + text) for text in QUERIES[number]]
    for at_ms in range(0, 30, 2):
        engine.push(f"http://e/{chance.choice('sst')}", _triples(chance, 3), at_ms=at_ms)
        if at_ms % 10 == 4:
            engine.delete(_triples(chance, 6), at_ms=at_ms)
        if at_ms % 8 == 4:
            made[0].take()
            made[-1].solutions()
    return engine.snapshot()


def use(engine: Engine, seed: int) -> None:
    """Everything that reads or moves what was restored."""
    chance = Random(seed)
    at_ms = engine.clock_ms if -1000 < engine.clock_ms < 1000 else 30
    for step in range(1, 9):
        engine.push(f"http://e/{chance.choice('st')}", _triples(chance, 3), at_ms=at_ms + 2 * step)
        engine.insert(_triples(chance, 2), at_ms=at_ms + 2 * step)
        engine.delete(_triples(chance, 6), at_ms=at_ms + 2 * step)
        for query in engine.queries:
            query.solutions()
    engine.snapshot()
    engine.register(PREFIX + "SELECT CHANGES * { STREAM :s [RANGE 20] { ?a :p ?b . ?b :q ?c } ?c :r ?d }")
    for query in engine.queries:
        query.take_table()
        query.take()
    engine.advance_to(at_ms + 40)
    engine.delete(_triples(chance, 30), graph="http://e/g")
    for query in engine.queries[1:]:
        query.take()
        query.close()
    _ = engine.stats
    engine.finish()
    engine.rejected()
    engine.snapshot()


# Damage ---------------------------------------------------------------------------------------------------------------

NUMBERS = (
    0,
    1,
    -1,
    2,
    7,
    1 << 31,
    1 << 32,
    1 << 40,
    1 << 59,
    5 << 59,
    6 << 59,
    1 << 62,
    (1 << 63) - 1,
    -(1 << 62),
    -(1 << 63),
    1 << 70,
)
ANYTHING: tuple[Any, ...] = (
    None,
    True,
    False,
    1.5,
    float("nan"),
    "",
    "x",
    b"",
    b"\xff",
    [],
    {},
    [[]],
    [None],
    *NUMBERS,
    np.zeros(3),
)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where there are values, by the keys that lead to them."""
    yield path
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in inside:
        yield from places(part, (*path, key))


def damaged(chance: Random, state: Any) -> tuple[Any, str]:
    """The same with one value that is another, and which."""
    # Lists of a thousand alike would hide everything else: a depth is chosen first.
    by_kind: dict[Any, list[tuple[Any, ...]]] = {}
    for path in places(state):
        by_kind.setdefault(tuple("#" if isinstance(key, int) else key for key in path), []).append(path)
    path = chance.choice(by_kind[chance.choice(list(by_kind))])
    holder, value = None, state
    for key in path:
        holder, value = value, value[key]
    new = _another(chance, value)
    if holder is None:
        return new, "everything"
    if isinstance(holder, dict) and chance.random() < 0.15:
        del holder[path[-1]]
        return state, f"{path}: gone"
    holder[path[-1]] = new
    return state, f"{path}: {_shown(value)} became {_shown(new)}"


def _another(chance: Random, value: Any) -> Any:
    if chance.random() < 0.15:
        return chance.choice(ANYTHING)
    match value:
        case np.ndarray():
            return _another_array(chance, value)
        case bool():
            return not value
        case int():
            return chance.choice([value + 1, value - 1, -value, *NUMBERS])
        case str():
            return chance.choice(["", value[:-1], value + "x", value.upper(), "\u0000", value * 3])
        case bytes():
            return chance.choice([value[:-1], value + b"\n", value.replace(b"n1", b"n2"), value[::-1], b"\xff" + value])
        case list() if value:
            at = chance.randrange(len(value))
            return chance.choice([value[:at] + value[at + 1 :], [*value, value[at]], value[::-1], value[:at]])
        case dict() if value:
            key = chance.choice(list(value))
            return chance.choice([{k: v for k, v in value.items() if k != key}, {**value, "more": 1}, list(value.values())])
    return chance.choice(ANYTHING)


def _another_array(chance: Random, array: np.ndarray[Any, Any]) -> Any:
    match chance.randrange(7):
        case 0:
            return array.astype(chance.choice(["f8", "i4", "u8", "?", "U8", "c16", ">i8", "M8[ms]"]))
        case 1:
            return array[:-1] if array.ndim else array
        case 2:
            return np.concatenate([array, array[:1]]) if array.ndim else array
        case 3:
            return chance.choice([array.ravel(), array[None], np.array(7), array.T, array[..., None]])
        case 4 if array.ndim == 2:
            return array[:, :-1] if chance.random() < 0.5 else np.concatenate([array, array], axis=1)
        case 5 if array.size:
            return chance.choice([array[::-1], np.roll(array, 1), array * 0, array * -1])
    if not array.size or array.dtype.kind not in "iu":
        return array.astype("f4")
    new = array.astype(np.int64)
    at = tuple(chance.randrange(size) for size in array.shape)
    new[at] = chance.choice(
        [
            int(new[at]) ^ 2,
            int(new[at]) ^ 1,
            int(new[at]) ^ 1 << chance.randrange(62),
            *(n for n in NUMBERS if abs(n) < 1 << 63),
        ]
    )
    return new


def _shown(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"{value.dtype}{list(value.shape)} {value.ravel()[:8].tolist()}"
    return repr(value)[:120]


@contextmanager
def not_for_ever() -> Iterator[None]:
    """Ends what does not end by itself."""

    def over(number: int, frame: FrameType | None) -> None:
        raise TimeoutError("it does not end")

    before = signal.signal(signal.SIGALRM, over)
    signal.alarm(MOST_SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def damaged_values(chance: Random) -> None:
    """A snapshot with one wrong value is refused as such, or the engine it gives can be used."""
    whole = snapshot_of(chance.randrange(len(QUERIES)), chance.choice([0, 6]))
    state, what = damaged(chance, unpack(whole))
    with not_for_ever():
        try:
            engine = Engine.restore(pack(state))
        except SnapshotError as error:
            if len(str(error)) > 1000:
                raise AssertionError("more than a sentence") from error
            return
        except BaseException as error:
            raise AssertionError(f"restoring with {what}") from error
        try:
            use(engine, chance.randrange(4))
        except MillstreamError:
            return
        except BaseException as error:
            raise AssertionError(f"using what was restored with {what}") from error
