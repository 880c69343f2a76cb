"""Random texts, bytes and numbers: mostly nearly right, sometimes not at all."""

from __future__ import annotations

from random import Random

PIECES = (
    b"<http://example.org/a>",
    b"<http://example.org/p>",
    b"<rel>",
    b"<http://example.org/\\u00e9>",
    b"<a b>",
    b"_:x",
    b"_:",
    b"_:a.b.",
    b'"text"',
    b'"text"@en-GB',
    b'"text"@en--ltr',
    b'"1"^^<http://www.w3.org/2001/XMLSchema#integer>',
    b'"\\ud800"',
    b'"\\U0010FFFF \\t\\""',
    b'"open',
    b"<open",
    b".",
    b"#comment",
    b"\n",
    b"\r\n",
    b" ",
    b"\t",
    b"\x00",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    "é\u2028\U0001f600".encode(),
    b"<<( <a:b> <a:b> <a:b> )>>",
    b'VERSION "1.2"',
    b"GRAPH <http://example.org/g> {",
    b"A ",
    b"D ",
    b"TX .",
    b"INSERT DATA { <a:s> <a:p> <a:o> }",
    b"@prefix : <http://e/> .",
    b"{",
    b"}",
    b"[",
    b"]",
    b"^^",
    b"@",
)
LINES = (
    b"<http://example.org/a> <http://example.org/p> <http://example.org/b> .\n",
    b'<http://example.org/c> <http://example.org/p> "12"^^<http://www.w3.org/2001/XMLSchema#integer> .\n',
    b"_:x <http://example.org/q> _:y . # a comment\n",
    b'<http://example.org/a> <http://example.org/q> "l\\u00e9"@en <http://example.org/g> .\n',
)
NUMBERS = (0, 1, 2, 3, 5, -1, -2, 1 << 31, 1 << 32, (1 << 62) - 1, 1 << 62, (1 << 63) - 1, -(1 << 62), -(1 << 63))
ANYTHING = (
    None,
    True,
    1,
    1.5,
    "",
    "x",
    b"",
    b"x",
    [],
    {},
    (),
    object(),
    float("nan"),
    1 << 70,
    -(1 << 70),
    "\ud800",
    "http://e/s",
)


def data(chance: Random) -> bytes:
    """N-Triples or N-Quads with anything wrong, or nothing."""
    parts = [chance.choice(LINES) if chance.random() < 0.6 else chance.choice(PIECES) for _ in range(chance.randrange(12))]
    found = bytearray(b"".join(parts))
    for _ in range(chance.choice([0, 0, 1, 3])):
        if found:
            at = chance.randrange(len(found))
            match chance.randrange(3):
                case 0:
                    found[at] = chance.randrange(256)
                case 1:
                    del found[at : at + chance.randrange(1, 9)]
                case _:
                    found[at:at] = chance.choice(PIECES)
    return bytes(found)


def text(chance: Random) -> str:
    return data(chance).decode("utf-8", chance.choice(["replace", "surrogateescape"]))


def cuts(chance: Random, whole: bytes) -> list[bytes]:
    """The same bytes in pieces."""
    pieces = []
    while whole:
        size = chance.choice([1, 2, 5, 30, 1000])
        pieces.append(whole[:size])
        whole = whole[size:]
    return pieces


def number(chance: Random, below: int = 6) -> int:
    return chance.choice(NUMBERS) if chance.random() < 0.1 else chance.randrange(below)
