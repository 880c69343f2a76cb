"""The LDBC's own social network: the update stream and the persons of the suite `ldbc-snb`, in the words of `social`.

The queries of `social` run over it. The stream names places and tags by numbers only, so these are their names.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator
from datetime import UTC, datetime

import pyoxigraph as ox

from benchmarks.workloads.elements import Element, up_to
from benchmarks.workloads.patterns import TYPE, XSD
from benchmarks.workloads.social import STREAM, person, v
from benchmarks.workloads.suites import at_hand as suite_at_hand
from benchmarks.workloads.suites import suites

SUITE = "ldbc-snb"
_SN = "http://www.ldbc.eu/ldbc_socialnet/1.0/"


def at_hand() -> bool:
    return suite_at_hand(SUITE)


def elements(triples: int) -> Iterator[Element]:
    """Events that say something about posts, comments, likes, photos and friendships, at the times they have."""
    text = gzip.decompress((suites() / SUITE / "updateStream_0_0_forum.csv.gz").read_bytes()).decode()
    return up_to(_events(text), triples)


def _events(text: str) -> Iterator[Element]:
    for line in text.splitlines():
        at_ms, _, kind, *fields = line.split("|")
        if kind in _KINDS:
            yield Element(STREAM, int(at_ms), _KINDS[kind](fields))


def people() -> Iterator[str]:
    """Persons and who knows whom, both ways; the suite has friendships as nodes of their own."""
    data = gzip.decompress((suites() / SUITE / "social_network_person_0_0.ttl.gz").read_bytes())
    begun: dict[str, str] = {}
    for quad in ox.parse(data, format=ox.RdfFormat.TURTLE):
        predicate = quad.predicate.value.rpartition("/")[2]
        if predicate == "knows":
            begun[str(quad.object)] = _number(quad.subject)
        elif predicate == "hasPerson":
            one, other = person(int(begun[str(quad.subject)])), person(int(_number(quad.object)))
            yield f"{one} {v('knows')} {other} .\n{other} {v('knows')} {one} .\n"
        elif predicate in ("firstName", "lastName"):
            yield f"{person(int(_number(quad.subject)))} {v(predicate)} {quad.object} .\n"


def _number(term: object) -> str:
    return str(term).rpartition("pers")[2].rstrip(">")


def _when(milliseconds: str) -> str:
    moment = datetime.fromtimestamp(int(milliseconds) / 1000, UTC)
    return f'"{moment:%Y-%m-%dT%H:%M:%S}Z"^^<{XSD}dateTime>'


def _literal(text: str) -> str:
    return str(ox.Literal(text))


def _message(s: str, kind: str, number: str, created: str, address: str, browser: str, author: str, country: str) -> str:
    place = f"<{_SN}place/{country}>"
    return (
        f"{s} {TYPE} {v(kind)} .\n"
        f'{s} {v("id")} "{number}"^^<{XSD}integer> .\n'
        f"{s} {v('creationDate')} {_when(created)} .\n"
        f"{s} {v('hasCreator')} {person(int(author))} .\n"
        f"{s} {v('browserUsed')} {_literal(browser)} .\n"
        f"{s} {v('locationIP')} {_literal(address)} .\n"
        f"{s} {v('isLocatedIn')} {place} .\n"
        f'{place} {v("name")} "Place {country}" .\n'
    )


def _tags(s: str, numbers: str) -> str:
    found = numbers.split(";") if numbers else []
    return "".join(
        f'{s} {v("hasTag")} <{_SN}tag/{n}> .\n<{_SN}tag/{n}> {v("name")} "Tag {n}" .\n' for n in dict.fromkeys(found)
    )


def _post(fields: list[str]) -> str:
    number, image, created, address, browser, language, content, length, author, forum, country, tags = fields
    s = f"<{_SN}data/post{number}>"
    shown = (
        f"{s} {v('imageFile')} {_literal(image)} .\n"
        if image
        else f"{s} {v('content')} {_literal(content)} .\n{s} {v('language')} {_literal(language)} .\n"
    )
    return (
        _message(s, "Photo" if image else "Post", number, created, address, browser, author, country)
        + f'{shown}{s} {v("length")} "{length}"^^<{XSD}integer> .\n'
        + f"<{_SN}data/forum{forum}> {v('containerOf')} {s} .\n"
        + _tags(s, tags)
    )


def _comment(fields: list[str]) -> str:
    number, created, address, browser, content, length, author, country, post, comment, tags = fields
    s, answered = f"<{_SN}data/comm{number}>", f"post{post}" if post != "-1" else f"comm{comment}"
    return (
        _message(s, "Comment", number, created, address, browser, author, country)
        + f'{s} {v("content")} {_literal(content)} .\n{s} {v("length")} "{length}"^^<{XSD}integer> .\n'
        + f"{s} {v('replyOf')} <{_SN}data/{answered}> .\n"
        + _tags(s, tags)
    )


def _like_of(kind: str, predicate: str) -> Callable[[list[str]], str]:
    def like(fields: list[str]) -> str:
        who, number, created = fields
        s = f"<{_SN}data/like{who}-{number}>"
        return (
            f"{person(int(who))} {v('likes')} {s} .\n"
            f"{s} {v(predicate)} <{_SN}data/{kind}{number}> .\n"
            f"{s} {v('creationDate')} {_when(created)} .\n"
        )

    return like


def _friends(fields: list[str]) -> str:
    one, other = person(int(fields[0])), person(int(fields[1]))
    return f"{one} {v('knows')} {other} .\n{other} {v('knows')} {one} .\n"


_KINDS: dict[str, Callable[[list[str]], str]] = {
    "2": _like_of("post", "hasPost"),
    "3": _like_of("comm", "hasComment"),
    "6": _post,
    "7": _comment,
    "8": _friends,
}
