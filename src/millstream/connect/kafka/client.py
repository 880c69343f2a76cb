"""Clients of Kafka, from confluent-kafka: made with what the user said, their faults in our words."""

from __future__ import annotations

import logging
import time
import uuid
from typing import TYPE_CHECKING, Any, NoReturn

from millstream.connect.kafka.options import EARLIEST, Address
from millstream.errors import ConnectError, OptionError

if TYPE_CHECKING:
    from confluent_kafka import Consumer, KafkaError, Producer
    from confluent_kafka.admin import AdminClient

WAIT_S = 15.0
"""How long servers may take to say what there is."""
_SAY_AGAIN_S = 60.0
_LOG = logging.getLogger("millstream.kafka")
# What the client's own library has to say is for those who ask for it.
_LIBRARY_LOG = logging.getLogger("millstream.kafka.client")
_LIBRARY_LOG.addHandler(logging.NullHandler())


def library() -> Any:
    """The package, or how to get it."""
    try:
        import confluent_kafka
    except ImportError:
        raise OptionError('Kafka needs the package confluent-kafka: pip install "millstream[kafka]"') from None
    return confluent_kafka


class Trouble:
    """What a client tells of itself while nobody asks: kept until somebody does."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._error: KafkaError | None = None
        self._said = ""
        self._say_again_at = 0.0

    def __call__(self, error: KafkaError) -> None:
        kafka_error = library().KafkaError
        # Servers that are away may come back, and the client waits for them; a refused password stays refused.
        if error.fatal() or error.code() in (kafka_error._AUTHENTICATION, kafka_error._SSL):
            self._error = error
        elif error.str() != self._said or time.monotonic() >= self._say_again_at:
            self._said, self._say_again_at = error.str(), time.monotonic() + _SAY_AGAIN_S
            _LOG.warning("%s: %s", self._name, error.str())

    def check(self) -> None:
        """Raises what cannot mend itself."""
        if self._error is not None:
            failed(self._name, self._error)


def consumer(at: Address, trouble: Trouble, **ours: Any) -> Consumer:
    """A consumer that is told what to read: it has a group by itself, and commits nothing."""
    needed = {
        "group_id": at.client.get("group.id", f"millstream-{uuid.uuid4().hex}"),
        "enable_auto_commit": False,
        "enable_partition_eof": True,
        # Positions are ours: one that is gone must be told, not passed over.
        "auto_offset_reset": "error",
    }
    settings = at.settings(**{**needed, **ours})
    made: Consumer = _made(library().Consumer, at, settings, trouble)
    return made


def producer(at: Address, trouble: Trouble, **ours: Any) -> Producer:
    """A producer that loses and repeats nothing while it lives."""
    made: Producer = _made(library().Producer, at, at.settings(enable_idempotence=True, **ours), trouble)
    return made


def admin(at: Address, trouble: Trouble) -> AdminClient:
    """A client that asks what there is."""
    from confluent_kafka.admin import AdminClient

    made: AdminClient = _made(AdminClient, at, at.settings(), trouble)
    return made


def _made(make: Any, at: Address, settings: dict[str, Any], trouble: Trouble) -> Any:
    try:
        return make({**settings, "error_cb": trouble}, logger=_LIBRARY_LOG)
    except library().KafkaException as error:
        # It names the option, and may show its value.
        reason = _without_secrets(error.args[0].str(), at)
        raise OptionError(f"{at.name}: the client refuses its options: {reason}") from None
    except (TypeError, ValueError) as error:
        raise OptionError(f"{at.name}: the client refuses its options: {_without_secrets(str(error), at)}") from None


def partitions(client: Consumer | Producer, at: Address, trouble: Trouble) -> list[tuple[str, int]]:
    """All partitions of the topics, in order."""
    found = []
    for topic in at.topics:
        try:
            known = client.list_topics(topic, timeout=WAIT_S).topics[topic]
        except library().KafkaException as error:
            trouble.check()
            failed(at.name, error.args[0])
        if known.error is not None:
            failed(f"{at.name}: topic {topic}", known.error)
        found += [(topic, number) for number in known.partitions]
    return sorted(found)


def ends(client: Consumer, at: Address, topic: str, partition: int) -> tuple[int, int]:
    """The first offset that is there, and the one behind the last."""
    try:
        return client.get_watermark_offsets(library().TopicPartition(topic, partition), timeout=WAIT_S)
    except library().KafkaException as error:
        failed(at.name, error.args[0])


def committed_ends(client: AdminClient, at: Address, places: list[tuple[str, int]]) -> dict[tuple[str, int], int]:
    """For each partition the offset behind the last message that no open transaction holds back."""
    from confluent_kafka import admin

    if not places:
        return {}
    latest = getattr(admin, "OffsetSpec").latest()  # noqa: B009 - its stubs do not tell of it
    asked = {library().TopicPartition(topic, partition): latest for topic, partition in places}
    level = library().IsolationLevel.READ_COMMITTED
    try:
        found = client.list_offsets(asked, isolation_level=level, request_timeout=WAIT_S)
        return {(place.topic, place.partition): each.result().offset for place, each in found.items()}
    except library().KafkaException as error:
        failed(at.name, error.args[0])


def failed(name: str, error: KafkaError) -> NoReturn:
    """Raises what a client or a server said."""
    kafka_error = library().KafkaError
    code, said = error.code(), error.str()
    if code in (kafka_error._TRANSPORT, kafka_error._ALL_BROKERS_DOWN, kafka_error._TIMED_OUT, kafka_error._RESOLVE):
        raise ConnectError(f"{name}: no server answers ({said})")
    if code == kafka_error.UNKNOWN_TOPIC_OR_PART:
        raise ConnectError(f"{name}: there is no such topic or partition")
    if code in (kafka_error.OFFSET_OUT_OF_RANGE, kafka_error._AUTO_OFFSET_RESET, kafka_error._NO_OFFSET):
        raise ConnectError(
            f"{name}: messages that were to be read next are gone from the topic ({said}); begin anew with "
            f"startingOffsets={EARLIEST} and without the old position"
        )
    raise ConnectError(f"{name}: {said}")


def _without_secrets(text: str, at: Address) -> str:
    for value in at.client.values():
        if len(value) > 3:
            text = text.replace(value, "...")
    return text
