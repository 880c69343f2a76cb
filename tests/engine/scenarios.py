"""Random conjunctive queries with random timelines, small enough that everything meets everything.

A scenario is a query text, engine options, and steps: calls that the engine and the reference evaluator both take. A session
has several queries that come and go, over datasets that hold something before it begins.
"""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

NAMESPACE = "http://example.org/"
NODES = [f"<{NAMESPACE}n{i}>" for i in range(4)]
PREDICATES = [f"<{NAMESPACE}p{i}>" for i in range(2)]
NUMBERS = [f'"{i}"^^<http://www.w3.org/2001/XMLSchema#integer>' for i in range(3)]
BLANKS = ["b0", "b1"]
"""Labels of the blank nodes in data."""
STREAMS = [f"{NAMESPACE}s{i}" for i in range(2)]
GRAPHS = [None, f"{NAMESPACE}g0"]
VARIABLES = ["?a", "?b", "?c", "?d"]


@dataclass(frozen=True)
class Step:
    """One call: push, insert, delete, load, patch, update or advance.

    `patch` and `update` are dataset changes in either syntax; their triples begin with `A` or `D`. What has no time happens
    now. Blank nodes of triples are the same in all calls.
    """

    call: str
    target: str | None
    triples: tuple[str, ...]
    at_ms: int | None


@dataclass(frozen=True)
class Scenario:
    query: str
    output: str | None
    lateness_ms: int
    t0_ms: int
    steps: tuple[Step, ...]


windows = st.one_of(
    st.integers(1, 6).map(lambda r: f"RANGE {r}"),
    st.tuples(st.integers(1, 6), st.integers(1, 4)).map(lambda x: f"RANGE {x[0]} SLIDE {x[1]}"),
    st.tuples(st.integers(1, 6), st.integers(1, 4)).map(lambda x: f"RANGE {x[0]} STEP {x[1]}"),
    st.integers(1, 4).map(lambda r: f"RANGE {r} TUMBLING"),
    st.integers(1, 6).map(lambda x: f"LANDMARK {x}"),
    st.integers(1, 4).map(lambda g: f"SESSION {g}"),
    st.integers(1, 4).map(lambda n: f"TRIPLES {n}"),
    st.integers(1, 3).map(lambda n: f"ELEMENTS {n}"),
    st.sampled_from(["NOW", "EVENT", "ALL"]),
)

steps_only = st.tuples(st.integers(1, 6), st.integers(1, 4)).map(lambda x: f"RANGE {x[0]} STEP {x[1]}")

subjects = st.one_of(st.sampled_from(VARIABLES), st.sampled_from(VARIABLES), st.sampled_from(NODES[:2]), st.just("_:x"))
predicates = st.one_of(st.sampled_from(PREDICATES), st.sampled_from(PREDICATES), st.sampled_from(["?p", "?a"]))
objects = st.one_of(
    st.sampled_from(VARIABLES), st.sampled_from(VARIABLES), st.sampled_from(NODES[:2] + NUMBERS[:1]), st.just("_:x")
)
patterns = st.tuples(subjects, predicates, objects).map(" ".join)

filters = st.one_of(
    st.tuples(st.sampled_from(VARIABLES), st.sampled_from(["=", "!="]), st.sampled_from(VARIABLES)),
    # The outside engine finds an IRI >= itself; the recommendation has no order for IRIs there.
    st.tuples(
        st.sampled_from(VARIABLES),
        st.sampled_from(["<", "<=", ">", ">="]),
        st.sampled_from(VARIABLES),
        st.sampled_from(["", "", " + 1", " - 1"]),
    ).map(lambda x: (f"isNumeric({x[0]}) && isNumeric({x[2]}) && ", *x)),
    st.tuples(st.sampled_from(VARIABLES), st.sampled_from(["=", "!=", "<", ">="]), st.sampled_from(["1", "2"])),
    st.tuples(st.sampled_from(VARIABLES), st.sampled_from(["=", "!="]), st.just(NODES[0])),
    st.tuples(st.just("isIRI("), st.sampled_from(VARIABLES), st.just(")")),
).map("".join)


@st.composite
def shapes(draw: st.DrawFn) -> list[str]:
    """Patterns that hang together: chains of up to six, cycles, stars, parallel ones."""
    shape = draw(st.sampled_from(["chain", "cycle", "star", "parallel"]))
    size = draw(st.integers(2, 6 if shape == "chain" else 4))
    names = [f"?{letter}" for letter in "abcdefg"]
    match shape:
        case "chain":
            ends = [(names[i], names[i + 1]) for i in range(size)]
        case "cycle":
            ends = [(names[i], names[(i + 1) % size]) for i in range(size)]
        case "star":
            ends = [(names[0], names[i + 1]) for i in range(size)]
        case _:
            ends = [(names[0], names[1]) for _ in range(size)]
    turned = [end if draw(st.integers(0, 3)) else end[::-1] for end in ends]
    return [f"{s} {draw(predicates)} {o}" for s, o in turned]


@st.composite
def groups(draw: st.DrawFn) -> str:
    """Triple patterns of one block, perhaps with a filter of its own."""
    some = draw(st.one_of(st.lists(patterns, min_size=1, max_size=2), st.lists(patterns, min_size=1, max_size=2), shapes()))
    body = " . ".join(some)
    if draw(st.integers(0, 4)) == 0:
        body += f" FILTER({draw(filters)})"
    return body


