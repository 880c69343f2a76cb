"""What has ended leaves nothing behind, and what waits costs nothing until its time: seen by the size of snapshots."""

from __future__ import annotations

import pytest

from millstream import Engine
from tests.engine.notation import NAMESPACE, S, T, emitted, nt, over

P = f"<{NAMESPACE}p>"


@pytest.mark.parametrize(
    "text",
    [
        f"SELECT * FROM STREAM <{S}> [TRIPLES 5] {{ ?x {P} ?y }}",
        f"SELECT * FROM STREAM <{S}> [RANGE 5] FROM STREAM <{S}> [ELEMENTS 3] {{ ?x {P} ?y }}",
        f"SELECT * {{ STREAM <{S}> [RANGE 5] {{ ?x {P} ?y }} STREAM <{T}> [ALL] {{ ?a {P} ?b }} }}",
        f"SELECT * {{ STREAM <{S}> [RANGE 5] {{ ?x ?p ?y . ?x {P} ?y }} }}",
        over("RANGE 5 STEP 2"),
        over("EVENT"),
        over("LANDMARK 5"),
        over("SESSION 1"),
    ],
    ids=["union", "union of windows", "silent part", "three variables", "step", "event", "landmark", "session"],
)
@pytest.mark.parametrize("output", ["changes", "rstream"])
def test_the_state_does_not_grow_while_ever_new_triples_pass(text: str, output: str) -> None:
    engine = Engine()
    query = engine.register(text, output=output)
    sizes = []
    for i in range(1, 1201):
        engine.push(S, nt(f"a{i} p b"), at_ms=i)
        if i % 600 == 0:
            query.take()
            sizes.append(len(engine.snapshot()))
    assert sizes[1] < 1.3 * sizes[0]


def test_elements_that_wait_for_an_instant_are_not_looked_at_again() -> None:
    engine = Engine()
    query = engine.register(over("RANGE 1h STEP 1h"), output="rstream")
    for i in range(1, 4001):
        engine.push(S, nt(f"a{i} p b"), at_ms=i)
    engine.advance_to(3_600_000)
    assert len(emitted(query)) == 4000
