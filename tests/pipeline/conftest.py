"""One Spark session for all tests of the pipeline: starting one takes longer than most tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from millstream import pipeline


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """A session on two cores of this machine, quiet."""
    settings = {
        # Tests are over before better compiled Java code pays.
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.sql.shuffle.partitions": 2,
        "spark.sql.streaming.pollingDelay": "50ms",
    }
    session = pipeline.session("local[2]", **settings)
    yield session
    session.stop()
