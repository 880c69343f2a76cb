"""Whatever a SPEC says, it is read or complained about with a place; nothing else is raised."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from millstream.errors import DataError, MillstreamError
from millstream.testing import read_spec

SPEC = """\
prefix : <http://e/>
query
    SELECT CHANGES ?x ?y { STREAM :s [RANGE 10s] { ?x :p ?y } GRAPH :g { ?y :q ?z } }
dataset :g
    :y :q "a" .
lateness 1s
at 1s push :s  :x :p :y .
    :x :p :z .
at 2s insert into :g  :z :q 1 .
at 3s delete from :g  :y :q "a" .
expect at 1s +1 ?x=:x ?y=:y
expect at 3s
    -1 ?x=:x ?y=:y
expect nothing until 9s
at 9s advance
finish
expect late 0
"""
pieces = st.sampled_from(
    ["", " ", "\n", "\n    ", "\t", "#", "'", '"', '"""', "<", ">", "{", "}", ":", "?x=", "+1", "-", "0", ".", ";", "\x00",
     "\ud800", "é", "at", "expect", "query", "9" * 30, "1970-01-01T00:00:00Z", "-5s", "_:b", "[]", "@en", "^^"]
)  # fmt: skip


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(st.integers(0, len(SPEC)), st.integers(0, 12), pieces), min_size=1, max_size=3))
def test_a_garbled_spec_is_read_or_placed(edits: list[tuple[int, int, str]]) -> None:
    text = SPEC
    for place, length, piece in edits:
        text = text[:place] + piece + text[place + length :]
    try:
        timeline = read_spec(text)
    except DataError as error:
        if error.line is None:
            assert "there is no query" in error.reason or "nothing is expected" in error.reason  # noqa: PT017
        else:
            lines = text.split("\n")
            assert 1 <= error.line <= len(lines)  # noqa: PT017
            assert 1 <= (error.column or 0) <= len(lines[error.line - 1]) + 1  # noqa: PT017
        return
    try:
        str(timeline.run())
    except MillstreamError as error:
        assert str(error)  # noqa: PT017
