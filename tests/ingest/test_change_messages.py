"""Messages with changes: read together, where they are plain updates or patches, they are what they are one by one."""

from __future__ import annotations

import gzip
import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from millstream.ingest import change_messages
from millstream.ingest.change_messages import ChangeReader
from millstream.ingest.messages import Lane, Messages
from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.limits import DEFAULT_LIMITS, Limits

A, B = "<http://e/a> <http://e/p> <http://e/b>", '<http://e/a> <http://e/p> "b"@en'
TEXTS = [
    f"INSERT DATA {{ {A} }}",
    f"DELETE DATA {{ {A} . {B} . }} ;\n",
    f"INSERT DATA {{ {A} }} ; DELETE DATA {{ {B} }}",
    "INSERT DATA { }",
    f"INSERT DATA {{ {A} . _:b <http://e/p> 5 }}",
    f"DELETE DATA {{ {A} . _:b <http://e/p> 5 }}",
    f"INSERT DATA {{ GRAPH <http://e/g> {{ {A} }} }}",
    "PREFIX e: <http://e/> INSERT DATA { e:a e:p e:c , e:d } # both",
    f"INSERT DATA {{ {A} ",
    f"INSERT DATA {{ {A} }} and more",
    f"\ufeffINSERT DATA {{ {B} }}",
    "CLEAR ALL",
    " \n",
]
PATCHES = [
    f"A {A} .",
    f"D {A} .\nA {B} <http://e/g> .\n",
    f"TX .\nA {A} .\nD {B} .\nTC .\n",
    f"H id <uuid:1> .\nTX .\nA {A} .\nTA .\nD {A} .\n",
    f"PA e: <http://e/> .\nTX .\nA e:a e:p 'c' .\nA {A} .\nA e:a e:p e:d e:g .\nTC .\nD {B} .\n",
    "A _:b <http://e/p> _:c .\nA _:b <http://e/p> <_:c> .\n",
    f"A {A} .\nA e:a e:p e:c .\nD {B} .\n",
    f"A {B} .\nTX .\nA {A} .\nA <http://e/a> <http://e/p> 5 .\n",
    f"TC .\nA {A} .\nnonsense",
    f"\ufeffA {B} .",
    "# nothing\n",
    " \n",
]
CUT = replace(DEFAULT_LIMITS, statement_bytes=100)


def encoded(
    values: list[bytes | None], at_ms: list[int], strict: bool, format: str = "sparql", limits: Limits = DEFAULT_LIMITS
) -> tuple[list[Any], ...]:
    """The changes of messages with their times and places, what is set aside, and the fault that ends them."""
    numbers = np.arange(len(values))
    messages = Messages(
        [Lane("t", 0)], numbers * 0, numbers, values, np.array(at_ms, np.int64), lambda _: None, lambda _: ()
    )
    dictionary, rejected = Dictionary(), list[Any]()
    reader = ChangeReader(format, limits=limits)
    columns, origin = reader.encode(messages, dictionary, None, None if strict else rejected.append)
    found: list[Any] = [[int(place), int(at)] for place, at in zip(origin, columns.times(), strict=True)]
    for place, sign in enumerate([] if columns.sign is None else columns.sign.tolist()):
        found[place].append(sign)
    graphs = [-1] * len(columns.triples) if columns.graph is None else columns.graph.tolist()
    for ids, graph, place in zip(columns.triples, graphs, columns.element.tolist(), strict=True):
        found[place] += [dictionary.decode_one(i) for i in ids] + [graph if graph < 0 else dictionary.decode_one(graph)]
    return found, [str(each) for each in rejected], [str(columns.fault)]


@pytest.mark.parametrize("seed", range(60))
def test_plain_messages_are_what_they_are_one_by_one(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    draw = random.Random(seed)
    texts = draw.choices(TEXTS, [6, 6, 6, *[1] * (len(TEXTS) - 3)], k=12)
    values = [None if draw.random() < 0.1 else text.encode() for text in texts]
    at_ms = [draw.choice([-1, *[1000 + place] * 9]) for place in range(len(values))]
    for strict in (False, True):
        found = encoded(values, at_ms, strict)
        with monkeypatch.context() as patched:
            patched.setattr(change_messages, "plain_update", lambda *_: None)
            assert encoded(values, at_ms, strict) == found


@pytest.mark.parametrize("seed", range(60))
def test_patches_are_what_they_are_one_by_one(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    draw = random.Random(seed)
    texts = draw.choices(PATCHES, [4, 4, 4, *[1] * (len(PATCHES) - 3)], k=12)
    values = [None if draw.random() < 0.1 else text.encode() for text in texts]
    values = [gzip.compress(value) if value and draw.random() < 0.05 else value for value in values]
    at_ms = [draw.choice([-1, *[1000 + place] * 9]) for place in range(len(values))]
    for strict in (False, True):
        for limits in (DEFAULT_LIMITS, CUT):
            found = encoded(values, at_ms, strict, "rdfpatch", limits)
            with monkeypatch.context() as patched:
                patched.setattr(change_messages, "is_compressed", lambda _: True)
                assert encoded(values, at_ms, strict, "rdfpatch", limits) == found


def test_patches_that_follow_each_other_are_read_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(change_messages, "read_changes", None)
    found, rejected, fault = encoded([text.encode() for text in PATCHES[:4]], [5, 6, 7, 8], True, "rdfpatch")
    assert [change[:3] for change in found] == [[0, 5, 1], [1, 6, -1], [1, 6, 1], [2, 7, 1], [2, 7, -1], [3, 8, -1]]
    assert (rejected, fault) == ([], ["None"])


def test_a_plain_message_is_one_change_a_statement_at_its_time() -> None:
    found, rejected, fault = encoded([TEXTS[0].encode(), TEXTS[1].encode()], [5, 7], True)
    assert [change[:3] for change in found] == [[0, 5, 1], [1, 7, -1], [1, 7, -1]]
    assert (rejected, fault) == ([], ["None"])
