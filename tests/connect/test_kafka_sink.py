"""Answers as messages: what each mode sends, in order, and each once across restarts."""

from __future__ import annotations

import json
import random
from typing import Any

import pyarrow as pa
import pytest

import millstream as ms
from millstream.connect.kafka.answers import AnswerMessages, Record
from millstream.connect.kafka.options import address
from millstream.connect.kafka.sink import KafkaSink
from tests.connect.mock_kafka import MockKafka
from tests.connect.real_kafka import RealKafka

A, B = "<http://e/a>", "<http://e/b>"


@pytest.fixture(scope="module")
def cluster() -> MockKafka:
    return MockKafka()


def table(*rows: tuple[Any, ...], names: tuple[str, ...] = ("x", "n")) -> pa.Table:
    columns = list(zip(*rows, strict=True)) or [()] * (2 + len(names))
    types = [pa.int64(), pa.int64(), *[pa.string()] * len(names)]
    arrays = [pa.array(column, kind) for column, kind in zip(columns, types, strict=True)]
    return pa.table(arrays, names=["at_ms", "weight", *names])


def plain(records: list[Record]) -> list[tuple[Any, ...]]:
    return [(r.key, None if r.value is None else json.loads(r.value), r.at_ms) for r in records]


def test_a_changelog_says_what_leaves_first() -> None:
    messages = AnswerMessages(("x", "n"), "changelog", ("x",), construct=False)
    found = plain(messages.records(table((5, 1, A, '"2"'), (5, -1, A, '"1"'), (6, 1, B, None))))
    bound = {"type": "uri", "value": "http://e/a"}
    assert found == [
        (A.encode(), {"at_ms": 5, "weight": -1, "bindings": {"x": bound, "n": {"type": "literal", "value": "1"}}}, 5),
        (A.encode(), {"at_ms": 5, "weight": 1, "bindings": {"x": bound, "n": {"type": "literal", "value": "2"}}}, 5),
        (B.encode(), {"at_ms": 6, "weight": 1, "bindings": {"x": {"type": "uri", "value": "http://e/b"}}}, 6),
    ]


def test_an_istream_says_what_appears() -> None:
    messages = AnswerMessages(("x", "n"), "istream", None, construct=False)
    found = plain(messages.records(table((5, 2, A, None), (6, -1, A, None))))
    assert [(key, at_ms, "weight" in value) for key, value, at_ms in found] == [(None, 5, False), (None, 5, False)]


def test_triples_of_an_instant_are_a_message() -> None:
    triples = table((5, 1, A, A, B), (5, 1, B, A, B), (7, -1, A, A, B), names=("subject", "predicate", "object"))
    names = ("subject", "predicate", "object")
    [one] = AnswerMessages(names, "istream", None, construct=True).records(triples)
    assert (one.value, one.at_ms) == (f"{A} {A} {B} .\n{B} {A} {B} .\n".encode(), 5)
    first, second = AnswerMessages(names, "changelog", None, construct=True).records(triples)
    assert (first.value, second.value) == (f"A {A} {A} {B} .\nA {B} {A} {B} .\n".encode(), f"D {A} {A} {B} .\n".encode())


@pytest.mark.parametrize("seed", range(20))
def test_a_compacted_topic_is_the_answer_set(seed: int) -> None:
    """Random changes of a bag of answers, in random cuts, by keys that tell them apart; some after a restart."""
    chance = random.Random(seed)
    names = [f"<http://e/{i}>" for i in range(4)]
    bag: dict[str, list[str]] = {}
    rows = []
    for at_ms in range(40):
        name = chance.choice(names)
        held = bag.setdefault(name, [])
        if held and chance.random() < 0.6:
            rows.append((at_ms, -1, name, held.pop()))
        elif not held or chance.random() < 0.3:
            # Either a new value, or the same once more.
            value = held[0] if held else f'"{chance.randrange(3)}"'
            held.append(value)
            rows.append((at_ms, 1, name, value))
    topic: dict[bytes, bytes | None] = {}
    messages = AnswerMessages(("x", "n"), "upsert", ("x",), construct=False)
    while rows:
        cut = chance.randrange(1, 6)
        for record in messages.records(table(*rows[:cut])):
            assert record.key is not None
            topic[record.key] = record.value
        rows = rows[cut:]
        if chance.random() < 0.2:
            messages = AnswerMessages(("x", "n"), "upsert", ("x",), construct=False)
            messages.hold(topic.items())
    found = {k.decode(): json.loads(v) for k, v in topic.items() if v is not None}
    expected = {name: (f"{held[0]}", len(held)) for name, held in bag.items() if held}
    assert {name: (value["terms"][1], value["weight"]) for name, value in found.items()} == expected


def test_a_key_that_does_not_tell_answers_apart() -> None:
    messages = AnswerMessages(("x", "n"), "upsert", ("x",), construct=False)
    with pytest.raises(ms.OptionError, match="does not tell answers apart"):
        messages.records(table((1, 1, A, '"1"'), (1, 1, A, '"2"')))
    with pytest.raises(ms.OptionError, match="no such variable"):
        AnswerMessages(("x",), "upsert", ("y",), construct=False)
    with pytest.raises(ms.OptionError, match="mode"):
        AnswerMessages(("x",), "everything", None, construct=False)


def test_without_a_checkpoint_answers_are_sent_as_they_come(cluster: MockKafka) -> None:
    sink = KafkaSink(address(cluster.servers, "plain"), ("x", "n"), key=("x",))
    sink.open(None)
    sink.write(table((5, 1, A, '"1"'), (6, -1, A, '"1"')))
    assert sink.commit() == b""
    sink.close()
    found = cluster.messages("plain")
    assert [(m.key(), m.timestamp()[1], dict(m.headers())["at_ms"]) for m in found] == [
        (A.encode(), 5, b"5"),
        (A.encode(), 6, b"6"),
    ]


def test_a_compacted_topic_begins_anew_without_a_position(cluster: MockKafka) -> None:
    for value in ('"1"', '"1"', '"2"'):
        sink = KafkaSink(address(cluster.servers, "anew"), ("x", "n"), mode="upsert", key=("x",))
        sink.open(None)
        sink.write(table((5, 1, A, value)))
        sink.commit()
        sink.close()
    found = [message for message in cluster.messages("anew") if message.key() == A.encode()]
    values = [message.value() and json.loads(message.value())["terms"][1] for message in found]
    assert values == ['"1"', None, '"1"', None, '"2"']


def test_what_a_kept_position_covers_is_sent_once(broker: RealKafka) -> None:
    """Stopped at any step between writing and the next commit: the topic has each answer once."""
    for stop in range(4):
        topic = broker.topic(f"once-{stop}")

        def sink(topic: str = topic) -> KafkaSink:
            return KafkaSink(address(broker.servers, topic), ("x", "n"), transactional=True)

        first = sink()
        first.open(None)
        first.write(table((1, 1, A, '"1"')))
        kept = first.commit()
        first.settle()
        first.write(table((2, 1, A, '"2"')))
        position = first.commit()
        # Kept, or not, and then settled, or not.
        if stop >= 1:
            kept = position
        if stop >= 2:
            first.settle()
        if stop == 3:
            first.write(table((3, 1, A, '"3"')))
            first.commit()
        second = sink()
        second.open(kept)
        if stop == 0:
            second.write(table((2, 1, A, '"2"')))
        second.write(table((3, 1, A, '"3"')))
        second.commit()
        second.settle()
        second.close()
        assert [json.loads(m.value())["at_ms"] for m in broker.messages(topic)] == [1, 2, 3]
