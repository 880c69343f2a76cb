"""Brokers that tests of connectors share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.connect.real_kafka import RealKafka, missing


@pytest.fixture(scope="session")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealKafka]:
    """A broker in a process of its own, for as long as tests run."""
    if (reason := missing()) is not None:
        pytest.skip(reason)
    found = RealKafka(tmp_path_factory.mktemp("kafka"))
    yield found
    found.kill()
