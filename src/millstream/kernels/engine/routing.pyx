"""The router: which of the queries that read a stream or a graph an element or a change concerns.

With many queries, an element should cost what it meets: a query that only looks at what its patterns match is shown single
elements only if one of them does. What else it would have seen of them, how long they last, it is told later.
"""

import numpy as np

from libc.stdint cimport int64_t

from millstream.kernels.engine.run cimport Run
from millstream.kernels.matching.elements cimport Elements
from millstream.kernels.matching.intake cimport Intake
from millstream.kernels.matching.patterns cimport Patterns

cdef enum:
    FEW = 16            # elements that are looked through; in more of them there is something for nearly everybody


cdef class Router:
    """Queries that read something: those that are shown all of it, and those only what their patterns match."""

    def __cinit__(self, source, runs):
        self.runs, self.always, self.sometimes = [], [], []
        for place, run in enumerate(runs):
            if not isinstance(run, Run):
                raise TypeError(f"expected a Run, got {run!r}")
            self.runs.append(run)
            (self.sometimes if self.may_skip(run, source) else self.always).append(place)
        self.ending = [self.runs[place] for place in self.sometimes if self.runs[place].emits_ends]

    @property
    def is_final(self):
        """Whether all that was asked of the queries holds as long as there are no others."""
        return not any([run.has_first_change_ahead for run in self.runs])

    cdef Patterns patterns(self):
        """What the queries ask for that need not be shown all; each has its place as number.

        Places that must be equal and filters are for the queries themselves.
        """
        if self.asked is None:
            self.asked = Patterns(
                (place, ids, [])
                for place in self.sometimes
                for matcher in self.matchers_of(self.runs[place])
                for ids in matcher.ids
            )
        return self.asked

    cdef list concerned(self):
        """Those that are shown all, and those whose patterns were found last."""
        cdef int64_t i
        cdef set places = set(self.always)
        for i in range(self.asked.size):
            places.add(self.asked.pattern[i])
        return [self.runs[place] for place in sorted(places)]

    cpdef int report_ends(self, int64_t at_tick) except -1:
        """Time has come to a tick for all queries, shown something or not."""
        for run in self.ending:
            (<Run>run).report_due(at_tick)
        return 0


cdef class StreamRouter(Router):
    """Who reads one stream."""

    def __cinit__(self, stream, runs):
        self.stream = stream
        self.skips_unmatched = not self.always

    def may_skip(self, run, stream):
        """Whether elements that match none of a query's patterns change nothing for it."""
        return run.may_skip(stream)

    def matchers_of(self, run):
        """What a query asks of it."""
        return [source.matcher for source in run.contents.of_stream(self.stream)]

    cpdef int take(self, Elements batch) except -1:
        """Shows elements to the queries they concern."""
        cdef list shown = self.runs
        if batch is None:
            raise TypeError("expected Elements, got None")
        if batch.length <= FEW and (batch.size == 0 or len(shown) > 1):
            self.patterns().among_columns(batch.s, batch.p, batch.o, batch.size)
            shown = self.concerned()
        for run in shown:
            (<Run>run).elements(batch)
        if len(shown) < len(self.runs):
            if batch.prolongs_time:
                self.skip(batch.at_ms[batch.length - 1], 1)
            self.report_ends(batch.last_of())
        return 0

    cdef void skip(self, int64_t at_ms, int64_t triples) noexcept:
        """An element of so many triples that concerns nobody."""
        if triples:
            self.has_skipped = True
            self.skipped_ms = at_ms

    def settle(self):
        """Tells the windows of the last element they were not shown: its end may be the last of all."""
        if self.has_skipped:
            for place in self.sometimes:
                self.runs[place].contents.see(self.stream, self.skipped_ms)
            self.has_skipped = False


cdef class GraphRouter(Router):
    """Who reads one graph."""

    def __cinit__(self, graph, runs):
        self.graph = graph

    def may_skip(self, run, graph):
        """Whether changes that match none of a query's patterns change nothing for it."""
        return run.may_skip_changes

    def matchers_of(self, run):
        """What a query asks of it."""
        return [source.matcher for source in run.contents.of_graph(self.graph)]

    cpdef int take(self, Intake triples, int op, int64_t at_tick) except -1:
        """Shows the queries they concern triples that really came (op 1) or went (-1)."""
        cdef list shown = self.runs
        if triples is None:
            raise TypeError("expected Intake, got None")
        if len(shown) > 1 and triples.size <= FEW:
            self.patterns().among_columns(
                triples.words, triples.words + triples.size, triples.words + 2 * triples.size, triples.size
            )
            shown = self.concerned()
        for run in shown:
            (<Run>run).graph_changed(self.graph, triples, op, at_tick)
        return self.report_ends(at_tick) if len(shown) < len(self.runs) else 0

    def share(self, edits):
        """For each query the edits that concern it; they really changed the graph."""
        if len(self.runs) == 1:
            return [(self.runs[0], edits)]
        found = [(self.runs[place], edits) for place in self.always]
        if not self.sometimes:
            return found
        rows, places = self.patterns().match(edits.triples)
        by_place = np.argsort(places, kind="stable")
        rows, places = rows[by_place], places[by_place]
        bounds = [*np.flatnonzero(np.diff(places, prepend=-1)).tolist(), len(places)]
        for low, high in zip(bounds, bounds[1:]):
            ours = rows[low:high]
            # A triple may match several patterns of a query.
            found.append((self.runs[places[low]], edits.pick(ours[np.diff(ours, prepend=-1) != 0])))
        return found
