"""A session that fails, made smaller as long as it still does: fewer steps, fewer queries, fewer triples."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from tests.engine.scenarios import Close, Register, Session, Step

Steps = tuple[Step | Register | Close, ...]


def shrunk(session: Session, fails: Callable[[Session], bool]) -> Session:
    """The smallest that taking away one thing after another comes to."""
    while True:
        smaller = next((other for other in _smaller(session) if fails(other)), None)
        if smaller is None:
            return session
        session = smaller


def _smaller(session: Session) -> Iterator[Session]:
    if session.loaded:
        yield replace(session, loaded=())
    for place in range(len(session.loaded)):
        yield replace(session, loaded=session.loaded[:place] + session.loaded[place + 1 :])
    for place in range(len(session.steps)):
        yield replace(session, steps=_without(session.steps, place))
    for place, (graph, triples) in enumerate(session.loaded):
        for fewer in _fewer(triples):
            yield replace(session, loaded=(*session.loaded[:place], (graph, fewer), *session.loaded[place + 1 :]))
    for place, step in enumerate(session.steps):
        if isinstance(step, Step):
            for fewer in _fewer(step.triples):
                changed = replace(step, triples=fewer)
                yield replace(session, steps=(*session.steps[:place], changed, *session.steps[place + 1 :]))


def _fewer(triples: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    for place in range(len(triples)):
        yield triples[:place] + triples[place + 1 :]


def _without(steps: Steps, place: int) -> Steps:
    """The steps without one; what closes a query that is not there any more goes as well."""
    left: list[Step | Register | Close] = list(steps[:place] + steps[place + 1 :])
    if isinstance(steps[place], Register):
        gone = sum(isinstance(step, Register) for step in steps[:place])
        left = [step for step in left if step != Close(gone)]
        left = [Close(s.place - 1) if isinstance(s, Close) and s.place > gone else s for s in left]
    return tuple(left)


def told(session: Session) -> str:
    """A session as text that a test can be made of."""
    lines = [f"lateness_ms={session.lateness_ms}, t0_ms={session.t0_ms}"]
    lines += [f"loaded {graph}: {' '.join(triples)}" for graph, triples in session.loaded]
    return "\n".join([*lines, *map(repr, session.steps)])
