"""MQTT: topics of a broker as a source of elements, on paho-mqtt.

A broker of MQTT keeps no log to go on from. With a `client_id` and a quality of service of 1 it keeps what comes while
nobody is connected, and may deliver a message twice: an element then repeats. The time of a message is that of its arrival,
unless its content or, in MQTT 5, a user property says it.
"""

from __future__ import annotations

import time as clock
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from millstream.connect.pushed import Inbox, Pushed, chunks_of_inbox
from millstream.errors import ConnectError, OptionError
from millstream.ingest.chunk import Chunk, Want
from millstream.ingest.message_options import MessageOptions
from millstream.ingest.messages import CONTENT_TYPE
from millstream.rdf.times import now_ms

_WAIT_S = 15.0


@dataclass(frozen=True, slots=True)
class MqttSource:
    """Topics of a broker, followed until somebody stops."""

    host: str
    topics: tuple[str, ...]
    options: MessageOptions
    port: int = 1883
    qos: int = 1
    client_id: str | None = None
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    tls: bool = False
    version: int = 4
    """Of the protocol: 4 is MQTT 3.1.1, which every broker speaks, 5 is MQTT 5."""

    @property
    def name(self) -> str:
        """What it is called where something is wrong with it."""
        return f"mqtt://{self.host}:{self.port}/{','.join(self.topics)}"

    def chunks(self, want: Want, since: bytes | None = None) -> Iterator[Chunk]:
        """What comes from now on."""
        if want.changes:
            raise OptionError(f"{self.name}: changes are not read from MQTT")
        reader = self.options.reader_for(want)
        inbox = Inbox()
        client = self._connected(inbox)

        def close() -> None:
            client.disconnect()
            client.loop_stop()

        return chunks_of_inbox(self.name, inbox, reader, want, close)

    def _connected(self, inbox: Inbox) -> Any:
        try:
            import paho.mqtt.client as paho
            from paho.mqtt.enums import CallbackAPIVersion
        except ImportError:
            raise OptionError('MQTT needs the package paho-mqtt: pip install "millstream[mqtt]"') from None
        keeps, is_new = self.client_id is not None, self.version == 5
        version = paho.MQTTv5 if is_new else paho.MQTTv311
        clean = None if is_new else not keeps
        client: Any = paho.Client(CallbackAPIVersion.VERSION2, self.client_id, clean, protocol=version)
        if self.username is not None:
            client.username_pw_set(self.username, self.password)
        if self.tls:
            client.tls_set()
        # Numbers that go on rising when the process is started again.
        number = clock.time_ns()

        def on_connect(client: Any, _: Any, flags: Any, reason: Any, properties: Any) -> None:
            if reason.is_failure:
                inbox.fail(ConnectError(f"{self.name}: the broker refuses: {reason}"))
                client.disconnect()
            else:
                # Also after a connection was lost and is there again.
                client.subscribe([(topic, self.qos) for topic in self.topics])

        def on_message(client: Any, _: Any, message: Any) -> None:
            nonlocal number
            number += 1
            inbox.put(Pushed(bytes(message.payload), now_ms(), number, headers=_headers(message)))

        def on_subscribe(client: Any, _: Any, number: Any, reasons: list[Any], properties: Any) -> None:
            refused = [reason for reason in reasons if reason.is_failure]
            if refused:
                inbox.fail(ConnectError(f"{self.name}: the broker refuses the subscription: {refused[0]}"))

        client.on_connect, client.on_message, client.on_subscribe = on_connect, on_message, on_subscribe
        client.connect_timeout = _WAIT_S
        try:
            if is_new:
                client.connect(self.host, self.port, clean_start=not keeps, properties=_session() if keeps else None)
            else:
                client.connect(self.host, self.port)
        except OSError as error:
            raise ConnectError(f"{self.name}: no broker answers ({error})") from None
        client.loop_start()
        return client


def _session() -> Any:
    """A session that outlives its connection."""
    from paho.mqtt import packettypes, properties

    make: Any = properties.Properties
    found = make(packettypes.PacketTypes.CONNECT)
    found.SessionExpiryInterval = 0xFFFFFFFF
    return found


def _headers(message: Any) -> list[tuple[str, bytes | None]]:
    """User properties of MQTT 5, and what its content type says."""
    properties = getattr(message, "properties", None)
    found = [(name, text.encode()) for name, text in getattr(properties, "UserProperty", None) or []]
    kind = getattr(properties, "ContentType", None)
    return [*found, (CONTENT_TYPE, kind.encode())] if kind else found


def mqtt(
    host: str,
    topic: str | list[str],
    *,
    port: int = 1883,
    format: str | None = None,
    time: str | None = None,
    element: str | None = None,
    base: str | None = None,
    qos: int = 1,
    client_id: str | None = None,
    username: str | None = None,
    password: str | None = None,
    tls: bool = False,
    version: int = 4,
) -> MqttSource:
    """Topics of an MQTT broker as a source for `Engine.read`, which follows them; options as those of `kafka`."""
    topics = (topic,) if isinstance(topic, str) else tuple(topic)
    if not topics or not all(isinstance(each, str) and each for each in topics):
        raise OptionError("mqtt: the topic is missing")
    if qos not in (0, 1, 2):
        raise OptionError(f"qos is 0, 1 or 2, got {qos!r}")
    if version not in (4, 5):
        raise OptionError(f"version is 4, for MQTT 3.1.1, or 5, got {version!r}")
    options = MessageOptions(format, time, element, base)
    return MqttSource(host, topics, options, port, qos, client_id, username, password, tls, version)
