"""Checks a SPEC: what `millstream check` does, for tests in Python."""

from __future__ import annotations

import os

from millstream.testing.spec import read_spec


def check(spec: str | os.PathLike[str], engine: str = "embedded") -> None:
    """Raises AssertionError, with the timeline drawn, unless exactly the answers come that a SPEC expects.

    It is a file or its text; a string of one word is a file.
    """
    read_spec(spec).check(engine)
