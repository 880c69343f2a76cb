"""Lanes: what comes out depends on what is in them alone, and a position goes on anywhere."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from millstream.errors import OptionError
from millstream.ingest.lanes import Lanes, LaneState, pack_position, unpack_position
from millstream.ingest.message_reader import MessageReader
from millstream.ingest.messages import Lane, Messages
from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.kernels.scanning.summary import Summary
from millstream.rdf import Rejected

LANES = [Lane("t", 0), Lane("t", 1), Lane("t", 2)]
Content = list[list[tuple[int, int]]]
"""For each lane its messages: a time, and how many lines."""


def values_of(number: int, offset: int, lines: int) -> bytes:
    if lines < 0:
        return b"nonsense"
    return b"".join(b'<http://e/%d> <http://e/%d> "%d" .\n' % (number, offset, line) for line in range(lines))


def expected_of(content: Content) -> list[tuple[int, int, int]]:
    """Elements (lane, offset, line) by the progress of their lane, then by lane."""
    rows = []
    for number, messages in enumerate(content):
        progress = -(1 << 70)
        for offset, (at_ms, lines) in enumerate(messages):
            if lines > 0:
                progress = max(progress, at_ms)
                rows += [(progress, number, offset, line) for line in range(lines)]
    return [row[1:] for row in sorted(rows)]


class Session:
    """Feeds lanes, message by message in an order drawn."""

    def __init__(self, content: Content, position: bytes | None = None, format: str = "ntriples") -> None:
        self.content = content
        self.dictionary = Dictionary()
        self.rejected: list[Rejected] = []
        states = {lane: LaneState(0) for lane in LANES} if position is None else unpack_position(position, "")
        self.lanes = Lanes(MessageReader(format, element="line"), states, None)
        self.next = [states[lane].offset for lane in LANES]
        self.summary: Summary | None = None

    def fetch(self, wanted: list[int]) -> list[tuple[int, int, int]]:
        """So many more messages of each lane at once."""
        rows = []
        for number, count in enumerate(wanted):
            end = min(self.next[number] + count, len(self.content[number]))
            rows += [(number, offset, *self.content[number][offset]) for offset in range(self.next[number], end)]
            self.next[number] = end
            if end == len(self.content[number]):
                self.lanes.end(number)
        given = Messages(
            LANES,
            np.array([row[0] for row in rows], np.int64),
            np.array([row[1] for row in rows], np.int64),
            [values_of(number, offset, lines) for number, offset, _, lines in rows],
            np.array([row[2] for row in rows], np.int64),
            lambda place: None,
            lambda place: (),
        )
        columns = self.lanes.take(given, self.dictionary, self.summary, self.rejected.append)
        found = []
        assert columns.element.tolist() == list(range(columns.elements)) or self.summary is not None
        for triple in columns.triples:
            s, p, o = self.dictionary.texts(triple)
            found.append((int(s[10:-1]), int(p[10:-1]), int(o.strip('"'))))
        self.dictionary.settle()
        return found


CONTENT = st.lists(st.lists(st.tuples(st.integers(0, 20), st.integers(-1, 3)), max_size=6), min_size=3, max_size=3)
STEPS = st.lists(st.lists(st.integers(0, 3), min_size=3, max_size=3), max_size=8)


@settings(max_examples=300)
@given(CONTENT, STEPS, st.sampled_from(["ntriples", "turtle"]))
def test_any_way_of_fetching_gives_the_same(content: Content, steps: list[list[int]], format: str) -> None:
    session = Session(content, format=format)
    found = [row for step in [*steps, [9, 9, 9]] for row in session.fetch(step)]
    assert found == expected_of(content)
    assert session.lanes.has_ended
    assert len(session.rejected) == sum(lines < 0 for messages in content for _, lines in messages)


@settings(max_examples=300)
@given(CONTENT, st.lists(STEPS, max_size=4))
def test_a_position_goes_on_anywhere(content: Content, sittings: list[list[list[int]]]) -> None:
    """Also from a position at which nothing was read again of what the one before it held back."""
    position, found, told = None, [], 0
    for steps in [*sittings, [[9, 9, 9]]]:
        session = Session(content, position)
        found += [row for step in steps for row in session.fetch(step)]
        position = pack_position(session.lanes.position())
        told += len(session.rejected)
    assert found == expected_of(content)
    assert told == sum(lines < 0 for messages in content for _, lines in messages)


@settings(max_examples=100)
@given(CONTENT, STEPS, STEPS)
def test_what_waits_is_read_again_for_other_queries(
    content: Content, before: list[list[int]], after: list[list[int]]
) -> None:
    """Nothing is asked for at first: what comes out after somebody asks has all its triples."""
    session = Session(content)
    session.summary = Summary([])
    for step in before:
        session.fetch(step)
    handed_on = len(expected_of(content)) - _left(session, content)
    session.summary = None
    found = [row for step in [*after, [9, 9, 9]] for row in session.fetch(step)]
    assert found == expected_of(content)[handed_on:]


def _left(session: Session, content: Content) -> int:
    """How many elements a position leaves."""
    count = 0
    for number, (lane, messages) in enumerate(zip(LANES, content, strict=True)):
        state = session.lanes.position()[lane]
        count += sum(max(0, lines) for _, lines in messages[state.offset :]) - state.taken
        assert number >= 0
    return count


def feed(lanes: Lanes, dictionary: Dictionary, *rows: tuple[int, int, int]) -> list[int]:
    """Messages (lane, offset, time) of one line; gives the times of what comes out."""
    given = Messages(
        LANES,
        np.array([row[0] for row in rows], np.int64),
        np.array([row[1] for row in rows], np.int64),
        [values_of(number, offset, 1) for number, offset, _ in rows],
        np.array([row[2] for row in rows], np.int64),
        lambda place: None,
        lambda place: (),
    )
    return lanes.take(given, dictionary, None, None).times().tolist()


def test_a_lane_that_comes_later_begins_where_the_others_are() -> None:
    lanes = Lanes(MessageReader("ntriples"), {LANES[0]: LaneState(0), LANES[1]: LaneState(0)}, None)
    dictionary = Dictionary()
    assert feed(lanes, dictionary, (0, 0, 5), (1, 0, 6)) == [5]
    lanes.add(LANES[2], LaneState(0))
    assert feed(lanes, dictionary, (2, 0, 1)) == []
    assert feed(lanes, dictionary, (0, 1, 7)) == [1]
    assert lanes.position()[LANES[2]].progress == 5


def test_a_silent_lane_holds_the_others_back_for_a_while_only() -> None:
    def lanes(idle_s: float | None) -> Lanes:
        return Lanes(MessageReader("ntriples"), {lane: LaneState(0) for lane in LANES[:2]}, idle_s)

    for idle_s, caught_up, found in ((0.0, True, [5]), (0.0, False, []), (60.0, True, []), (None, True, [])):
        some = lanes(idle_s)
        if caught_up:
            some.catch_up(1)
        assert feed(some, Dictionary(), (0, 0, 5)) == found
    some.catch_up(1)
    some.hear(1)
    assert feed(some, Dictionary(), (0, 1, 6)) == []


def test_what_waits_costs_nothing_when_more_comes() -> None:
    """Memory tells: arrays of all that waits would be a megabyte."""
    lanes, dictionary = Lanes(MessageReader("ntriples"), {lane: LaneState(0) for lane in LANES[:2]}, None), Dictionary()
    count = 20_000
    assert feed(lanes, dictionary, *((0, offset, offset) for offset in range(count))) == []
    for offset in range(count, count + 200):
        feed(lanes, dictionary, (0, offset, offset))
    tracemalloc.start()
    try:
        assert feed(lanes, dictionary, (0, count + 200, count + 200)) == []
        assert lanes.waiting(0) == count + 201
        assert feed(lanes, dictionary, (1, 0, 2)) == [0, 1, 2, 2]
        assert lanes.position()[LANES[0]].offset == 3
        assert tracemalloc.get_traced_memory()[1] < 100_000
    finally:
        tracemalloc.stop()
    lanes.end(1)
    assert feed(lanes, dictionary, (0, count + 201, 0)) == [*range(3, count + 201), 0]
    assert lanes.waiting(0) == 0


def test_positions_that_are_none() -> None:
    for data in (b"", b"{}", b"[]", b'{"lanes": [["t", 0, "x", 0, 0, 0]]}', b'{"lanes": [[1, 0, 0, 0, 0, 0]]}'):
        with pytest.raises(OptionError, match="no position"):
            unpack_position(data, "")
