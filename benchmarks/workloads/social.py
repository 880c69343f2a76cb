"""A social network after LSBench and the LDBC's SNB: who writes, answers, likes, shows photos and is where, among friends.

Persons and friendships are at rest. Activities are one stream, or one for each kind as LSBench has them; `weekly` puts the
activities of a week into one large graph. Friends stand at fixed distances on a ring, so that any part of the network can be
made without the rest; comments and likes concern recent posts, mostly by friends of their author.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from itertools import count

import numpy as np

from benchmarks.workloads.elements import Element, Graph, Workload, up_to
from benchmarks.workloads.patterns import TYPE, XSD, Patterns, body, windowed

STREAM = "http://example.org/activities"
STREAMS = {kind: f"http://example.org/{kind}" for kind in ("posts", "likes", "photos", "gps")}
PERSONS = 1_000
GAP_MS = 1_000
WEEK_MS = 7 * 24 * 3_600_000
A_PERSON = 28
"""Triples at rest."""
A_WEEK = 100
"""Triples of a person's activities."""
_SN = "http://www.ldbc.eu/ldbc_socialnet/1.0/"
_VOC = _SN + "vocabulary/"
_BLOCK = 4_096
_RECENT = 128
_DISTANCES = (1, 2, 3, 5, 11, 29, 71, 173, 307, 431)
_WORDS = "river stone music garden market winter train paper light story coffee mountain bridge letter summer game".split()
_CONTENT = [" ".join(_WORDS[(k * j + j * j) % 16] for j in range(1, 4 + k % 9)) for k in range(500)]
_BROWSERS = ("Firefox", "Chrome", "Safari", "Opera")
_PLACES, _TAGS = 60, 300
_BEGIN = np.datetime64("2010-01-01T00:00:00", "s")


def v(name: str) -> str:
    """A term of SNB's vocabulary."""
    return f"<{_VOC}{name}>"


def person(number: int) -> str:
    return f"<{_SN}data/pers{number}>"


def friends(number: int, persons: int) -> list[int]:
    """Everyone's friends, each the other's."""
    found = {(number + step) % persons for step in _DISTANCES} | {(number - step) % persons for step in _DISTANCES}
    return sorted(found - {number})


STAR: Patterns = [
    ("?post", TYPE, v("Post")),
    ("?post", v("id"), "?id"),
    ("?post", v("creationDate"), "?created"),
    ("?post", v("hasCreator"), "?creator"),
    ("?post", v("content"), "?content"),
    ("?post", v("isLocatedIn"), "?place"),
    ("?place", v("name"), "?placeName"),
    ("?post", v("hasTag"), "?tag"),
    ("?post", v("browserUsed"), "?browser"),
    ("?post", v("locationIP"), "?address"),
    ("?post", v("language"), "?language"),
    ("?post", v("length"), "?length"),
    ("?forum", v("containerOf"), "?post"),
    ("?tag", v("name"), "?tagName"),
]
"""All of a post; any first part of it is a query as well."""
PATTERNS: dict[str, Patterns] = {
    "star": STAR[:8],
    "chain": [
        ("?liker", v("position"), "?where"),
        ("?liker", v("likes"), "?like"),
        ("?like", v("hasPost"), "?post"),
        ("?comment", v("replyOf"), "?post"),
        ("?comment", v("hasCreator"), "?author"),
        ("?photo", v("usertag"), "?author"),
        ("?photo", v("isLocatedIn"), "?place"),
        ("?place", v("name"), "?name"),
    ],
    "complex": [
        ("?comment", v("replyOf"), "?post"),
        ("?comment", v("hasCreator"), "?friend"),
        ("?post", v("hasCreator"), "?author"),
        ("?post", v("hasTag"), "?tag"),
        ("?tag", v("name"), "?name"),
        ("?friend", v("likes"), "?like"),
        ("?like", v("hasPost"), "?post"),
    ],
}
KNOWS: Patterns = [("?author", v("knows"), "?friend")]
"""The eighth pattern of the complex query, over the friendships at rest."""


def queries(window: str = "RANGE 10m") -> dict[str, str]:
    """Eight patterns each; the complex one goes round a cycle through the friendships."""
    found = {name: windowed(patterns, window, STREAM) for name, patterns in PATTERNS.items()}
    return found | {"complex": windowed(PATTERNS["complex"], window, STREAM, body(KNOWS))}


