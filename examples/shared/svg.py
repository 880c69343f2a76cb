"""Pictures as SVG text: rectangles, lines, circles, arrows and words. The same calls give the same bytes."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from pathlib import Path

COLOURS = ("#2a6f97", "#d1495b", "#66a182", "#edae49", "#8d6a9f", "#5c6b73", "#b5651d", "#3d9970")
INK, FAINT = "#333333", "#d9dee2"


class Picture:
    """A canvas; y runs downwards."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        self._parts: list[str] = []

    def rect(
        self, x: float, y: float, width: float, height: float, fill: str, *, opacity: float = 1, about: str = ""
    ) -> None:
        """A filled rectangle, with a text for whoever points at it."""
        title = f"<title>{escape(about)}</title>" if about else ""
        self._parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="2" fill="{fill}" '
            f'fill-opacity="{opacity}">{title}</rect>'
        )

    def line(self, points: Iterable[tuple[float, float]], stroke: str, *, width: float = 1.5, opacity: float = 1) -> None:
        """A line through points."""
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self._parts.append(
            f'<polyline points="{path}" fill="none" stroke="{stroke}" stroke-width="{width}" stroke-opacity="{opacity}"/>'
        )

    def arrow(self, x1: float, y1: float, x2: float, y2: float, stroke: str, *, width: float = 2, short: float = 0) -> None:
        """A line with a head, which ends so much before its end."""
        length = ((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5 or 1
        dx, dy = (x2 - x1) / length, (y2 - y1) / length
        x1, y1, x2, y2 = x1 + dx * short, y1 + dy * short, x2 - dx * short, y2 - dy * short
        self.line([(x1, y1), (x2 - dx * 6, y2 - dy * 6)], stroke, width=width)
        corners = [(x2, y2), (x2 - dx * 9 - dy * 4, y2 - dy * 9 + dx * 4), (x2 - dx * 9 + dy * 4, y2 - dy * 9 - dx * 4)]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in corners)
        self._parts.append(f'<polygon points="{path}" fill="{stroke}"/>')

    def circle(self, x: float, y: float, radius: float, fill: str, *, about: str = "") -> None:
        """A filled circle."""
        title = f"<title>{escape(about)}</title>" if about else ""
        self._parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" fill="{fill}">{title}</circle>')

    def text(self, x: float, y: float, words: str, *, size: int = 12, anchor: str = "start", bold: bool = False) -> None:
        """Words; the anchor is start, middle or end."""
        weight = ' font-weight="bold"' if bold else ""
        place = f'x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}"'
        self._parts.append(f'<text {place} fill="{INK}"{weight}>{escape(words)}</text>')

    def write(self, path: Path) -> None:
        """The picture as a file."""
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" width="{self.width}" '
            f'height="{self.height}" font-family="Helvetica, Arial, sans-serif">'
        )
        background = f'<rect width="{self.width}" height="{self.height}" fill="white"/>'
        path.write_text("\n".join([head, background, *self._parts, "</svg>"]) + "\n", "utf-8")


class TimeAxis:
    """Times to places, from left to right, with a scale in minutes."""

    def __init__(self, picture: Picture, first_ms: int, last_ms: int, left: float, right: float) -> None:
        self._picture, self._first, self._last, self._left, self._right = picture, first_ms, last_ms, left, right

    def x(self, at_ms: int) -> float:
        """Where a time is."""
        inside = min(max(at_ms, self._first), self._last)
        return self._left + (self._right - self._left) * (inside - self._first) / (self._last - self._first)

    def draw(self, top: float, bottom: float, every_ms: int, unit_ms: int, unit: str) -> None:
        """Faint lines with their times below."""
        for at_ms in range(self._first, self._last + 1, every_ms):
            self._picture.line([(self.x(at_ms), top), (self.x(at_ms), bottom)], FAINT, width=1)
            words = f"{(at_ms - self._first) // unit_ms} {unit}"
            self._picture.text(self.x(at_ms), bottom + 14, words, size=11, anchor="middle")


def spans(changes: Iterable[tuple[int, int, str]], last_ms: int) -> list[tuple[str, int, int]]:
    """From when to when something was an answer: changes are times, weights and names, in order."""
    begun: dict[str, int] = {}
    found = []
    for at_ms, weight, name in changes:
        if weight > 0:
            begun.setdefault(name, at_ms)
        elif name in begun:
            found.append((name, begun.pop(name), at_ms))
    return found + [(name, since, last_ms) for name, since in begun.items()]
