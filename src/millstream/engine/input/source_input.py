"""How what sources give enters the engine: elements in time order together, those whose time is not taken set aside."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from millstream.engine.input.change_batch import ChangeBatch
from millstream.engine.input.input_events import Element, GraphChange
from millstream.engine.input.loading import Loading, in_order_of_appearance
from millstream.engine.options import checked_time, graph_iri
from millstream.engine.windows.window_operators import NEVER
from millstream.ingest import Chunk, Columns
from millstream.ingest.columns import Ids, first_at, time_at
from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.kernels.engine.processing import Stream
from millstream.kernels.matching.elements import Elements
from millstream.kernels.matching.intake import Intake
from millstream.operators.ticks import ELEMENT, tick

if TYPE_CHECKING:
    from millstream.engine.engine import Engine

_SURPRISE = 4
"""Answers a changed triple, beyond which changes are made one by one where the limit of waiting answers is near."""


class SourceInput:
    """Takes what sources give, for the engine it belongs to; where others may call that too, its lock is held."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._core = engine._core
        self._ordering = engine._ordering

    # Streams ----------------------------------------------------------------------------------------------------------

    @property
    def dictionary(self) -> Dictionary:
        """What the ids of columns are numbers in."""
        return self._core.dictionary

    def encode(self, stream: str, chunk: Chunk) -> Columns:
        """The elements of a chunk, as far as somebody who reads the stream may ask for them."""
        state = self._core.stream(stream)
        # Only who sees all triples of an element knows which of them are repeats.
        return chunk.encode(self._core.dictionary, state.summary if chunk.is_single or not state.counted else None)

    def take(self, stream: str, columns: Columns) -> None:
        """Elements of a stream; raises what ended their reading."""
        if columns.elements == 1:
            self._one(self._core.stream(stream), columns)
        elif columns.elements:
            self._elements(self._core.stream(stream), columns)
        if columns.fault is not None:
            raise columns.fault

    def _one(self, stream: Stream, columns: Columns) -> None:
        """An element by itself, as if it was pushed."""
        at_ms = checked_time(columns.time(0))
        intake = Intake(columns.triples, total=1 if columns.sizes is None else int(columns.sizes[0]))
        if self._engine._pending_guard.may_overflow(at_ms):
            self._engine._offer_cautiously(at_ms, Element(stream.iri, intake))
        else:
            self._engine.entrance.offer(stream, intake, at_ms)

    def take_intakes(self, stream: Stream, times: list[int], intakes: list[Intake]) -> None:
        """Elements that callers passed, each with its time, as if they came one by one."""
        engine, core = self._engine, self._core
        if not times:
            return
        at_ms = np.array(times, np.int64)
        together = self._ordering.passes_through and self._ordering.takes_all(at_ms) and not core.repeating
        if together and not core.pending.may_overflow():
            batch = Elements.of(stream.iri, times, intakes, stream.triples, stream.elements + 1)
            engine._offer_batch(stream, batch, len(batch))
            return
        held = np.concatenate([intake.ids for intake in intakes])
        core.dictionary.hold(held)
        try:
            for time_ms, intake in zip(times, intakes, strict=True):
                engine._offer_cautiously(time_ms, Element(stream.iri, intake))
        finally:
            core.dictionary.release(held, NEVER)

    def _elements(self, stream: Stream, columns: Columns) -> None:
        if not self._ordering.passes_through:
            self._one_by_one(stream, columns)
        elif columns.at_ms is None and self._ordering.max_jump_ms is None:
            self._at_rate(stream, columns)
        else:
            self._in_stretches(stream, columns, columns.times())

    def _at_rate(self, stream: Stream, columns: Columns) -> None:
        """Times are in order: those that are late come first, all others together."""
        rate, first, last = columns.rate, columns.first, columns.first + columns.elements
        assert rate is not None
        begin = min(last, max(first, first_at(self._ordering.bounds[0], rate))) - first
        for place in range(begin):
            self._set_aside(stream, columns, place, time_at(first + place, rate))
        if begin < columns.elements:
            self._together(stream, columns, begin, columns.elements)

    def _in_stretches(self, stream: Stream, columns: Columns, at_ms: Ids) -> None:
        """Elements as they come: those in time order together, those that are not taken by themselves."""
        held = columns.triples[:0].ravel()
        try:
            for first, last, taken in self._ordering.stretches(at_ms):
                if last - first < columns.elements and not len(held):
                    # Between two stretches terms are forgotten that nobody holds.
                    held = columns.triples.ravel()
                    self._core.dictionary.hold(held)
                if taken:
                    self._together(stream, columns, first, last)
                else:
                    self._set_aside(stream, columns, first, int(at_ms[first]))
        finally:
            self._core.dictionary.release(held, NEVER)

    def _one_by_one(self, stream: Stream, columns: Columns) -> None:
        """Elements that may have to wait, or to wait for others."""
        held, engine = columns.triples.ravel(), self._engine
        self._core.dictionary.hold(held)
        try:
            for place, time_ms in enumerate(columns.times().tolist()):
                engine._offer_cautiously(time_ms, self._element(stream, columns, place))
        finally:
            self._core.dictionary.release(held, NEVER)

    def _together(self, stream: Stream, columns: Columns, first: int, last: int) -> None:
        """Elements in time order, from one place up to another."""
        sparse = columns.sizes is None and all(run.is_timed for run in stream.runs)
        batch = Elements.part(stream.iri, columns, first, last, stream.triples, stream.elements + 1, sparse)
        self._engine._offer_batch(stream, batch, last - first)

    def _set_aside(self, stream: Stream, columns: Columns, place: int, time_ms: int) -> None:
        self._engine._aside.untimely(checked_time(time_ms), self._element(stream, columns, place))

    def _element(self, stream: Stream, columns: Columns, place: int) -> Element:
        low, high = np.searchsorted(columns.element, (place, place + 1))
        total = 1 if columns.sizes is None else int(columns.sizes[place])
        return Element(stream.iri, Intake(columns.triples[low:high], total=total))

    # Graphs -----------------------------------------------------------------------------------------------------------

    def load(self, chunks: Iterator[Chunk], graph: str | None) -> int:
        """Quads of datasets; `graph` takes those of the default graph."""
        dictionary = self._core.dictionary
        loading = Loading(self._core, self._engine._pending_guard)
        for chunk in chunks:
            found = chunk.encode(dictionary, None)
            for name_id in [-1] if found.graph is None else in_order_of_appearance(found.graph):
                some = found.triples if found.graph is None else found.triples[found.graph == name_id]
                # A graph named by a blank node goes by its label.
                loading.take(graph if name_id < 0 else dictionary.decode_one(name_id).strip("<>"), some)
            if found.fault is not None:
                raise found.fault
        return loading.end()

    def encode_changes(self, chunk: Chunk) -> Columns:
        """The changes of a chunk."""
        return chunk.encode(self._core.dictionary, None)

    def change(self, columns: Columns, graph: str | None) -> None:
        """Changes of graphs, one after the other; `graph` is the one of those that name none."""
        if columns.elements:
            names: list[str | None] = [graph]
            place = None
            if columns.graph is not None and (columns.graph >= 0).any():
                ids, row_place = np.unique(columns.graph, return_inverse=True)
                decode = self._core.dictionary.decode_one
                names += [graph if i < 0 else graph_iri(decode(i).strip("<>")) for i in ids.tolist()]
                place = np.zeros(columns.elements, np.int64)
                place[columns.element] = 1 + row_place
            self.take_changes(columns, names, place)
        if columns.fault is not None:
            raise columns.fault

    def take_changes(self, columns: Columns, names: list[str | None], place: Ids | None) -> None:
        """Changes of graphs, one after the other; `place`: which of the graphs each changes, the first without it."""
        core, timed = self._core, columns.at_ms is not None or columns.rate is not None
        near = core.pending.may_overflow() or core.pending.may_exceed(_SURPRISE * len(columns.triples))
        waits = timed and not self._ordering.passes_through
        if not (near or waits or core.derives or core.repeating):
            if not timed:
                self._changes_together(columns, names, place, np.full(columns.elements, core.now_tick, np.int64))
                core.happened(len(columns.triples))
                return
            at_ms = columns.times()
            if self._ordering.takes_all(at_ms):
                self._timed_changes_together(columns, names, place, at_ms)
                return
        # Between two of them terms are forgotten that nobody holds.
        held = columns.terms
        core.dictionary.hold(held)
        try:
            if timed and not (near or waits or core.derives or core.repeating):
                self._changes_in_stretches(columns, names, place, columns.times())
            else:
                times = columns.times().tolist() if timed else [None] * columns.elements
                for number, time_ms in enumerate(times):
                    self._engine._offer_graph_change(_change(columns, names, place, number), time_ms)
        finally:
            core.dictionary.release(held, NEVER)

    def _changes_in_stretches(self, columns: Columns, names: list[str | None], place: Ids | None, at_ms: Ids) -> None:
        """Changes as they come: those in time order together, those that are not taken by themselves."""
        for first, last, taken in self._ordering.stretches(at_ms):
            some, where = columns.slice(first, last), None if place is None else place[first:last]
            if taken:
                self._timed_changes_together(some, names, where, at_ms[first:last])
            else:
                self._engine._aside.untimely(checked_time(int(at_ms[first])), _change(some, names, where, 0))

    def _timed_changes_together(self, columns: Columns, names: list[str | None], place: Ids | None, at_ms: Ids) -> None:
        """Changes in time order, none of them late."""
        last_ms = checked_time(int(at_ms[-1]))
        self._core.pass_time(tick(int(at_ms[0]), ELEMENT))
        self._changes_together(columns, names, place, at_ms * 4 + ELEMENT)
        self._core.pass_time(tick(last_ms, ELEMENT) + 1)
        self._ordering.see(last_ms)
        self._core.happened(len(columns.triples))

    def _changes_together(self, columns: Columns, names: list[str | None], place: Ids | None, ticks: Ids) -> None:
        """Changes that happen next, each at a tick; nobody can tell by the answers that they are shown together."""
        assert columns.sign is not None
        element = columns.element
        if len(element):
            where = None if place is None else place[element]
            batch = ChangeBatch(names, columns.triples, where, columns.sign[element], ticks[element], element)
            self._core.process_changes(batch)


def _change(columns: Columns, names: list[str | None], place: Ids | None, number: int) -> GraphChange:
    """One of several changes."""
    assert columns.sign is not None
    low, high = np.searchsorted(columns.element, (number, number + 1)).tolist()
    name = names[0 if place is None else int(place[number])]
    return GraphChange(name, Intake(columns.triples[low:high]), bool(columns.sign[number] > 0))
