"""Where tests run: those that start Spark stay in one process, which they share a session in, and begin first."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.connect.real_kafka import RealKafka

_START_SPARK_THEMSELVES = (
    "test_kafka_run.py",
    "test_run_spark.py",
    "test_taxis.py",
    "test_documentation.py",
    "test_session.py",
    "test_tutorial.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if _is_on_spark(item):
            item.add_marker(pytest.mark.xdist_group("spark"))
    items.sort(key=lambda item: not _is_on_spark(item))


def _is_on_spark(item: pytest.Item) -> bool:
    return "spark" in getattr(item, "fixturenames", ()) or item.path.name in _START_SPARK_THEMSELVES


@pytest.fixture(scope="session")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealKafka]:
    """A Kafka broker in a process of its own, for as long as tests run."""
    from tests.connect.real_kafka import RealKafka, missing

    if (reason := missing()) is not None:
        pytest.skip(reason)
    found = RealKafka(tmp_path_factory.mktemp("kafka"))
    yield found
    found.kill()
