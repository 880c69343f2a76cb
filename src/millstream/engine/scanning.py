"""The fast ways in, taken: lines and tables straight from the scanner to the queries and datasets, a batch at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from millstream.engine.aside import Aside
from millstream.engine.batch import ElementBatch
from millstream.engine.caution import Caution
from millstream.engine.core import Core, Element, Happening, Stream
from millstream.engine.feeds import NEVER
from millstream.engine.graph_log import GraphElements, GraphLog
from millstream.engine.intake import Encoder, Intake
from millstream.engine.lines import LineSource, batch_at_rate, first_at, graph_sources, scanned, time_at
from millstream.engine.loading import Loading, in_order_of_appearance
from millstream.engine.options import checked_time
from millstream.engine.ordering import Ordering
from millstream.engine.tables import clean_table, repeats, table_batch
from millstream.kernels.scanner import Scanned, Scanner
from millstream.kernels.scanner_summary import Summary
from millstream.limits import Limits
from millstream.rdf import Format, Rejections, StreamElement

Ids = npt.NDArray[np.int64]
_TOGETHER = 10_000
_BYTES_TOGETHER = 16 << 20


class Scanning:
    """Reads what needs no reader, and hands it to the engine it belongs to."""

    def __init__(
        self,
        core: Core,
        encoder: Encoder,
        ordering: Ordering[Happening],
        *,
        strict: bool,
        caution: Caution,
        limits: Limits,
        take_batch: Callable[[Stream, ElementBatch, int], None],
        aside: Aside,
    ) -> None:
        """`take_batch` takes elements that ordering takes, with how many they stand for; others go `aside`."""
        self._core = core
        self._encoder = encoder
        self._ordering = ordering
        self._strict = strict
        self._caution = caution
        self._limits = limits
        self._take_batch = take_batch
        self._aside = aside

    def load(self, sources: list[LineSource], graph: str | None) -> int:
        """N-Triples and N-Quads, straight from the scanner."""
        core = self._core
        loading = Loading(core, self._caution)
        for source in sources:
            for found, *_ in self._scanned(source, self._scanner(source)):
                triples = np.column_stack([found.s, found.p, found.o])
                for name_id in [-1] if found.g is None else in_order_of_appearance(found.g):
                    some = triples if found.g is None else triples[found.g == name_id]
                    # A graph named by a blank node goes by its label.
                    name = graph if name_id < 0 else core.dictionary.decode_one(name_id).strip("<>")
                    loading.take(name, some)
        return loading.end()

    def read_table(self, stream: Stream, table: object) -> bool:
        """A table as one batch, if nothing is wrong with it and nothing in its way."""
        clean = clean_table(table) if self._ordering.passes_through else None
        if clean is None or not self._ordering.takes_all(clean.at_ms):
            return False
        checked_time(int(clean.at_ms[0]))
        # Only who sees all triples of an element knows which of them are repeats.
        summary = None if stream.counted and len(clean.at_ms) < clean.rows else stream.summary
        scope, literal_bytes = self._encoder.scope(), self._limits.literal_bytes
        scanner = Scanner(self._core.dictionary, summary=summary, scope=scope, literal_bytes=literal_bytes)
        batch = table_batch(clean, scanner, stream.iri, stream.elements, stream.triples)
        if batch is None:
            return False
        self._take_batch(stream, batch, len(batch))
        return True

    def read_lines(self, stream: Stream, sources: list[LineSource], rate: Fraction) -> None:
        """Lines at a rate, straight from the scanner to the queries."""
        statements = 0
        for source in sources:
            summary = stream.summary
            scanner = self._scanner(source, summary)
            for found, before, _ in self._scanned(source, scanner):
                after = scanner.statements
                if after == before:
                    continue
                moved = replace(found, index=found.index + statements) if statements else found
                self._offer_lines(stream, moved, before + statements, after + statements, rate)
                if stream.summary is not summary:
                    # Others read the stream by now.
                    summary = stream.summary
                    scanner.watch(summary)
            statements += scanner.statements

    def read_graphs(self, stream: Stream, source: object, format: str | None, time: str | None, element: str | None) -> bool:
        """Named graphs with their times, straight from the scanner to the queries, if that is what a source has."""
        # With a lateness elements wait one by one, and strict engines take what comes before a fault.
        if self._strict or not self._ordering.passes_through:
            return False
        parts = graph_sources(source, format, time, element, self._aside.malformed)
        if parts is None:
            return False
        for part in parts:
            # All of it: only who sees every quad knows where a graph ends, and which quads repeat others.
            scanner = self._scanner(part)
            log = GraphLog(self._core.dictionary, Rejections(part.name, self._aside.malformed))
            for found, *_ in self._scanned(part, scanner):
                self._offer_graphs(stream, log.take(found))
            self._offer_graphs(stream, log.finish())
        return True

    def _offer_graphs(self, stream: Stream, found: GraphElements) -> None:
        self._offer_elements(stream, found.triples, found.element, found.at_ms)

    def read_elements(self, stream: Stream, elements: Iterator[StreamElement]) -> None:
        """What readers make of a source that is all there, many elements at a time."""
        for some, lines in _together(elements):
            sizes = [len(found.triples) for found in some]
            at_ms = np.array([found.at_ms for found in some], np.int64)
            found = Scanner(self._core.dictionary).feed("".join(lines).encode(), True)
            triples = np.column_stack([found.s, found.p, found.o])
            # Each statement is one line, so lines tell statements apart even where one was refused.
            element = np.repeat(np.arange(len(some)), sizes)[found.line - 1]
            kept = ~repeats(element, triples)
            for _, _, reason, text in found.errors:
                self._rejections(stream.iri).reject(reason, text=text)
            self._offer_elements(stream, triples[kept], element[kept], at_ms)
            self._core.deliver()

    def _offer_elements(self, stream: Stream, triples: Ids, element: Ids, at_ms: Ids) -> None:
        """Elements as they come: those in time order together, those that are not taken by themselves."""
        bounds = np.searchsorted(element, np.arange(len(at_ms) + 1))
        first, (low_ms, high_ms) = 0, self._ordering.bounds
        held = triples[:0].ravel()
        try:
            for place, time_ms in enumerate(at_ms.tolist()):
                if low_ms <= time_ms <= high_ms:
                    low_ms, high_ms = time_ms, self._ordering.last_after(time_ms)
                    continue
                if not len(held):
                    # Between two parts terms are forgotten that nobody holds.
                    held = triples[bounds[place] :].ravel()
                    self._core.dictionary.hold(held)
                self._offer_run(stream, triples, bounds[first : place + 1], at_ms[first:place])
                some = triples[bounds[place] : bounds[place + 1]]
                self._aside.untimely(
                    checked_time(time_ms), Element(stream.iri, Intake(some, np.arange(len(some)), len(some)))
                )
                # Callbacks may have brought something in between.
                first, (low_ms, high_ms) = place + 1, self._ordering.bounds
            self._offer_run(stream, triples, bounds[first:], at_ms[first:])
        finally:
            self._core.dictionary.release(held, NEVER)

    def _offer_run(self, stream: Stream, triples: Ids, bounds: Ids, at_ms: Ids) -> None:
        """Elements in time order; the bounds are those of each among the triples."""
        if not len(at_ms):
            return
        low, high = int(bounds[0]), int(bounds[-1])
        checked_time(int(at_ms[0]))
        totals = stream.triples + bounds[1:] - low
        number = stream.triples + 1 + np.arange(high - low)
        element = np.repeat(np.arange(len(at_ms)), np.diff(bounds))
        counts = (stream.triples, stream.elements + 1)
        batch = ElementBatch(stream.iri, at_ms, triples[low:high], element, number, totals, *counts)
        self._take_batch(stream, batch, len(at_ms))

    def _offer_lines(self, stream: Stream, found: Scanned, first: int, last: int, rate: Fraction) -> None:
        """The statements of a source from one number up to another; those that are not taken are set aside first."""
        low_ms, high_ms = self._ordering.bounds
        # At a rate nothing jumps but the first: if that is too far ahead, all are.
        begin = min(last, max(first, first_at(low_ms, rate))) if time_at(first, rate) <= high_ms else last
        bounds = np.searchsorted(found.index, np.arange(first, begin + 1)).tolist()
        for number, (low, high) in enumerate(pairwise(bounds), first):
            triples = np.column_stack([found.s[low:high], found.p[low:high], found.o[low:high]])
            self._aside.untimely(
                time_at(number, rate), Element(stream.iri, Intake(triples, np.zeros(high - low, np.int64), 1))
            )
        if begin < last:
            checked_time(time_at(last - 1, rate))
            sparse = all(run.is_timed for run in stream.runs)
            counts = (begin, last, stream.elements, stream.triples)
            self._take_batch(stream, batch_at_rate(stream.iri, found, counts, rate, sparse=sparse), last - begin)

    def _rejections(self, name: str) -> Rejections:
        return Rejections(name, None if self._strict else self._aside.malformed)

    def _scanner(self, source: LineSource, summary: Summary | None = None) -> Scanner:
        return Scanner(
            self._core.dictionary,
            graphs=source.format is Format.N_QUADS,
            summary=summary,
            scope=self._encoder.scope(),
            literal_bytes=self._limits.literal_bytes,
        )

    def _scanned(self, source: LineSource, scanner: Scanner) -> Iterator[tuple[Scanned, int, bool]]:
        return scanned(source.chunks, scanner, self._limits, self._rejections(source.name))


def _together(elements: Iterator[StreamElement]) -> Iterator[tuple[list[StreamElement], list[str]]]:
    """Elements and their lines in portions of some thousand; should reading fail, what came before is a portion as well."""
    waiting: list[StreamElement] = []
    lines: list[str] = []
    size = 0
    try:
        for found in elements:
            checked_time(found.at_ms)
            waiting.append(found)
            some = [f"{triple} .\n" for triple in found.triples]
            lines += some
            size += sum(map(len, some))
            if max(len(lines), len(waiting)) >= _TOGETHER or size >= _BYTES_TOGETHER:
                yield waiting, lines
                waiting, lines, size = [], [], 0
    except Exception:
        yield waiting, lines
        raise
    yield waiting, lines
