"""What a benchmark found: tables, plots and targets, as text for people and as JSON for programs.

A part gives tables of plain values, plots of the same, and says of each target what was wanted, what was found and whether
that is enough. Nothing here measures, and nothing here draws.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from benchmarks.peers.adapter import pathway_version
from benchmarks.progress import Progress as Progress  # what `run` is handed, with what it gives

PROJECT = Path(__file__).resolve().parent.parent
PACKAGES = ("millstream", "numpy", "pyarrow", "pyspark", "pyoxigraph", "rdflib", "duckdb", "Cython", "matplotlib")

Cell = str | int | float | None
BEGUN: list[Part] = []
"""What was made since a benchmark began: a run that is stopped keeps it as it is then."""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under column names; None: not measured."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    notes: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Target:
    """What was wanted and what was found."""

    what: str
    wanted: str
    found: str
    reached: bool


def medians_of(rounds: int) -> str:
    """What the note of a chart says of repetitions."""
    return f"medians of {rounds}, least to most" if rounds > 1 else "one round"


def at_least(what: str, wanted: float, found: float, unit: str = "") -> Target:
    return Target(what, f">= {shown(wanted)}{unit}", f"{shown(found)}{unit}", bool(found >= wanted))


def at_most(what: str, wanted: float, found: float, unit: str = "") -> Target:
    return Target(what, f"<= {shown(wanted)}{unit}", f"{shown(found)}{unit}", bool(found <= wanted))


@dataclass(frozen=True, slots=True)
class Series:
    """One line of a plot. Texts as `xs` are kinds that stand side by side, numbers are places on an axis."""

    name: str
    xs: Sequence[float] | Sequence[str]
    ys: Sequence[float | None]
    """None: not measured, so nothing is drawn there."""
    low: Sequence[float | None] = ()
    high: Sequence[float | None] = ()
    """Between which repetitions lay; empty: not known."""
    stopped: Sequence[bool] = ()
    """Where a time limit ended the run, so that the value is that of what was done until then."""


@dataclass(frozen=True, slots=True)
class Plot:
    """What a chart shows; axes are labelled with their units."""

    title: str
    x_label: str
    y_label: str
    series: Sequence[Series]
    log_x: bool = False
    log_y: bool = False
    note: str = ""
    """One line below the chart."""
    less_is_better: bool = False
    """So that who gave nothing within a limit is shown at the end where the worst are."""


@dataclass(slots=True)
class Part:
    """What one benchmark found."""

    name: str
    about: str
    tables: list[Table] = field(default_factory=list)
    plots: list[Plot] = field(default_factory=list)
    targets: list[Target] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    """Lines that a benchmark printed by itself."""
    data: list[str] = field(default_factory=list)
    """What it was measured on, if that is not always the same."""
    missing: list[str] = field(default_factory=list)
    """What was left out, and why."""
    failed: str = ""
    """What went wrong, if it did; then there is nothing else."""
    wall_s: float = 0.0

    def __post_init__(self) -> None:
        BEGUN.append(self)


def shown(value: Cell) -> str:
    """A number with as many digits as mean something."""
    if value is None:
        return "-"
    if isinstance(value, str):
        return value
    if isinstance(value, int) or abs(value) >= 1000:
        return f"{value:,.0f}"
    if 0 < abs(value) < 0.095:
        return f"{value:.2g}" if abs(value) >= 0.0001 else f"{value:.1e}"
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def markdown(part: Part, images: Sequence[str] = ()) -> str:
    """One part as Markdown that is also readable as it stands; images are files of its plots, in their order."""
    lines = [f"## {part.name}", "", part.about, ""]
    if part.failed:
        lines += [f"FAILED: {part.failed}", ""]
    lines += [f"- data: {what}" for what in part.data] + ([""] if part.data else [])
    for plot, image in zip(part.plots, images, strict=False):
        lines += [f"![{plot.title}]({image})", ""]
    for table in part.tables:
        lines += [f"**{table.title}**", "", *_grid(table), ""]
        lines += [f"- {note}" for note in table.notes] + ([""] if table.notes else [])
    if part.text:
        lines += ["```", *part.text, "```", ""]
    lines += [f"- left out: {reason}" for reason in part.missing] + ([""] if part.missing else [])
    for target in part.targets:
        verdict = "reached" if target.reached else "NOT REACHED"
        lines.append(f"- {verdict}: {target.what}: {target.found} (target {target.wanted})")
    if part.targets:
        lines.append("")
    return "\n".join(lines)


def _grid(table: Table) -> list[str]:
    cells = [list(table.columns), *([shown(cell) for cell in row] for row in table.rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(table.columns))]
    # Words to the left, numbers to the right.
    words = [all(isinstance(row[i], str) for row in table.rows) for i in range(len(table.columns))]

    def line(row: list[str]) -> str:
        padded = [c.ljust(w) if left else c.rjust(w) for c, w, left in zip(row, widths, words, strict=True)]
        return "| " + " | ".join(padded) + " |"

    rule = [":" + "-" * (w - 1) if left else "-" * (w - 1) + ":" for w, left in zip(widths, words, strict=True)]
    return [line(cells[0]), "| " + " | ".join(rule) + " |", *map(line, cells[1:])]


def summary(parts: Sequence[Part]) -> str:
    """All targets in one table."""
    rows = [
        [part.name, target.what, target.wanted, target.found, "yes" if target.reached else "NO"]
        for part in parts
        for target in part.targets
    ]
    reached = sum(row[-1] == "yes" for row in rows)
    table = Table("Targets", ("part", "what", "wanted", "found", "reached"), rows)
    return "\n".join([f"## Targets: {reached} of {len(rows)} reached", "", *_grid(table), ""]) if rows else ""


def machine() -> dict[str, str]:
    """Where and with what a run was made."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    model = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())
    found = {name: _version(name) for name in PACKAGES} | {"pathway": pathway_version()}
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg()) if hasattr(os, "getloadavg") else "unknown"
    return {
        "date": datetime.now().astimezone().isoformat(timespec="seconds"),
        "commit": _commit(),
        "cpu": f"{model}, {os.cpu_count()} cores",
        "memory": _memory(),
        "system": f"{platform.system()} {platform.release()}, Python {platform.python_version()}",
        "packages": ", ".join(f"{name} {version}" for name, version in found.items() if version),
        "load": f"{load} when the run began",
    }


