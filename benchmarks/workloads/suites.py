"""Where the real data of papers and benchmarks is, if it is at hand; none of it is part of the project."""

from __future__ import annotations

import os
from pathlib import Path


def suites() -> Path:
    """The folder that MILLSTREAM_SUITES names, or one beside the project; whether it is there or not."""
    named = os.environ.get("MILLSTREAM_SUITES")
    return Path(named) if named else Path(__file__).resolve().parents[3] / "shared" / "suites"


def absence(what: str, suite: str) -> str:
    """What a report says of real data that is not at hand."""
    return f"{what}: there is no suite {suite}; --suites or MILLSTREAM_SUITES names the folder"


def at_hand(suite: str) -> bool:
    return (suites() / suite).is_dir()
