"""The short ways of single elements and single changes, taken: from the scanner to the joins of all queries, row by row.

Whatever cannot take one is left alone, for the long way of columns.
"""

from __future__ import annotations

from millstream.engine.core import Core, Happening, Stream
from millstream.engine.datasets import Graph
from millstream.engine.graph_lane import GraphLanes
from millstream.engine.lane import Lanes, Row
from millstream.engine.unseen import Unseen, sees_in_steps
from millstream.errors import DataError
from millstream.ingest.columns import Ids
from millstream.ingest.ordering import Ordering
from millstream.kernels.scanner import Scanner
from millstream.operators.rows import ELEMENT, tick

_LONG = 1 << 14
"""Characters of an element for which columns are the shorter way: about a hundred triples."""
_MANY = 100


class Singles:
    """Takes what can go a short way, for the engine it belongs to."""

    def __init__(self, core: Core, ordering: Ordering[Happening]) -> None:
        self._core = core
        self._ordering = ordering

    # Elements ---------------------------------------------------------------------------------------------------------

    def push(self, stream: Stream, text: str, at_ms: int) -> bool:
        """Takes an element, if all queries have a way for it and nothing stands in it."""
        way = self._way(stream, at_ms)
        if way is None or len(text) > _LONG:
            return False
        found = way.scanner.feed_whole(text)
        if found is None:
            return False
        rows, total, errors = found
        if errors:
            line, column, reason, bad = errors[0]
            raise DataError(reason, source="triples", line=line, column=column, text=bad)
        if total > 1 and (len({row[:3] for row in rows}) < len(rows) or (stream.counted and len(rows) < total)):
            # Repeats count once, also those of triples that nobody asks for.
            return False
        self._take_rows(stream, way, rows, at_ms, total)
        return True

    def push_encoded(self, stream: Stream, triples: Ids, at_ms: int, total: int) -> bool:
        """The same of an element whose triples, each once, are encoded; `total` counts those that nobody asks for."""
        way = self._way(stream, at_ms)
        if way is None or len(triples) > _MANY or self._core.pending.may_overflow():
            return False
        if self._core.repeating and self._core.has_gap((at_ms, at_ms)):
            return False
        rows = [(s, p, o, place) for place, (s, p, o) in enumerate(triples.tolist())]
        self._take_rows(stream, way, rows, at_ms, total)
        return True

    def _way(self, stream: Stream, at_ms: int) -> Lanes | Unseen | None:
        """What takes an element that comes now."""
        lanes = stream.lanes if stream.looked_for_lanes else self._find_lanes(stream)
        unseen = stream.unseen if lanes is None else None
        way = lanes if unseen is None or not unseen.may_wait(at_ms) else unseen
        return way if self._ordering.is_next(at_ms) else None

    def _take_rows(self, stream: Stream, way: Lanes | Unseen, rows: list[Row], at_ms: int, total: int) -> None:
        self._ordering.see(at_ms)
        if isinstance(way, Unseen):
            self._let_wait(stream, way, rows, at_ms, total)
        else:
            self._take(stream, way, rows, at_ms, total)
        self._core.keep_house()

    def _find_lanes(self, stream: Stream) -> Lanes | None:
        """The lanes of a stream, looked for once after every change of its readers."""
        core = self._core
        if core.feeding.active:
            return None
        lanes = Lanes(Scanner(core.dictionary, summary=stream.summary), core.dictionary)
        stream.lanes = lanes if all(lanes.add(run, stream.iri) for run in stream.runs) else None
        if stream.lanes is None and all(sees_in_steps(run, stream.iri) for run in stream.runs):
            steps_ms = {step for run in stream.runs for outlet in run.outlets for step in outlet.steps_ms}
            stream.unseen = Unseen(lanes.scanner, steps_ms, core.options.t0_ms)
        # A first change ahead passes with the first element, so look again at the next.
        stream.looked_for_lanes = not any(run.has_first_change_ahead for run in stream.runs)
        return stream.lanes

    def _take(self, stream: Stream, lanes: Lanes, rows: list[Row], at_ms: int, total: int) -> None:
        at_tick = tick(at_ms, ELEMENT)
        stream.elements += 1
        stream.triples += total
        stream.kept += len(rows)
        lanes.take(rows, at_ms, at_tick, total, stream.triples, stream.elements)
        self._core.before = max(self._core.before, at_tick + 1)

    def _let_wait(self, stream: Stream, unseen: Unseen, rows: list[Row], at_ms: int, total: int) -> None:
        if not unseen:
            self._core.with_unseen.append(stream)
        unseen.add(rows, at_ms, total)
        self._core.before = max(self._core.before, tick(at_ms, ELEMENT) + 1)

    # Changes ----------------------------------------------------------------------------------------------------------

    def change(self, data: bytes, at_ms: int | None, graph: str | None, *, insert: bool) -> bool:
        """Takes a change of one triple, at a time or now, if all queries have a way for it and nothing stands in it."""
        if b"\n" in data.rstrip():
            return False
        lanes = self._graph_way(at_ms, graph)
        found = None if lanes is None else lanes.scanner.feed_whole(data.decode("utf-8", "surrogateescape"))
        if lanes is None or found is None or len(found[0]) != 1:
            return False
        ((s, p, o, _),) = found[0]
        self._take_change(lanes, (s, p, o), at_ms, graph, insert=insert)
        return True

    def change_encoded(self, triple: tuple[int, int, int], at_ms: int | None, graph: str | None, *, insert: bool) -> bool:
        """The same of a triple that is encoded."""
        lanes = self._graph_way(at_ms, graph)
        if lanes is None:
            return False
        self._take_change(lanes, triple, at_ms, graph, insert=insert)
        return True

    def _graph_way(self, at_ms: int | None, graph: str | None) -> GraphLanes | None:
        """What takes a change that comes now."""
        core = self._core
        lanes = None if core.pending.may_overflow() else self._find_graph_lanes(graph)
        if lanes is None or (at_ms is not None and not self._ordering.is_next(at_ms)):
            return None
        return None if at_ms is not None and core.repeating and core.has_gap((at_ms, at_ms)) else lanes

    def _take_change(
        self, lanes: GraphLanes, triple: tuple[int, int, int], at_ms: int | None, graph: str | None, *, insert: bool
    ) -> None:
        core = self._core
        core.look()
        at_tick = core.now_tick
        if at_ms is not None:
            at_tick = tick(at_ms, ELEMENT)
            self._ordering.see(at_ms)
            core.pass_time(at_tick + 1)
        held = core.graphs.get(graph)
        if held is None:
            held = core.graphs[graph] = Graph(core.dictionary)
        if held.insert_one(triple) if insert else held.delete_one(triple, at_tick):
            core.counts["changes"] += 1
            lanes.take(triple, 1 if insert else -1, at_tick)
        core.keep_house()

    def _find_graph_lanes(self, graph: str | None) -> GraphLanes | None:
        """The lanes of a graph, looked for once after every change of the queries."""
        core = self._core
        if core.feeding.active:
            return None
        if graph not in core.graph_lanes:
            lanes = GraphLanes(Scanner(core.dictionary))
            runs = [run for run in core.runs if run.reads(graph)]
            found = lanes if all(lanes.add(run, graph) for run in runs) else None
            if any(run.has_first_change_ahead for run in runs):
                # It passes with the first change, so look again at the next.
                return None
            core.graph_lanes[graph] = found
        return core.graph_lanes[graph]
