"""Topics of an MQTT broker, which is one of Python's."""

from __future__ import annotations

import asyncio
import logging
import socket
import threading
import time
from collections.abc import Iterator

import paho.mqtt.client as paho
import pytest
from amqtt.broker import Broker

import millstream as ms

STREAM = "http://e/s"
ALL = f"SELECT ?o WHERE {{ STREAM <{STREAM}> [RANGE 1h] {{ ?s <http://e/p> ?o }} }}"


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """A broker in a thread; the port that it listens on."""
    logging.getLogger("amqtt").setLevel(logging.CRITICAL)
    logging.getLogger("transitions").setLevel(logging.CRITICAL)
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        number = int(found.getsockname()[1])
    loop, started = asyncio.new_event_loop(), threading.Event()
    config = {
        "listeners": {"default": {"type": "tcp", "bind": f"127.0.0.1:{number}"}},
        "plugins": {"amqtt.plugins.authentication.AnonymousAuthPlugin": {"allow_anonymous": True}},
    }
    broker: list[Broker] = []

    def serve() -> None:
        asyncio.set_event_loop(loop)

        async def start() -> None:
            broker.append(Broker(config))
            await broker[0].start()
            started.set()

        loop.run_until_complete(start())
        loop.run_forever()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    assert started.wait(30)
    yield number
    asyncio.run_coroutine_threadsafe(broker[0].shutdown(), loop).result(30)
    loop.call_soon_threadsafe(loop.stop)
    thread.join(30)
    loop.close()


def test_what_is_published_is_answered(port: int) -> None:
    engine = ms.Engine()
    seen: list[str] = []
    engine.register(ALL, on_answer=lambda answer: seen.append(answer.bindings["o"].value))
    source = ms.mqtt("127.0.0.1", "rooms/+", port=port, format="turtle")
    threading.Thread(target=engine.read, args=(STREAM, source), daemon=True).start()
    publisher = paho.Client(paho.CallbackAPIVersion.VERSION2)
    publisher.connect("127.0.0.1", port)
    publisher.loop_start()
    until, number = time.monotonic() + 60, 0
    while len(seen) < 3 and time.monotonic() < until:
        publisher.publish("rooms/a", "nonsense" if number % 2 else f'<http://e/a> <http://e/p> "{number}" .', qos=1)
        publisher.publish("other", '<http://e/a> <http://e/p> "other" .', qos=1)
        number += 1
        time.sleep(0.05)
    publisher.disconnect()
    publisher.loop_stop()
    assert len(seen) >= 3
    assert "other" not in seen
    assert all(rejected.source.startswith("mqtt://127.0.0.1") for rejected in engine.rejected())


def test_what_cannot_be() -> None:
    with pytest.raises(ms.ConnectError, match="no broker answers"):
        ms.Engine().read(STREAM, ms.mqtt("127.0.0.1", "t", port=1, format="turtle"))
    with pytest.raises(ms.OptionError, match="topic is missing"):
        ms.mqtt("h", "")
    with pytest.raises(ms.OptionError, match="qos"):
        ms.mqtt("h", "t", qos=7)
    assert "hunter2" not in repr(ms.mqtt("h", "t", password="hunter2"))
