"""How far a run is: a line on a terminal that is drawn over and over, and one line at the end."""

from __future__ import annotations

import sys
import time

from millstream.cli.run.context import Counts
from millstream.cli.run.options import RunQuery
from millstream.output.table import shown_time

_EVERY_S = 0.2
# Below that, how long it took says more about the machine than about the run.
_TIMED_FROM_S = 1.0


class Progress:
    """Draws on standard error, if that is a terminal; otherwise it keeps silent until the summary."""

    def __init__(self) -> None:
        self._terminal = sys.stderr.isatty()
        self._begun = time.monotonic()
        self._next = self._begun
        self._last: tuple[float, int] = (self._begun, 0)
        self._shown = False

    def show(self, counts: Counts) -> None:
        now = time.monotonic()
        if not self._terminal or now < self._next:
            return
        since, elements = self._last
        rate = (counts.elements - counts.before - elements) / max(now - since, 1e-9)
        self._last = (now, counts.elements - counts.before)
        self._next = now + _EVERY_S
        if counts.stage:
            self._draw([f"{now - self._begun:.0f} s", counts.stage])
            return
        parts = [f"{now - self._begun:.0f} s", f"{max(rate, 0):,.0f} elements/s"]
        if counts.at_ms is not None:
            parts.append(f"at {shown_time(counts.at_ms)}")
        parts.append(_count(sum(counts.answers), "answer"))
        parts += [f"{counts.late:,} late", f"{counts.set_aside:,} set aside"]
        self._draw(parts)

    def _draw(self, parts: list[str]) -> None:
        # Cut by hand: a line that wraps could not be drawn over.
        sys.stderr.write("\r\x1b[2K" + "  ".join(parts)[: _width() - 1])
        sys.stderr.flush()
        self._shown = True

    def clear(self) -> None:
        """Makes room for something else on the terminal."""
        if self._shown:
            self._shown = False
            sys.stderr.write("\r\x1b[2K")
            sys.stderr.flush()
            self._next = 0.0

    def summary(self, counts: Counts, queries: tuple[RunQuery, ...], how: str, dead_letter: str | None) -> str:
        """The run in one line."""
        elapsed = time.monotonic() - self._begun
        read = counts.elements - counts.before
        parts = [_count(read, "element")]
        if counts.triples is not None:
            parts[0] += f", {_count(counts.triples, 'triple')}"
        if counts.before:
            parts[0] = f"{_count(read, 'element')} after {counts.before:,}"
        if elapsed >= _TIMED_FROM_S:
            parts[0] += f" in {elapsed:.1f} s ({read / elapsed:,.0f} elements/s)"
        answers = _count(sum(counts.answers), "answer")
        if len(queries) > 1:
            each = (f"{query.name} {count:,}" for query, count in zip(queries, counts.answers, strict=True))
            answers += f" ({', '.join(each)})"
        parts.append(answers)
        parts.append(f"{counts.late:,} late")
        there = f" in {dead_letter}" if dead_letter is not None and counts.late + counts.set_aside else ""
        parts.append(f"{counts.set_aside:,} set aside{there}")
        return f"{how}: " + "; ".join(parts)


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}" if number == 1 else f"{number:,} {word}s"


def _width() -> int:
    import shutil

    return shutil.get_terminal_size().columns
