"""Drawings of time for docs/concepts, each of what the engine answers: a drawing cannot show what does not happen."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import millstream as ms
from docs.making.svg import Drawing
from docs.making.timelines import SECOND, Answers, Bar, E, Elements, over, taken, triple

STREAM: Elements = [(1, "a"), (3, "b"), (5, "cd"), (8, "e"), (13, "f")]
"""What comes in most drawings: at 5 s an element of two triples."""

LEFT, RIGHT, SCALE, ROW = 92, 24, 28, 24
UNTIL = 22

WINDOWS = {
    "range": "RANGE 5s",
    "slide": "RANGE 5s SLIDE 4s",
    "step": "RANGE 6s STEP 3s",
    "tumbling": "RANGE 6s TUMBLING",
    "landmark": "LANDMARK 6s",
    "session": "SESSION 5s",
    "triples": "TRIPLES 3",
    "elements": "ELEMENTS 3",
    "now": "NOW",
    "event": "EVENT",
    "all": "ALL",
}

GRIDS = {"slide": 4, "step": 3, "tumbling": 6, "landmark": 6}
"""Where a window has a grid, and how far apart its instants are, in seconds."""


class Timeline:
    """Rows above an axis of seconds."""

    def __init__(self, title: str) -> None:
        self.until = UNTIL
        self.draw = Drawing(LEFT + self.until * SCALE + RIGHT, title)
        self.y = 40.0
        self.draw.text(16, 25, title, "title code")
        self._grid: list[float] = []

    def x(self, second: float) -> float:
        return LEFT + second * SCALE

    def grid(self, step: int) -> None:
        """Dotted lines at the instants of a grid, drawn down to the axis."""
        self._grid = [k * step for k in range(self.until // step + 1)]

    def label(self, words: str) -> None:
        self.draw.text(LEFT - 14, self.y + 16, words, "quiet end")

    def stream(self, elements: Elements, label: str = "stream") -> None:
        self.label(label)
        self.draw.line(self.x(0), self.y + 12, self.x(self.until), self.y + 12, "faint")
        for at, names in elements:
            for place, name in enumerate(names):
                x = self.x(at) + (place - (len(names) - 1) / 2) * 19
                self.draw.dot(x, self.y + 12, 9, colour(name))
                self.draw.text(x, self.y + 16.5, name, "on middle")
        self.y += 34

    def bar(self, bar: Bar, words: str | None = None) -> None:
        """From its beginning, which belongs to it, until its end, which does not."""
        start, end = self.x(bar.start), self.x(self.until if bar.end is None else bar.end)
        width = max(end - start, 4)
        self.draw.box(start, self.y + 3, width, ROW - 7, colour(bar.name))
        self.draw.line(start, self.y + 1, start, self.y + ROW - 2, "mark")
        name = bar.name if words is None else words
        if width > 14:
            self.draw.text(start + 7, self.y + 16, name, "on")
        else:
            self.draw.text(start + width + 5, self.y + 16, name)
        if bar.end is None:
            self.draw.text(end - 7, self.y + 16, "→", "on end")
        self.y += ROW

    def emitted(self, answers: Answers, label: str, sign: bool = True) -> None:
        """A column of what is emitted at each time."""
        times = answers.at_times()
        self.label(label)
        self.draw.line(self.x(0), self.y + 12, self.x(self.until), self.y + 12, "faint")
        deepest = 1
        for at, rows in times.items():
            if sign:
                column = [f"{'+' if weight > 0 else '−'}{name}" for weight, name in rows]
            else:
                column = ["".join(sorted(name for _, name in rows))]
            for depth, words in enumerate(column):
                kind = "code middle good" if sign and words[0] == "+" else "code middle bad" if sign else "code middle"
                self.draw.text(self.x(at), self.y + 16 + depth * 15, words, kind)
            deepest = max(deepest, len(column))
        self.y += 19 + 15 * deepest

    def axis(self) -> str:
        """Closes the drawing with its axis."""
        self.y += 6
        for at in self._grid:
            self.draw.line(self.x(at), 36, self.x(at), self.y, "grid", below=True)
        self.draw.line(self.x(0), self.y, self.x(self.until) + 10, self.y)
        for second in range(self.until + 1):
            long = 5 if second % 5 == 0 else 3
            self.draw.line(self.x(second), self.y, self.x(second), self.y + long)
            if second % 5 == 0:
                self.draw.text(self.x(second), self.y + 19, f"{second} s" if second == 0 else str(second), "quiet middle")
        return self.draw.svg(self.y + 32)


def colour(name: str) -> str:
    return f"c{(ord(name[0]) - ord('a')) % 6}"


def window(kind: str) -> str:
    """A window of each kind over the same stream."""
    line = Timeline(f"[{WINDOWS[kind]}]")
    if kind in GRIDS:
        line.grid(GRIDS[kind])
    line.stream(STREAM)
    for number, bar in enumerate(over(WINDOWS[kind], STREAM).bars()):
        if number == 0:
            line.label("seen")
        line.bar(bar)
    return line.axis()


def dataset() -> str:
    """A triple of a graph, from insert to delete."""
    line = Timeline("a graph: from insert to delete")
    engine = ms.Engine()
    query = engine.register("SELECT ?x WHERE { ?x ?p ?y }", output="changes")
    done = [(2, "insert", "a"), (5, "insert", "b"), (9, "delete", "a"), (12, "insert", "a"), (16, "delete", "b")]
    line.label("changes")
    for at, what, name in done:
        (engine.insert if what == "insert" else engine.delete)(triple(name), at_ms=at * SECOND)
        line.draw.text(line.x(at), line.y + 16, f"{what} {name}", "middle code quiet")
    line.y += 30
    engine.advance_to(UNTIL * SECOND)
    for number, bar in enumerate(taken(query).bars()):
        if number == 0:
            line.label("seen")
        line.bar(bar)
    return line.axis()


def outputs() -> str:
    """What each output emits, on every change."""
    line = Timeline("[RANGE 5s], on every change")
    elements: Elements = [(1, "a"), (3, "b"), (4, "c"), (11, "e")]
    line.stream(elements)
    for number, bar in enumerate(over("RANGE 5s", elements).bars()):
        if number == 0:
            line.label("seen")
        line.bar(bar)
    line.y += 6
    for output in ("istream", "dstream", "changes", "rstream"):
        answers = over("RANGE 5s", elements, output)
        if output == "dstream":
            answers = Answers([(at, -1, name) for at, _, name in answers.rows])
        line.emitted(answers, output.upper(), sign=output != "rstream")
    return line.axis()


def closing() -> str:
    """Answers when windows close."""
    line = Timeline("[RANGE 6s STEP 3s], when windows close")
    line.grid(3)
    line.stream(STREAM)
    for number, bar in enumerate(over("RANGE 6s STEP 3s", STREAM).bars()):
        if number == 0:
            line.label("seen")
        line.bar(bar)
    line.y += 6
    for output in ("rstream", "changes"):
        line.emitted(over("RANGE 6s STEP 3s", STREAM, output), output.upper(), sign=output != "rstream")
    return line.axis()


def intervals() -> str:
    """An answer of two streams and a graph holds while all three triples are seen."""
    engine = ms.Engine()
    text = {
        "reading": f"SELECT ?x {{ STREAM <{E}r> [RANGE 8s] {{ ?x <{E}shows> ?d }} }}",
        "badge": f"SELECT ?x {{ STREAM <{E}b> [RANGE 6s] {{ ?x <{E}in> ?room }} }}",
        "graph": f"SELECT ?x {{ ?x <{E}hangsIn> ?room }}",
        "answer": f"""SELECT ?x {{ STREAM <{E}r> [RANGE 8s] {{ ?x <{E}shows> ?d }}
            STREAM <{E}b> [RANGE 6s] {{ ?p <{E}in> ?room }} ?x <{E}hangsIn> ?room }}""",
    }
    queries = {name: engine.register(query, output="changes") for name, query in text.items()}
    engine.insert(triple("thermometer", "hangsIn", "lab"), at_ms=1 * SECOND)
    engine.push(E + "r", triple("thermometer", "shows", "hot"), at_ms=3 * SECOND)
    engine.push(E + "b", triple("ann", "in", "lab"), at_ms=6 * SECOND)
    engine.delete(triple("thermometer", "hangsIn", "lab"), at_ms=15 * SECOND)
    engine.advance_to(UNTIL * SECOND)
    line = Timeline("an answer holds where the intervals of its triples meet")
    words = {
        "graph": (":thermometer :hangsIn :lab", "graph", "a"),
        "reading": (":thermometer :shows :hot", "[RANGE 8s]", "b"),
        "badge": (":ann :in :lab", "[RANGE 6s]", "c"),
        "answer": ("ann is in the heat", "answer", "e"),
    }
    for name, (spelled, label, hue) in words.items():
        if name == "answer":
            line.y += 10
        line.label(label)
        for bar in taken(queries[name]).bars():
            line.bar(Bar(hue, bar.start, bar.end), spelled)
            if name == "answer":
                assert bar.end is not None
                for at, sign, kind in ((bar.start, "+1", "good"), (bar.end, "−1", "bad")):
                    line.draw.line(line.x(at), 36, line.x(at), line.y, "grid", below=True)
                    line.draw.text(line.x(at), line.y + 14, sign, f"code middle {kind}")
    line.y += 18
    return line.axis()


def lateness() -> str:
    """What comes out of order: held back until the watermark has passed it, or late."""
    times = [2, 4, 3, 6, 5, 9, 4, 8, 12, 10, 14]
    allowed = 3
    engine = ms.Engine(lateness_ms=allowed * SECOND)
    query = engine.register(f"SELECT ?x {{ STREAM <{E}s> [ALL] {{ ?x ?p ?y }} }}", output="istream")
    left, top, wide, high, most = 64, 66, 43, 15, 15
    draw = Drawing(LEFT + UNTIL * SCALE + RIGHT, f"Engine(lateness_ms={allowed * SECOND})")
    draw.text(16, 25, f"Engine(lateness_ms={allowed * SECOND})", "title code")
    foot = top + high * most

    def y(second: float) -> float:
        return foot - second * high

    draw.line(left, top - 8, left, foot)
    draw.line(left, foot, left + wide * len(times) + 10, foot)
    for second in range(0, most + 1, 5):
        draw.line(left - 4, y(second), left, y(second))
        draw.text(left - 9, y(second) + 4, f"{second} s", "quiet end")
        draw.line(left, y(second), left + wide * len(times), y(second), "faint")
    draw.text(left + wide * len(times) / 2, foot + 24, "elements in the order in which they come", "quiet middle")
    draw.text(16, top - 18, "their own time", "quiet")
    highest, path, late = 0, "", 0
    for place, at in enumerate(times):
        engine.push(E + "s", triple(f"n{place}"), at_ms=at * SECOND)
        is_late = engine.stats["late"] > late
        late = engine.stats["late"]
        assert is_late == (at < highest - allowed)
        highest = max(highest, at)
        x = left + wide * place + wide / 2
        level = y(max(highest - allowed, 0))
        path += f"{'M' if not path else 'L'}{x - wide / 2:g} {level:g}H{x + wide / 2:g}"
        draw.dot(x, y(at), 6, "bad" if is_late else "c0")
        if is_late:
            draw.text(x + 10, y(at) + 4, "late", "bad")
        given = [int(a.at_ms / SECOND) for a in query.take()]
        draw.text(x, foot + 46, " ".join(map(str, given)) or "·", "code middle")
    draw.path(path, "line")
    draw.text(left - 9, foot + 46, "given", "quiet end")
    edge = left + wide * len(times) + 18
    draw.text(edge, y(max(highest - allowed, 0)) + 4, "watermark: the largest time", "quiet")
    draw.text(edge, y(max(highest - allowed, 0)) + 20, f"so far, less {allowed} s", "quiet")
    draw.text(edge, foot + 46, "what is processed then", "quiet")
    return draw.svg(foot + 62)


CHAIN = f"""SELECT ?taxi ?zone ?city {{ STREAM <{E}s> [RANGE 9s] {{
    ?taxi <{E}on> ?trip . ?trip <{E}to> ?zone . ?zone <{E}in> ?city }} }}"""


def cells() -> str:
    """To which cells of a grid triples go, by the routes of the pipeline; an answer is in exactly one of them."""
    import numpy as np

    from millstream.ingest.intake import Encoder
    from millstream.kernels.dictionary.dictionary import Dictionary
    from millstream.pipeline.exchange.routing import Router
    from millstream.pipeline.job.specification import StreamedSource, job_spec

    source = StreamedSource(E + "s")
    spec = job_spec(CHAIN, [source], cells=4, output="changes")
    texts = [("taxi1", "on", "trip7"), ("trip7", "to", "zone3"), ("zone3", "in", "oslo")]
    dictionary = Dictionary()
    lines = "\n".join(triple(*spelled) for spelled in texts).encode()
    router = Router(spec, dictionary)
    routed = router.route(Encoder(dictionary).encode(lines, None).triples, router.matchers(source))
    goes = [sorted(np.unique(routed.cell[routed.row == row]).tolist()) for row in range(len(texts))]
    names = [str(variable) for variable in spec.cells.variables]
    rows, columns = spec.cells.shares

    draw = Drawing(LEFT + UNTIL * SCALE + RIGHT, "four cells")
    draw.text(16, 25, f"four cells, by {' and '.join(names)}", "title code")
    draw.text(16, 46, f"rows by a hash of {names[0]}, columns by one of {names[1]}", "quiet")
    size, top = 58, 96
    for number, spelled in enumerate(texts):
        left = 24 + number * 178
        draw.text(left, 80, " ".join(f":{word}" for word in spelled), f"code {colour('abc'[number])}")
        _cells(draw, left, top, size, rows, columns, set(goes[number]), f"{colour('abc'[number])}")
    left = 24 + len(texts) * 178
    draw.text(left, 80, "the answer", "title")
    whole = set(goes[0]).intersection(*goes[1:])
    assert len(whole) == 1
    _cells(draw, left, top, size, rows, columns, whole, "good")
    foot = top + rows * (size + 6) + 18
    for number, places in enumerate(goes):
        words = "to one cell" if len(places) == 1 else f"to {len(places)} cells"
        draw.text(24 + number * 178, foot, words, "quiet")
    draw.text(left, foot, "where all three meet", "quiet")
    return draw.svg(foot + 18)


def _cells(draw: Drawing, left: float, top: float, size: float, rows: int, columns: int, lit: set[int], kind: str) -> None:
    for cell in range(rows * columns):
        x, y = left + cell % columns * (size + 6), top + cell // columns * (size + 6)
        draw.box(x, y, size, size, "cell")
        draw.text(x + 7, y + 16, str(cell), "quiet")
        if cell in lit:
            draw.dot(x + size / 2, y + size / 2 + 3, 10, kind)


def drawings() -> dict[str, str]:
    """All of them, by the names of their files."""
    others: Sequence[Callable[[], str]] = (dataset, outputs, closing, intervals, lateness, cells)
    return {f"{kind}.svg": window(kind) for kind in WINDOWS} | {f"{each.__name__}.svg": each() for each in others}
