"""Commands: everything that changes what a server holds, as plain values that can be logged and applied again.

Applying the same commands in the same order to the same state gives the same answers with the same ids. So a command
carries what would otherwise be different the second time: the clock on the wall, and (by its number) the names of blank
nodes.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

_LENGTHS = struct.Struct("<II")

REGISTER, CLOSE, PUSH, CHUNK, ADVANCE = "register", "close", "push", "chunk", "advance"
PUT, POST, DROP, UPDATE = "put", "post", "drop", "update"
OF_DATASETS = frozenset((PUT, POST, DROP, UPDATE))
"""Commands that change graphs."""


@dataclass(frozen=True, slots=True)
class Command:
    """What is to be done, its options, and the body that came with it."""

    op: str
    options: dict[str, Any] = field(default_factory=dict)
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class Numbered:
    """A command with its place among all of them."""

    number: int
    command: Command


def packed(commands: Iterable[Numbered]) -> bytes:
    """Commands as bytes."""
    parts = []
    for numbered in commands:
        command = numbered.command
        head = json.dumps([numbered.number, command.op, command.options], ensure_ascii=False).encode()
        parts += [_LENGTHS.pack(len(head), len(command.body)), head, command.body]
    return b"".join(parts)


def unpacked(data: bytes) -> Iterator[Numbered]:
    """What was packed."""
    place = 0
    while place < len(data):
        head, body = _LENGTHS.unpack_from(data, place)
        place += _LENGTHS.size
        number, op, options = json.loads(data[place : place + head])
        yield Numbered(number, Command(op, options, bytes(data[place + head : place + head + body])))
        place += head + body
