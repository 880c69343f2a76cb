"""Badges of README.md, drawn of what the project says of itself: nothing is fetched to show them."""

from __future__ import annotations

import re
import tomllib
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


def badges() -> dict[str, str]:
    """By the names of their files."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    spark = next(r for r in project["optional-dependencies"]["spark"] if r.startswith("pyspark"))
    low, high = re.findall(r"\d+\.\d+", spark)
    below = f"{high.partition('.')[0]}.{int(high.partition('.')[2]) - 1}"
    return {
        "python.svg": _badge("Python", project["requires-python"].removeprefix(">=") + " or newer"),
        "spark.svg": _badge("Spark", f"none, or {low} to {below}"),
        "licence.svg": _badge("licence", project["license"]),
        "w3c.svg": _badge("SPARQL 1.1", "W3C evaluation tests pass"),
    }


def _badge(name: str, value: str) -> str:
    left, right = 14 + round(6.3 * len(name)), 14 + round(6.3 * len(value))
    return f"""\
<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" role="img" aria-label="{name}: {escape(value)}">
<clipPath id="r"><rect width="{left + right}" height="20" rx="3"/></clipPath>
<g clip-path="url(#r)"><rect width="{left}" height="20" fill="#444c56"/>
<rect x="{left}" width="{right}" height="20" fill="#0b7285"/></g>
<g fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,sans-serif" font-size="10.5">
<text x="{left / 2:g}" y="14">{name}</text>
<text x="{left + right / 2:g}" y="14">{escape(value)}</text></g>
</svg>
"""
