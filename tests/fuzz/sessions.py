"""Sessions of all features against the reference evaluator, and the same queries in the cells of a job.

What fails can be made smaller: `python -m tests.fuzz.sessions SEED`.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Any

from millstream import Engine
from millstream.errors import MillstreamError
from tests.engine import any_query
from tests.engine.any_query import Chronicler
from tests.engine.machines import forget_all_that_may_be, run_session
from tests.engine.scenarios import NODES, PREDICATES, Session
from tests.fuzz.shrinking import shrunk, told
from tests.pipeline.simulation import Element
from tests.pipeline.state.test_any_query_simulated import TimedAuthor
from tests.pipeline.state.test_cells_simulated import SOURCES, Setting, expected, simulated

WRITERS = (any_query.write_session, any_query.write_session, any_query.write_families, any_query.write_sharing)
AFTER_EACH: tuple[Callable[[Engine], Engine | None], ...] = (
    lambda engine: None,
    lambda engine: None,
    forget_all_that_may_be,
    lambda engine: Engine.restore(engine.snapshot()),
)


def some_session(chance: Random) -> Session:
    writer = chance.choice(WRITERS)
    return writer(chance.randrange, chance.choice([1, 2, 2, 3]), chance.choice([4, 8, 8, 16]))


def _run_session(session: Session, chance: Random) -> None:
    options: dict[str, Any] = {name: False for name in ("summary", "lazy", "adaptive") if chance.random() < 0.1}
    run_session(session, chance.choice(AFTER_EACH), take_each=chance.random() < 0.5, **options)


def sessions(chance: Random) -> None:
    """Every query answers as recomputed, whatever else runs, whatever is done to the engine in between."""
    _run_session(some_session(chance), chance)


def cells(chance: Random) -> None:
    """A query that can be spread answers in cells as in one engine, for every cut into triggers, whatever dies."""
    setting = _setting(chance)
    try:
        job = simulated(
            setting,
            chance.choice([1, 2, 3, 4, 8]),
            chance.randrange(1 << 30),
            [chance.randrange(5) for _ in range(chance.randrange(6))],
            ends=chance.randrange(4),
        )
    except MillstreamError:
        return
    if job is not None:
        found, wanted = Counter(job.answers), expected(setting)[0]
        assert found == wanted, f"{setting}: more {found - wanted}, less {wanted - found}"


def _setting(chance: Random) -> Setting:
    chronicler = Chronicler(chance.randrange)
    lateness_ms = chance.choice([0, 0, 2])
    sources = SOURCES[: chance.choice([1, 2, 3, 4])]
    elements = []
    for source in sources:
        now, found = chance.randrange(-3, 4), []
        for _ in range(chance.randrange(13)):
            now += chance.choice([0, 0, 1, 1, 2, 5])
            at_ms = now - (chance.randrange(4) if lateness_ms or chance.random() < 0.15 else 0)
            op = chance.choice([1, 1, -1]) if source.changes else 1
            found.append(Element(tuple(dict.fromkeys(chronicler.without_blanks(1, 3))) or (_SOME,), at_ms, op))
        elements.append(tuple(found))
    text = TimedAuthor(chance.randrange).query(chance.choice([1, 2]))
    output = chance.choice([None, "istream", "dstream", "rstream", "changes", "changes"])
    return Setting(text, output, lateness_ms, chronicler.without_blanks(0, 4), tuple(sources), tuple(elements))


_SOME = f"{NODES[0]} {PREDICATES[0]} {NODES[1]} ."


def main(seed: int) -> None:
    """Shows the smallest session that fails in the way that a seed does."""
    chance = Random(seed)
    session = some_session(chance)
    rest = chance.getstate()

    def run(smaller: Session) -> str:
        again = Random()
        again.setstate(rest)
        try:
            _run_session(smaller, again)
        except AssertionError as error:
            return str(error) or "an assertion"
        except Exception as error:
            return "" if isinstance(error, MillstreamError | IndexError | StopIteration) else repr(error)
        return ""

    print(told(session := shrunk(session, lambda smaller: bool(run(smaller)))))
    print(run(session))


if __name__ == "__main__":
    main(int(sys.argv[1]))