def apart_queries(window: str = "RANGE 10m", who: int = 7) -> dict[str, str]:
    """Over the streams apart, after LSBench: what someone posts, what friends post with which tags, whose friends like."""

    def block(kind: str, patterns: Patterns) -> str:
        return f"STREAM <{STREAMS[kind]}> [{window}] {{ {body(patterns)} }}"

    posts: Patterns = [("?post", v("hasCreator"), "?friend"), ("?post", v("hasTag"), "?tag")]
    likes: Patterns = [("?liker", v("likes"), "?like"), ("?like", v("hasPost"), "?post")]
    known, mutual = body([(person(who), v("knows"), "?friend")]), body([("?friend", v("knows"), "?liker")])
    return {
        "posts": f"SELECT * WHERE {{ {block('posts', [('?post', v('hasCreator'), person(who))])} }}",
        "tags": f"SELECT * WHERE {{ {block('posts', posts)} {known} }}",
        "likes": f"SELECT * WHERE {{ {block('posts', posts)} {block('likes', likes)} {known} {mutual} }}",
    }


def background(triples: int) -> dict[str | None, Graph]:
    """Persons with their friendships, in the default graph."""
    return {None: people(max(triples // A_PERSON, PERSONS))}


def people(persons: int) -> Iterator[str]:
    for n in range(persons):
        s = person(n)
        knows = "".join(f"{s} {v('knows')} {person(friend)} .\n" for friend in friends(n, persons))
        yield (
            f"{s} {TYPE} {v('Person')} .\n"
            f'{s} {v("id")} "{n}"^^<{XSD}integer> .\n'
            f'{s} {v("firstName")} "{_WORDS[n % 16].title()}" .\n'
            f'{s} {v("lastName")} "{_WORDS[n // 16 % 16].title()}" .\n'
            f'{s} {v("gender")} "{("female", "male")[n % 2]}" .\n'
            f'{s} {v("browserUsed")} "{_BROWSERS[n % 4]}" .\n'
            f'{s} {v("speaks")} "en" .\n'
            f"{s} {v('isLocatedIn')} {_place(n % _PLACES)} .\n{knows}"
        )


def _place(number: int) -> str:
    return f"<{_SN}place/{number}>"


def elements(triples: int, seed: int = 3, persons: int = PERSONS, apart: bool = False) -> Iterator[Element]:
    """Activities in order of time, one a second."""
    return up_to(activities(seed, persons, apart), triples)


def weekly(triples: int, seed: int = 3) -> Iterator[Element]:
    """Graphs of so many triples, the activities of a week in each.

    The network grows with what happens in it, or everybody would have done everything and answers would grow like the
    third power of the graph: somebody has a hundred triples a week, as in a graph of 3 M among 30,000 persons.
    """
    rest = activities(seed, max(PERSONS, triples // A_WEEK))
    for week in count():
        yield Element(STREAM, week * WEEK_MS, "".join(element.text for element in up_to(rest, triples)))


def activities(seed: int = 3, persons: int = PERSONS, apart: bool = False) -> Iterator[Element]:
    """Everything that happens, without an end."""
    random = np.random.default_rng(seed)
    posts: deque[tuple[int, int]] = deque([(0, 0)], _RECENT)
    comments: deque[tuple[int, int]] = deque([(0, 1)], _RECENT)
    for first in range(0, 1 << 62, _BLOCK):
        number = np.arange(first, first + _BLOCK)
        created = np.datetime_as_string(_BEGIN + number * GAP_MS // 1000).tolist()
        kinds = np.searchsorted((0.25, 0.55, 0.80, 0.88), random.random(_BLOCK)).tolist()
        who, other = random.integers(0, persons, (2, _BLOCK)).tolist()
        back, any_id = random.integers(0, 1 << 30, (2, _BLOCK)).tolist()
        for n, when, kind, author, someone, k, x in zip(
            number.tolist(), created, kinds, who, other, back, any_id, strict=True
        ):
            if kind == 0:
                text, stream = _post(n, when, author, x), "posts"
                posts.append((n, author))
            elif kind == 1:
                post, writer = posts[k % len(posts)]
                answerer = (writer + _DISTANCES[x % 10]) % persons if k & 4096 else author
                text, stream = _comment(n, when, answerer, post, x), "posts"
                comments.append((post, answerer))
            elif kind == 2:
                post, liker = comments[k % len(comments)] if k & 4096 else (posts[k % len(posts)][0], author)
                text, stream = _like(n, when, liker, post), "likes"
            elif kind == 3:
                text, stream = _photo(n, when, author, someone, x), "photos"
            else:
                text, stream = _position(n, when, author, x), "gps"
            yield Element(STREAMS[stream] if apart else STREAM, n * GAP_MS, text)


def _message(s: str, n: int, when: str, author: int, x: int) -> str:
    """What posts, comments and photos have in common: eight triples."""
    at, place = x % _PLACES, f"<{_SN}place/{x % _PLACES}>"
    return (
        f'{s} <{_VOC}id> "{n}"^^<{XSD}integer> .\n'
        f'{s} <{_VOC}creationDate> "{when}Z"^^<{XSD}dateTime> .\n'
        f"{s} <{_VOC}hasCreator> <{_SN}data/pers{author}> .\n"
        f'{s} <{_VOC}browserUsed> "{_BROWSERS[x % 4]}" .\n'
        f'{s} <{_VOC}locationIP> "10.{x % 200}.{x % 251}.{x % 241}" .\n'
        f"{s} <{_VOC}isLocatedIn> {place} .\n"
        f'{place} <{_VOC}name> "Place {at}" .\n'
    )


def _post(n: int, when: str, author: int, x: int) -> str:
    s, content, tag = f"<{_SN}data/post{n}>", _CONTENT[x % 500], x // 7 % _TAGS
    return _message(s, n, when, author, x) + (
        f"{s} {TYPE} <{_VOC}Post> .\n"
        f'{s} <{_VOC}content> "{content}" .\n'
        f'{s} <{_VOC}length> "{len(content)}"^^<{XSD}integer> .\n'
        f'{s} <{_VOC}language> "en" .\n'
        f"{s} <{_VOC}hasTag> <{_SN}tag/{tag}> .\n"
        f'<{_SN}tag/{tag}> <{_VOC}name> "Tag {tag}" .\n'
        f"<{_SN}data/forum{author}> <{_VOC}containerOf> {s} .\n"
    )


def _comment(n: int, when: str, author: int, post: int, x: int) -> str:
    s, content = f"<{_SN}data/comm{n}>", _CONTENT[x % 500]
    return _message(s, n, when, author, x) + (
        f"{s} {TYPE} <{_VOC}Comment> .\n"
        f'{s} <{_VOC}content> "{content}" .\n'
        f'{s} <{_VOC}length> "{len(content)}"^^<{XSD}integer> .\n'
        f"{s} <{_VOC}replyOf> <{_SN}data/post{post}> .\n"
    )


def _photo(n: int, when: str, author: int, shown: int, x: int) -> str:
    s = f"<{_SN}data/phot{n}>"
    return _message(s, n, when, author, x) + (
        f"{s} {TYPE} <{_VOC}Photo> .\n"
        f'{s} <{_VOC}imageFile> "photo{n}.jpg" .\n'
        f"{s} <{_VOC}usertag> <{_SN}data/pers{shown}> .\n"
        f"<{_SN}data/albm{author}> <{_VOC}containerOf> {s} .\n"
    )


def _like(n: int, when: str, liker: int, post: int) -> str:
    s = f"<{_SN}data/like{n}>"
    return (
        f"<{_SN}data/pers{liker}> <{_VOC}likes> {s} .\n"
        f"{s} <{_VOC}hasPost> <{_SN}data/post{post}> .\n"
        f'{s} <{_VOC}creationDate> "{when}Z"^^<{XSD}dateTime> .\n'
    )


def _position(n: int, when: str, who: int, x: int) -> str:
    s = f"<{_SN}data/gps{n}>"
    return (
        f"<{_SN}data/pers{who}> <{_VOC}position> {s} .\n"
        f'{s} <{_VOC}latitude> "{x % 900000 / 10000 + 0.00001:.5f}"^^<{XSD}decimal> .\n'
        f'{s} <{_VOC}longitude> "{x % 1790000 / 10000 + 0.00001:.5f}"^^<{XSD}decimal> .\n'
        f'{s} <{_VOC}creationDate> "{when}Z"^^<{XSD}dateTime> .\n'
    )


SOCIAL_WORKLOAD = Workload("social", queries(), elements, background)
