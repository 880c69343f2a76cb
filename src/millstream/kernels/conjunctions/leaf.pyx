"""A conjunction at work: changes of its patterns' contents go to its parts, what these find through filters to a time merge.

Filters of a part follow its join, the others the product of the parts. Rows stay where the join, or the product, wrote them
until they are merged.
"""

import numpy as np

from libc.stdint cimport int64_t

from millstream.kernels.conjunctions.parts cimport GivenPart, Part, arrays_of
from millstream.kernels.conjunctions.product cimport Product, Sink
from millstream.kernels.conjunctions.solution_filter cimport SolutionFilter
from millstream.kernels.conjunctions.time_merge cimport Rows, TimeMerge
from millstream.kernels.containers.memory cimport block_free, block_resize
from millstream.kernels.flow.deltas cimport ALIKE, NUMBER, PATTERN, Arrivals, Bound, Deltas

cdef enum:
    FEW = 64                    # rows for which the lock is not worth giving up
    MANY = 4096                 # rows that may end at once


cdef class Collected(Sink):
    """Solutions as arrays."""

    cdef SolutionFilter last
    cdef list found

    def __cinit__(self, SolutionFilter last):
        self.last = last
        self.found = []

    cdef int take(self, Rows* rows) except -1:
        if self.last is not None:
            self.last.sift(rows)
        if rows.size:
            self.found.append(arrays_of(rows))
        return 0


