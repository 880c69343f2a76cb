"""Every query answers as if it were alone, whoever else is registered and however elements come in.

Catches state of one query that others see or take away, orders and slices that several share, what depends on who came
first, on how elements are cut into batches, on snapshots, and on terms that are forgotten while somebody needs them.
MILLSTREAM_EXAMPLES says how many cases are tried; each is small, and `tests.engine.alone.check` runs one from a seed.
"""

from __future__ import annotations

import os

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.engine.alone import Case, compare, write_case
from tests.engine.any_query import chooser

EXAMPLES = int(os.environ.get("MILLSTREAM_EXAMPLES", "100"))


@st.composite
def cases(draw: st.DrawFn) -> Case:
    return write_case(chooser(draw))


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(cases())
def test_every_query_answers_as_if_it_were_alone(case: Case) -> None:
    compare(case)
