"""The notebook on Spark, in the session that tests share."""

from __future__ import annotations

from pyspark.sql import SparkSession

from tests import notebooks


def test_the_same_on_spark(spark: SparkSession) -> None:
    printed = notebooks.run("on_spark.ipynb")
    assert printed[2] == "4000 +1 kitchen 26\n6000 +1 study 28\n"
    assert printed[3].splitlines() == [
        "4000 +1 kitchen 26",
        "6000 +1 study 28",
        "14000 -1 kitchen 26",
        "15000 +1 study 29",
        "16000 -1 study 28",
        "25000 -1 study 29",
    ]
