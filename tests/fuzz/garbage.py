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
    found = b"".join(parts)
    return damaged(chance, found) if chance.random() < 0.5 else found


def damaged(chance: Random, whole: bytes) -> bytes:
    """The same bytes with a few others, some missing, some more, some twice; or cut off."""
    found = bytearray(whole)
    for _ in range(chance.choice([1, 1, 1, 3, 8])):
        if not found:
            break
        at = chance.randrange(len(found))
        match chance.randrange(7):
            case 0:
                found[at] = chance.randrange(256)
            case 1:
                found[at] ^= 1 << chance.randrange(8)
            case 2:
                del found[at : at + chance.choice([1, 1, 4, 30])]
            case 3:
                found[at:at] = chance.choice(PIECES)
            case 4:
                size, to = chance.choice([1, 8, 60]), chance.randrange(len(found))
                found[to:to] = found[at : at + size]
            case 5:
                found[at : at + 8] = chance.choice(NUMBERS).to_bytes(8, chance.choice(["little", "big"]), signed=True)[
                    : chance.choice([1, 2, 4, 8])
                ]
            case _ if chance.random() < 0.3:
                del found[at:]
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


def check_told(error: Exception) -> None:
    """What is raised on purpose can be shown to people."""
    assert 0 < len(str(error)) < 5000
