"""Small drawings as SVG, light or dark as the reader's page is; written by hand, so that equal drawings are equal bytes."""

from __future__ import annotations

from html import escape

_STYLE = """
  .page { fill: #ffffff; stroke: #d8dee4 }
  text { font: 13px ui-sans-serif, system-ui, "Segoe UI", Helvetica, Arial, sans-serif; fill: #24292f }
  .quiet { fill: #656d76; font-size: 12px } .code { font-family: ui-monospace, Menlo, Consolas, monospace }
  .title { font-weight: 600 } .middle { text-anchor: middle } .end { text-anchor: end }
  .on { fill: #ffffff; font-weight: 600 }
  .axis { stroke: #8c959f; stroke-width: 1.2; fill: none } .grid { stroke: #8c959f; stroke-dasharray: 2 4 }
  .faint { stroke: #d8dee4 } .mark { stroke: #24292f; stroke-width: 1.6; fill: none }
  .c0 { fill: #0b7285 } .c1 { fill: #b35900 } .c2 { fill: #6741d9 }
  .c3 { fill: #c2255c } .c4 { fill: #2b7a0b } .c5 { fill: #1864ab }
  .bad { fill: #cf222e } .good { fill: #1a7f37 } .cell { fill: #f6f8fa; stroke: #8c959f }
  .line { fill: none; stroke: #0b7285; stroke-width: 2 }
  @media (prefers-color-scheme: dark) {
    .page { fill: #161b22; stroke: #30363d } text { fill: #e6edf3 } .quiet { fill: #9198a1 } .on { fill: #0d1117 }
    .axis, .grid { stroke: #7d8590 } .faint { stroke: #30363d } .mark { stroke: #e6edf3 }
    .c0 { fill: #3bc9db } .c1 { fill: #ffa94d } .c2 { fill: #b197fc }
    .c3 { fill: #f783ac } .c4 { fill: #8ce99a } .c5 { fill: #74c0fc }
    .bad { fill: #ff7b72 } .good { fill: #56d364 } .cell { fill: #0d1117; stroke: #7d8590 }
    .line { stroke: #3bc9db }
  }
"""


class Drawing:
    """Shapes in the order in which they are drawn."""

    def __init__(self, width: float, title: str) -> None:
        self.width = width
        self._title = title
        self._shapes: list[str] = []

    def text(self, x: float, y: float, words: str, kind: str = "") -> None:
        self._shapes.append(f'<text x="{_n(x)}" y="{_n(y)}"{_kind(kind)}>{escape(words)}</text>')

    def line(self, x1: float, y1: float, x2: float, y2: float, kind: str = "axis", below: bool = False) -> None:
        shape = f'<line x1="{_n(x1)}" y1="{_n(y1)}" x2="{_n(x2)}" y2="{_n(y2)}"{_kind(kind)}/>'
        self._shapes.insert(0 if below else len(self._shapes), shape)

    def path(self, d: str, kind: str) -> None:
        self._shapes.append(f'<path d="{d}"{_kind(kind)}/>')

    def box(self, x: float, y: float, width: float, height: float, kind: str, corner: float = 3) -> None:
        self._shapes.append(
            f'<rect x="{_n(x)}" y="{_n(y)}" width="{_n(width)}" height="{_n(height)}" rx="{_n(corner)}"{_kind(kind)}/>'
        )

    def dot(self, x: float, y: float, radius: float, kind: str) -> None:
        self._shapes.append(f'<circle cx="{_n(x)}" cy="{_n(y)}" r="{_n(radius)}"{_kind(kind)}/>')

    def svg(self, height: float) -> str:
        """The whole of it, on a page of its own colour: it is read wherever it is shown."""
        size = f'viewBox="0 0 {_n(self.width)} {_n(height)}" width="{_n(self.width)}" height="{_n(height)}"'
        page = f'<rect x="0.5" y="0.5" width="{_n(self.width - 1)}" height="{_n(height - 1)}" rx="6" class="page"/>'
        head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">\n<title>{escape(self._title)}</title>'
        return "\n".join([head, f"<style>{_STYLE}</style>", page, *self._shapes, "</svg>", ""])


def _kind(kind: str) -> str:
    return f' class="{kind}"' if kind else ""


def _n(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
