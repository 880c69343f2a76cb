"""Messages of several portions are the columns that one portion of them would be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from millstream.connect.kafka.gathering import Gathering
from millstream.ingest.messages import Lane


@dataclass(frozen=True)
class _Message:
    """What a consumer gives, as far as it is asked."""

    number: int

    def offset(self) -> int:
        return 100 + self.number

    def value(self) -> bytes | None:
        return None if self.number % 5 == 0 else b"v%d" % self.number

    def key(self) -> bytes | None:
        return b"k%d" % self.number if self.number % 3 else None

    def timestamp(self) -> tuple[int, int]:
        return (0, 7) if self.number % 4 == 0 else (1, self.number)

    def headers(self) -> list[tuple[str, bytes]] | None:
        return [("n", b"%d" % self.number)] if self.number % 2 else None


def _columns(cuts: list[int]) -> list[Any]:
    gathering = Gathering()
    for first, last in zip([0, *cuts], [*cuts, 12], strict=True):
        gathering.add([number % 2 for number in range(first, last)], [_Message(number) for number in range(first, last)])
    found = gathering.messages([Lane("t", 0), Lane("t", 1)])
    keys, headers = [found.key_of(i) for i in range(12)], [list(found.headers_of(i)) for i in range(12)]
    return [found.lane.tolist(), found.offset.tolist(), list(found.values), found.at_ms.tolist(), keys, headers]


def test_cuts_into_portions_change_nothing() -> None:
    assert _columns([]) == _columns([1]) == _columns([1, 2, 7]) == _columns([0, 6, 6])


def test_each_message_keeps_its_key_headers_and_time() -> None:
    _, offsets, values, at_ms, keys, headers = _columns([5])
    assert offsets == list(range(100, 112))
    assert values[4:7] == [b"v4", None, b"v6"]
    assert at_ms[4:7] == [-1, 5, 6]
    assert keys[5:8] == [b"k5", None, b"k7"]
    assert headers[6:8] == [[], [("n", b"7")]]