@st.composite
def queries(draw: st.DrawFn) -> str:
    dialect = draw(st.sampled_from(["cqels", "cqels", "csparql", "rspql", "dataset"]))
    kind = draw(st.sampled_from([windows, windows, steps_only]))
    head = "SELECT *"
    if draw(st.booleans()):
        head = "SELECT " + " ".join(draw(st.lists(st.sampled_from(VARIABLES), min_size=1, max_size=2, unique=True)))
    body: list[str] = []
    clauses: list[str] = []
    # A blank node belongs to one block: a label in two of them is an error.
    blocks = [b.replace("_:x", f"_:x{i}") for i, b in enumerate(draw(st.lists(groups(), min_size=1, max_size=3)))]
    for number, block in enumerate(blocks):
        stream = draw(st.sampled_from(STREAMS))
        place = draw(st.sampled_from(["window", "window", "default", "graph"]))
        if dialect == "dataset" and place == "window":
            place = "default"
        if place == "window" and dialect == "cqels":
            body.append(f"STREAM <{stream}> [{draw(kind)}] {{ {block} }}")
        elif place == "window" and dialect == "csparql":
            clauses.append(f"FROM STREAM <{stream}> [{draw(kind)}]")
            body.append(f"{{ {block} }}")
        elif place == "window":
            clauses.append(f"FROM NAMED WINDOW <{NAMESPACE}w{number}> ON <{stream}> [{draw(kind)}]")
            body.append(f"WINDOW <{NAMESPACE}w{number}> {{ {block} }}")
        elif place == "default":
            body.append(f"{{ {block} }}")
        else:
            body.append(f"GRAPH <{GRAPHS[1]}> {{ {block} }}")
    if draw(st.integers(0, 2)) == 0:
        body.append(f"FILTER({draw(filters)})")
    return f"{head} {' '.join(clauses)} WHERE {{ {' '.join(body)} }}"


triples = st.tuples(st.sampled_from(NODES[:3]), st.sampled_from(PREDICATES), st.sampled_from(NODES[:3] + NUMBERS)).map(
    lambda t: " ".join(t) + " ."
)


@st.composite
def timelines(draw: st.DrawFn, lateness_ms: int) -> tuple[Step, ...]:
    now = draw(st.integers(-2, 2))
    steps = []
    for _ in range(draw(st.integers(1, 12))):
        now += draw(st.sampled_from([0, 0, 1, 1, 2, 5]))
        at_ms = now - draw(st.integers(0, lateness_ms + 1)) if lateness_ms else now - draw(st.sampled_from([0] * 9 + [1]))
        call = draw(st.sampled_from(["push"] * 5 + ["insert", "insert", "delete", "advance"]))
        target: str | None = None
        some: tuple[str, ...] = ()
        if call == "push":
            target = draw(st.sampled_from(STREAMS))
            some = tuple(draw(st.lists(triples, min_size=0 if draw(st.integers(0, 9)) == 0 else 1, max_size=3)))
        elif call in ("insert", "delete"):
            target = draw(st.sampled_from(GRAPHS))
            some = tuple(draw(st.lists(triples, min_size=1, max_size=3)))
        else:
            at_ms = now
        steps.append(Step(call, target, some, at_ms))
    return tuple(steps)


@st.composite
def scenarios(draw: st.DrawFn, texts: st.SearchStrategy[str] | None = None) -> Scenario:
    lateness_ms = draw(st.sampled_from([0, 0, 0, 2]))
    output = draw(st.sampled_from([None, "istream", "dstream", "rstream", "changes", "changes"]))
    text = draw(queries() if texts is None else texts)
    return Scenario(text, output, lateness_ms, draw(st.sampled_from([0, 0, 1])), draw(timelines(lateness_ms)))


# Sessions ---------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Register:
    """A query comes."""

    query: str
    output: str | None


@dataclass(frozen=True)
class Close:
    """The query that was registered at this place goes."""

    place: int


@dataclass(frozen=True)
class Session:
    lateness_ms: int
    t0_ms: int
    loaded: tuple[tuple[str | None, tuple[str, ...]], ...]
    """What the graphs hold before anything happens."""
    steps: tuple[Step | Register | Close, ...]


@st.composite
def sessions(draw: st.DrawFn, texts: st.SearchStrategy[str] | None = None) -> Session:
    lateness_ms = draw(st.sampled_from([0, 0, 0, 2]))
    loaded = [(graph, tuple(draw(st.lists(triples, max_size=4)))) for graph in GRAPHS]
    outputs = st.sampled_from([None, "istream", "dstream", "rstream", "changes"])
    steps: list[Step | Register | Close] = []
    registered = 0
    for step in draw(timelines(lateness_ms)):
        if draw(st.integers(0, 3)) == 0 or not registered:
            steps.append(Register(draw(queries() if texts is None else texts), draw(outputs)))
            registered += 1
        if draw(st.integers(0, 9)) == 0:
            steps.append(Close(draw(st.integers(0, registered - 1))))
        steps.append(step)
    return Session(lateness_ms, draw(st.sampled_from([0, 0, 1])), tuple(loaded), tuple(steps))
