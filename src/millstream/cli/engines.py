"""Which engine a command runs on: Spark where it is installed, else this process."""

from __future__ import annotations

from importlib.util import find_spec

from millstream.cli.terminal import fail, note

INSTALL = "pip install 'millstream[spark]'"


def choose_engine(name: str | None) -> str:
    """What was asked for, if it is there; without a wish Spark, or the embedded engine where there is no Spark."""
    if name not in (None, "spark", "embedded"):
        fail(f"--engine {name}: not known; it is spark or embedded")
    missing = [] if name == "embedded" else [package for package in ("pyspark", "pandas") if find_spec(package) is None]
    if not missing:
        return name or "spark"
    if name == "spark":
        fail(f"--engine spark: {' and '.join(missing)} cannot be found; {INSTALL}, or use --engine embedded")
    note("note", f"Spark is not installed, so this runs in one process (--engine embedded); for Spark: {INSTALL}")
    return "embedded"