cdef class Leaf(Sink):
    """A conjunction's parts and what they come to; patterns are numbered from `first` on."""

    def __cinit__(
        self, int64_t first, parts, members, projection, Bound bound not None, solution_filters=(), SolutionFilter last=None
    ):
        """`members`: the patterns of each part. `projection`: places of columns among those of the parts, -1 for one that is
        never bound. `sieves`: the filters of each part, None for one without; `last`: those of the whole."""
        cdef int64_t i
        cdef int number
        self.first = first
        self.parts = list(parts)
        self.solution_filters = list(solution_filters) or [None] * len(self.parts)
        for part, solution_filter in zip(self.parts, self.solution_filters, strict=True):
            if not isinstance(part, Part) or not (solution_filter is None or isinstance(solution_filter, SolutionFilter)):
                raise TypeError(f"expected a Part and perhaps a SolutionFilter, got {part!r} and {solution_filter!r}")
        self.last = last
        self.patterns = sum(map(len, members))
        self.part_of = <int*>block_resize(NULL, 0, self.patterns * sizeof(int))
        self.arrived = <int64_t*>block_resize(NULL, 0, 2 * self.patterns * sizeof(int64_t))
        for i in range(2 * self.patterns):
            self.arrived[i] = 0
        for number, ours in enumerate(members):
            for i in ours:
                if not 0 <= i < self.patterns:
                    raise ValueError(f"there is no pattern {i}")
                self.part_of[i] = number
        self.out = Deltas(width=len(projection))
        self.merge = TimeMerge(len(projection))
        self.projection = <int*>block_resize(NULL, 0, len(projection) * sizeof(int))
        self.width = sum([(<Part>part).found.width for part in self.parts])
        for i in range(len(projection)):
            self.projection[i] = projection[i]
            if not -1 <= self.projection[i] < self.width:
                raise ValueError(f"there is no column {projection[i]} among {self.width}")
        self.bound = bound
        self.forget_solutions()

    def __dealloc__(self):
        block_free(self.part_of, self.patterns * sizeof(int))
        block_free(self.arrived, 2 * self.patterns * sizeof(int64_t))
        if self.merge is not None:
            block_free(self.projection, self.merge.width * sizeof(int))

    def forget_solutions(self):
        """The parts' solutions are found anew."""
        self.product = None
        if len(self.parts) > 1:
            self.product = Product([(<Part>part).found.width for part in self.parts], self.bound)

    # What happens

    cdef bint has_all(self, Arrivals rows) noexcept nogil:
        """Whether all rows are of its patterns."""
        cdef int64_t* pattern = rows.columns[PATTERN]
        cdef int64_t i
        for i in range(rows.length):
            if not self.first <= pattern[i] & ~ALIKE < self.first + self.patterns:
                return False
        return True

    cdef int put(self, Arrivals rows, int64_t first, int64_t last) except -1:
        """Takes rows of its patterns."""
        cdef int64_t* pattern = rows.columns[PATTERN]
        cdef int64_t i
        cdef int number
        if first < last:
            if rows.columns[NUMBER][first] != self.last_change:
                self.found = self.made = 0
            self.last_change = rows.columns[NUMBER][last - 1]
        for i in range(first, last):
            self.arrived[(pattern[i] & ~ALIKE) - self.first + (self.patterns if pattern[i] & ALIKE else 0)] += 1
        if len(self.parts) == 1:
            return (<Part>self.parts[0]).put(rows, first, last, self.first)
        while first < last:
            number = self.part_of[(pattern[first] & ~ALIKE) - self.first]
            i = first + 1
            while i < last and self.part_of[(pattern[i] & ~ALIKE) - self.first] == number:
                i += 1
            (<Part>self.parts[number]).put(rows, first, i, self.first)
            first = i
        return 0

    def arrivals(self, int64_t pattern, int64_t alike):
        """How many rows have come for a pattern; `alike`: the first of those like it, which may be itself."""
        if not 0 <= pattern < self.patterns or not 0 <= alike < self.patterns:
            raise ValueError(f"there is no pattern {pattern}, or {alike}")
        return self.arrived[pattern] + self.arrived[self.patterns + alike]

    cdef int finish(self) except -1:
        """Has the parts find what rows that were put come to, and merges that."""
        cdef int64_t most = -1
        cdef Part part
        for part in self.parts:
            part.run()
            most = max(most, part.found.size)
        if most <= 0:
            return 0
        self.found += most
        if self.found > self.bound.most:
            self.bound.check(self.found)
        self.sift(self.parts)
        if self.product is None:
            self.take(&(<Part>self.parts[0]).found)
        else:
            self.product.feed(self.parts, self)
        self.forget()
        return 0

    cdef int sift(self, list parts) except -1:
        """Applies the filters of each part."""
        cdef int number
        for number in range(len(parts)):
            if self.solution_filters[number] is not None:
                (<SolutionFilter>self.solution_filters[number]).sift(&(<Part>parts[number]).found)
        return 0

    cdef int take(self, Rows* rows) except -1:
        """Merges solutions of the whole that its filters let pass."""
        if self.last is not None:
            self.last.sift(rows)
        self.made += rows.size
        if self.product is not None and self.made > self.bound.most:
            self.bound.check(self.made)
        if rows.size > FEW:
            with nogil:
                self.merge.take(rows, self.projection)
        else:
            self.merge.take(rows, self.projection)
        return 0

    def push(self, found):
        """Takes solutions that were found elsewhere: columns, change, now, start, until, weight."""
        cdef Part part = GivenPart(found)
        if part.found.width != self.width:
            raise ValueError(f"expected {self.width} columns, got {part.found.width}")
        self.made = 0
        self.take(&part.found)

    cdef void forget(self) noexcept:
        """What was put and not finished, and what was found."""
        for part in self.parts:
            (<Part>part).forget()

    cdef bint pass_time(self, int64_t upto) noexcept:
        """Writes what became of the solutions up to a tick; whether there was anything to write."""
        cdef TimeMerge merge = self.merge
        if not merge.open and merge.out.size == 0 and (merge.agenda.size == 0 or merge.agenda.next_tick > upto):
            return False
        if merge.group.size + merge.out.size > FEW or (merge.pending() > MANY and merge.agenda.next_tick <= upto):
            with nogil:
                merge.pass_time(upto)
        else:
            merge.pass_time(upto)
        merge.give(&self.out.rows)
        return True

    def drain(self, int64_t upto):
        """What became of the solutions up to a tick, inclusive, in its buffer."""
        self.out.clear()
        self.pass_time(upto)
        return self.out

    # All at once

    def solutions(self, found, *, bint keep=False):
        """The solutions that follow from those of the parts, as arrays: their columns that are asked for, when they end, and
        their weights.

        `keep`: the parts go on from there."""
        cdef list parts = [GivenPart(given) for given in found]
        cdef Collected into = Collected(self.last)
        cdef Product product = self.product
        cdef int i
        if sum([(<Part>part).found.width for part in parts]) != self.width or len(parts) != max(1, len(self.parts)):
            raise ValueError(f"expected {self.width} columns of {max(1, len(self.parts))} parts")
        if self.parts:
            self.sift(parts)
        if len(parts) == 1:
            into.take(&(<Part>parts[0]).found)
        else:
            if not keep:
                product = Product([(<Part>part).found.width for part in parts], self.bound)
            product.feed(parts, into)
        size = sum(len(given[1]) for given in into.found)
        columns = np.full((self.merge.width, size), -1, np.int64)
        until, weight = np.empty(size, np.int64), np.empty(size, np.int64)
        at = 0
        for given in into.found:
            rows = slice(at, at + len(given[1]))
            for i in range(self.merge.width):
                if self.projection[i] >= 0:
                    columns[i, rows] = given[0][:, self.projection[i]]
            until[rows], weight[rows] = given[4], given[5]
            at = rows.stop
        return columns.T, until, weight
