"""A recording of a terminal as an SVG that moves: commands as they are typed, and what they really write.

Times of answers are those of the data, so the recording shows them at the pace at which they happened.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from html import escape
from pathlib import Path

from typer.testing import CliRunner

from millstream.cli.main import app

ROOT = Path(__file__).resolve().parent.parent.parent
QUERY = "examples/next_door.rq"
COMMAND = [
    ["millstream", "run", QUERY, "--engine", "embedded"],
    ["--stream", "http://example.org/office/badges=examples/badges.trig"],
    ["--dataset", "http://example.org/office/floorplan=examples/floorplan.ttl", "--format", "table"],
]
"""By lines of the terminal."""

WIDE, HIGH, TOP, LEFT = 7.3, 18.5, 46, 18
_STYLE = """
  .page { fill: #161b22; stroke: #30363d } .bar { fill: #30363d }
  text { font: 12.2px ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace; fill: #e6edf3;
    white-space: pre }
  .typed { fill: #79c0ff } .plus { fill: #56d364 } .minus { fill: #ff7b72 } .quiet { fill: #9198a1 }
  .word { fill: #d2a8ff }
"""
_WORDS = re.compile(r"\b(PREFIX|SELECT|CHANGES|WHERE|STREAM|RANGE|GRAPH|FILTER)\b")


@dataclass(frozen=True)
class Line:
    """A line of the terminal, when it appears, in seconds, and what it is."""

    text: str
    at: float
    kind: str = ""


def recording() -> str:
    """The SVG: a query, the command that runs it, and its answers."""
    lines, end = _lines()
    columns = max(len(line.text) for line in lines)
    width, height = round(LEFT * 2 + columns * WIDE), round(TOP + len(lines) * HIGH + 8)
    frames, shapes = [], []
    for number, line in enumerate(lines):
        begins = 100 * line.at / end
        shown = f"{begins:.2f}% {{ opacity: 1 }} 97% {{ opacity: 1 }} 100% {{ opacity: 0 }}"
        frames.append(f"  @keyframes l{number} {{ 0%, {max(begins - 0.01, 0):.2f}% {{ opacity: 0 }} {shown} }}")
        frames.append(f"  .l{number} {{ animation: l{number} {end:g}s infinite }}")
        kind = f" {line.kind}" if line.kind else ""
        text = _marked(line) if line.text else ""
        shapes.append(f'<text x="{LEFT}" y="{TOP + (number + 0.6) * HIGH:.1f}" class="l{number}{kind}">{text}</text>')
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    still = "  @media (prefers-reduced-motion: reduce) { text { animation: none !important } }"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" xml:space="preserve">',
            "<title>A query over badges and a floor plan, answered as time passes</title>",
            f"<style>{_STYLE}" + "\n".join([*frames, still]) + "\n</style>",
            f'<rect x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="8" class="page"/>',
            *(f'<circle cx="{20 + 18 * place}" cy="19" r="5.5" class="bar"/>' for place in range(3)),
            *shapes,
            "</svg>",
            "",
        ]
    )


def _marked(line: Line) -> str:
    text = escape(line.text)
    return _WORDS.sub(r'<tspan class="word">\1</tspan>', text) if line.kind == "query" else text


def _lines() -> tuple[list[Line], float]:
    """All lines, and how long the recording is."""
    at = 0.4
    lines = [Line(f"$ cat {QUERY}", at, "typed")]
    at += 0.8
    for text in (ROOT / QUERY).read_text("utf-8").rstrip().splitlines():
        lines.append(Line(text, at, "quiet" if text.startswith("#") else "query"))
    lines.append(Line("", at))
    at += 2.5
    for number, words in enumerate(COMMAND):
        last = number == len(COMMAND) - 1
        lines.append(Line(("$ " if number == 0 else "    ") + " ".join(words) + ("" if last else " \\"), at, "typed"))
        at += 0.5
    at += 0.6
    first = None
    for text in _written().splitlines():
        kind = "plus" if " +1 " in text else "minus" if " -1 " in text else "quiet"
        if clock := re.match(r"\S+ (\d+):(\d+):([\d.]+)", text):
            seconds = int(clock[1]) * 3600 + int(clock[2]) * 60 + float(clock[3])
            first = seconds if first is None else first
            lines.append(Line(text, at + (seconds - first) * 0.5, kind))
        else:
            lines.append(Line(text, max(at - 0.2, lines[-1].at + 0.2), kind))
    return lines, lines[-1].at + 4


def _written() -> str:
    """What the command writes, run in the project's folder."""
    before = os.getcwd()
    os.chdir(ROOT)
    try:
        result = CliRunner().invoke(app, [word for words in COMMAND for word in words][1:])
    finally:
        os.chdir(before)
    # A slow machine tells how long it took.
    return re.sub(r" in [0-9.]+ s \([0-9,]+ elements/s\)", "", result.stdout + result.stderr)
