"""Text becomes a plan in one place, by the passes that are listed there, none of which changes an answer."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

import millstream as ms
from millstream.plan import passes
from millstream.plan.nodes import in_order
from tests.engine.any_query import any_scenarios
from tests.engine.machines import check_once
from tests.engine.scenarios import Scenario

PACKAGE = Path(passes.__file__).parent.parent
ALL = [*passes.QUERY_PASSES, *passes.PLAN_PASSES]


@pytest.fixture
def unpruned(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Plans as the compiler gives them."""
    monkeypatch.setattr(passes, "PLAN_PASSES", ())
    passes.planned.cache_clear()
    yield
    passes.planned.cache_clear()


def test_a_pass_is_a_function_in_a_file_of_its_own() -> None:
    modules = [rewrite.__module__ for rewrite in ALL]
    assert len(set(modules)) == len(modules)
    assert all(module.startswith("millstream.plan.") for module in modules)


def test_nobody_else_reads_or_compiles_a_query() -> None:
    asks = re.compile(r"^ *from millstream\S* import .*\b(?:parse_query|compiled)\b", re.MULTILINE)
    found = {str(path.relative_to(PACKAGE)) for path in PACKAGE.rglob("*.py") if asks.search(path.read_text("utf-8"))}
    assert found == {"language/__init__.py", "plan/passes.py"}


def test_what_a_caller_says_of_the_output_is_part_of_the_query() -> None:
    text = "SELECT ?x WHERE { STREAM <http://e/s> [NOW] { ?x ?p ?y } }"
    assert [passes.query_of(text, None, output).output.value for output in (None, "DSTREAM")] == ["istream", "dstream"]
    for output in ("sometimes", 5, []):
        with pytest.raises(ms.OptionError, match="output is one of istream, dstream"):
            passes.query_of(text, None, output)  # type: ignore[arg-type]


@pytest.mark.usefixtures("unpruned")
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(any_scenarios())
def test_answers_are_the_same_without_the_passes_over_plans(scenario: Scenario) -> None:
    check_once(scenario, looks=False)


@pytest.mark.usefixtures("unpruned")
def test_the_passes_over_plans_are_what_drops_columns() -> None:
    query = passes.query_of("SELECT DISTINCT ?g { GRAPH ?g { ?s ?p ?o } }")
    assert passes.plan_of(query) is not passes.pruned(passes.plan_of(query))
    assert max(len(node.variables) for node in in_order(passes.plan_of(query))) == 4