def _memory() -> str:
    info = Path("/proc/meminfo")
    lines = info.read_text().splitlines() if info.exists() else []
    total = next((line for line in lines if line.startswith("MemTotal")), "")
    return f"{int(total.split()[1]) / 1e6:.0f} GB" if total else "unknown"


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _commit() -> str:
    def git(*words: str) -> str:
        return subprocess.run(["git", *words], cwd=PROJECT, check=True, capture_output=True, text=True).stdout.strip()

    try:
        changed = " with changes in src" if git("status", "--porcelain", "src") else ""
        return git("rev-parse", "--short=10", "HEAD") + changed
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


CPU_TIMES = (
    "Times are CPU times, medians where charts say that there are repetitions, which take turns with their peers; "
    "only ratios mean something."
)
WALL_TIMES = "Times are wall times unless a table says CPU; start-up is shown apart; only ratios mean something."


def header(title: str, described: dict[str, str], how: str) -> str:
    lines = [f"# {title}", ""]
    lines += [f"- {name}: {value}" for name, value in described.items()]
    return "\n".join([*lines, "", how, ""])


def write(folder: Path, part: Part, described: dict[str, str], how: str, images: Sequence[str] = ()) -> list[Path]:
    """Both forms of what a part found; returns where they are."""
    folder.mkdir(parents=True, exist_ok=True)
    text, data = folder / f"{part.name}.md", folder / f"{part.name}.json"
    took = f"All of it took {part.wall_s:,.0f} s by the clock."
    text.write_text("\n".join([header(part.name, described, f"{how} {took}"), _body(part, images)]).rstrip() + "\n")
    data.write_text(json.dumps({"machine": described, **asdict(part)}, indent=1, default=float) + "\n")
    return [text, data]


def _body(part: Part, images: Sequence[str]) -> str:
    return markdown(part, images).split("\n", 2)[2]
