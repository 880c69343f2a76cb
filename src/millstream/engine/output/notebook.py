"""Answers, queries and engines as HTML for notebooks: small, escaped, without scripts, in the colours of the page.

Only inline styles: those of a style sheet would reach all of the notebook. Text has the colour of the page it stands on, and
backgrounds are translucent, so that light and dark pages are served alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from pyoxigraph import BlankNode, Literal, NamedNode

if TYPE_CHECKING:
    from millstream.engine.output.answers import Answer

MOST_ROWS = 50
"""Rows of a table that are shown; the others are counted."""

_BOX = "color:inherit;overflow-x:auto;max-width:100%"
_TABLE = "border-collapse:collapse;font-size:0.9em;margin:0.2em 0;color:inherit;background:transparent"
_EDGE = "border-bottom:1px solid rgba(128,128,128,0.35);padding:0.15em 0.7em"
_CAME = "background:rgba(46,160,67,0.16)"
_WENT = "background:rgba(218,54,51,0.16)"
_QUIET = "opacity:0.7"
_NUMBERS = ("integer", "decimal", "double", "float", "long", "int", "short", "byte")


def answers_html(answers: Sequence[Answer]) -> str:
    """What a query emitted, a row an answer: green for what appears, red for what disappears."""
    if not answers:
        return _box(_line("no answers"))
    names = list(dict.fromkeys(name for answer in answers[:MOST_ROWS] for name in answer.bindings))
    rows = []
    for answer in answers[:MOST_ROWS]:
        came = answer.weight > 0
        cells = [_cell(str(answer.at_ms), right=True), _cell("+1" if came else "−1", right=True)]
        cells += [_term(answer.bindings.get(name)) for name in names]
        rows.append(f'<tr style="{_CAME if came else _WENT}">{"".join(cells)}</tr>')
    more = len(answers) - len(rows)
    table = _table(["at_ms", "", *names], rows)
    return _box(table + (_line(f"and {more:,} more") if more else ""))


def query_html(title: str, facts: Mapping[str, Any], tree: Iterable[str]) -> str:
    """A query: what it is in a line, its counts, and the operators that run it."""
    counts = " · ".join(f"{escape(name)} {value:,}" for name, value in facts.items())
    drawn = escape("\n".join(tree))
    style = "color:inherit;background:transparent;line-height:1.3;margin:0.3em 0;white-space:pre"
    return _box(
        f"<div><b>{escape(title)}</b></div>{_line(counts)}" + (f'<pre style="{style}">{drawn}</pre>' if drawn else "")
    )


def engine_html(title: str, tables: Mapping[str, tuple[Sequence[str], Sequence[Sequence[str | int]]]]) -> str:
    """An engine: streams, datasets and queries, each as a table."""
    parts = [f"<div><b>{escape(title)}</b></div>"]
    for name, (heads, rows) in tables.items():
        if not rows:
            parts.append(_line(f"no {name}"))
            continue
        shown = [f"<tr>{''.join(_cell(_text(cell), right=isinstance(cell, int)) for cell in row)}</tr>" for row in rows]
        parts.append(_table([name, *heads], shown[:MOST_ROWS]))
        if len(rows) > MOST_ROWS:
            parts.append(_line(f"and {len(rows) - MOST_ROWS:,} more"))
    return _box("".join(parts))


def _text(cell: str | int) -> str:
    return f"{cell:,}" if isinstance(cell, int) else cell


def _box(inside: str) -> str:
    return f'<div style="{_BOX}">{inside}</div>'


def _line(text: str) -> str:
    return f'<div style="{_QUIET}">{escape(text)}</div>'


def _table(heads: Sequence[str], rows: Iterable[str]) -> str:
    head = "".join(f'<th style="{_EDGE};text-align:left;font-weight:600">{escape(name)}</th>' for name in heads)
    return f'<table style="{_TABLE}"><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table>'


def _cell(text: str, *, right: bool = False, title: str = "") -> str:
    told = f' title="{escape(title)}"' if title else ""
    return f'<td style="{_EDGE};text-align:{"right" if right else "left"}"{told}>{escape(text)}</td>'


def _term(term: NamedNode | BlankNode | Literal | None) -> str:
    """A term in a cell: what kind of literal it is shows when the pointer rests on it."""
    if term is None:
        return _cell("")
    if isinstance(term, Literal):
        kind = f"@{term.language}" if term.language else term.datatype.value
        return _cell(term.value, right=kind.rpartition("#")[2] in _NUMBERS, title=kind)
    return _cell(str(term) if isinstance(term, BlankNode) else term.value)
