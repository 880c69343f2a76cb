"""Random queries that construct streams, and others that read them: chains and forks, no circles."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from tests.engine.any_query import NAMED, OUTPUTS, Author, Choose, Chronicler, Place, chooser
from tests.engine.scenarios import NAMESPACE, NODES, PREDICATES, STREAMS, Close, Register, Session, Step


class FeedingAuthor(Author):
    """Writes a query that may read what others construct, and constructs a stream if it has a name for it.

    Mostly it has answers, also when there is nothing in its windows: what is answered at every instant may never end.
    """

    def __init__(self, choose: Choose, fed: list[str], name: str | None) -> None:
        super().__init__(choose)
        self.streams = [*STREAMS, *fed * 4]
        self.name = name
        self.steps_only = not self.chance(3) if name is not None else self.chance(3)
        self.is_plain = not self.chance(5)
        if self.dialect != "cqels" and (self.is_plain or self.dialect == "dataset"):
            self.dialect = "cqels"

    def form(self, place: Place) -> str:
        if self.name is None:
            return super().form(place)
        return f"REGISTER {self.one('RSTREAM', 'RSTREAM', 'ISTREAM')} <{self.name}> AS {self.construct(place)}"

    def triple(self, blank: str) -> str:
        return f"?a {self.one(*PREDICATES)} {self.one('?b', '?b', '?c')}" if self.is_plain else super().triple(blank)

    def seen(self) -> str:
        return f"STREAM <{self.one(*self.streams)}> [{self.window()}] {{ ?a {self.one(*PREDICATES, '?p')} ?b }}"

    def group(self, place: Place, first: Sequence[str] = ()) -> str:
        if not self.is_plain:
            return super().group(place, first)
        known = f"?a {self.one(*PREDICATES)} ?b"
        match self.one("seen", "counted", "counted", "or known", "missed", "both"):
            case "counted":
                return f"{{ SELECT ({NODES[0]} AS ?a) (COUNT(*) AS ?b) {{ {self.seen()} }} }}"
            case "or known":
                return f"{{ {self.seen()} }} UNION {{ {known} }}"
            case "missed":
                return f"{known} FILTER NOT EXISTS {{ {self.seen()} }}"
            case "both":
                return f"{self.seen()} {self.seen()}"
            case _:
                return self.seen()


def write_feeding(choose: Choose, depth: int = 1, most: int = 7) -> Session:
    """A session in which each query may read what those before it construct, whichever of them is registered first."""
    chronicler = Chronicler(choose)
    lateness_ms, t0_ms = chronicler.one(0, 0, 0, 2), chronicler.one(0, 0, 1)
    fed: list[str] = []
    texts: list[Register] = []
    for number in range(chronicler.size(2, 4)):
        name = f"{NAMESPACE}fed{number}" if number == 0 or chronicler.chance(2) else None
        text = FeedingAuthor(choose, fed, name).query(depth)
        texts.append(Register(text, None if name is not None else chronicler.one(*OUTPUTS)))
        if name is not None:
            fed.append(name)
    # What is constructed at registration has the time of the clock, which is one once something has happened.
    steps: list[Step | Register | Close] = [
        *(Step("insert", graph, chronicler.triples(1, 4), -10) for graph in (None, *NAMED)),
        texts.pop(chronicler.choose(len(texts))),
    ]
    registered = 1
    for step in chronicler.steps(most, lateness_ms):
        while texts and not chronicler.chance(6):
            steps.append(texts.pop(chronicler.choose(len(texts))))
            registered += 1
        if chronicler.chance(12):
            steps.append(Close(chronicler.choose(registered)))
        steps.append(step)
    return Session(lateness_ms, t0_ms, (), tuple(steps))


@st.composite
def feeding_sessions(draw: st.DrawFn, depth: int = 1) -> Session:
    return write_feeding(chooser(draw), depth)
