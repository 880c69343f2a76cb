"""Timelines with expected answers on Spark: the same answers as in one process, and what cannot run there refused."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from millstream.errors import OptionError
from millstream.testing import Timeline

PREFIXES = {"": "http://e/"}
MET = "SELECT CHANGES ?a ?b { STREAM :s [RANGE 5s] { ?a :at ?p . ?b :at ?p } ?p :is :room FILTER (STR(?a) < STR(?b)) }"


def met() -> Timeline:
    timeline = Timeline(MET, prefixes=PREFIXES).dataset(":hall :is :room .")
    timeline.push("0s", ":s", ":ann :at :hall .").push("3s", ":s", ":ben :at :hall .").push("4s", ":s", ":cleo :at :yard .")
    return timeline.expect("3s", +1, a=":ann", b=":ben").expect("5s", -1, a=":ann", b=":ben")


def test_a_timeline_passes_and_fails_as_in_one_process(spark: SparkSession) -> None:
    met().finish().check()
    met().finish().check("spark")
    wrong = met().expect("4s", +1, a=":ann", b=":cleo").finish()
    assert str(wrong.run("spark")) == str(wrong.run())
    assert wrong.run("spark").missing == 1


@pytest.mark.parametrize(
    ("timeline", "reason"),
    [
        (met(), "write `finish`"),
        (met().insert("6s", ":yard :is :room .").finish(), "a timeline with `insert`"),
        (met().dataset(":yard :is :room .").finish(), "a graph has one dataset"),
        (Timeline(MET, MET, prefixes=PREFIXES).finish(), "several"),
        (Timeline("SELECT ?x { ?x ?y ?z }").finish(), "reads a stream"),
    ],
)
def test_what_depends_on_the_order_of_sources_is_refused(timeline: Timeline, reason: str) -> None:
    with pytest.raises(OptionError, match=reason):
        timeline.run("spark")
