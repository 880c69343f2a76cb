"""Plans at work in C: arrivals go to the leaves they are for, and what becomes of these through the operators above them.

Every step writes one buffer, anew at every drain. An operator is applied if some input has rows; so a drain costs what
changed, and a look at every step.

Every step counts the changes that it gives, in its buffer. Time is taken only while somebody measures.
"""

from time import thread_time_ns

from libc.stdint cimport int64_t

from millstream.kernels.conjunctions.leaf cimport Leaf
from millstream.kernels.containers.agenda cimport FOREVER
from millstream.kernels.flow.change_rows cimport KEPT
from millstream.kernels.flow.deltas cimport ALIKE, PATTERN, Arrivals, Bound, Deltas, Operator


cdef class Reordered(Operator):
    """The same rows with their columns in another order."""

    cdef list places

    def __init__(self, inputs, int width, places):
        super().__init__(inputs, width)
        self.places = [int(place) for place in places]
        if len(inputs) != 1 or len(self.places) != width or not all(0 <= place < inputs[0].width for place in self.places):
            raise ValueError(f"expected {width} places of columns, got {places}")

    cdef int apply(self) except -1:
        cdef Deltas given = <Deltas>self.inputs[0], out = self.out
        cdef int place
        out.room(given.rows.size)
        out.rows.size = given.rows.size
        for place in range(given.rows.width, given.rows.width + 3):
            out.copy_column(out.rows.width + place - given.rows.width, given, place)
        for place in range(out.rows.width):
            out.copy_column(place, given, self.places[place])
        return 0


cdef class Flow:
    """Leaves, and operators in order, each after its inputs; and what the drains of it give."""

    def __cinit__(self, *args, **kwargs):
        self.leaves, self.outs, self.operators, self.others, self.ends = [], [], [], [], ()
        self.next_due = FOREVER

    def __init__(self, *args, **kwargs):
        self.arrange(*args, **kwargs)

    def arrange(self, leaves, outs, operators, ends, Bound bound not None, renumber=None, others=()):
        """`outs`: the buffers of all steps. `ends`: those that a drain gives. `bound.check` is told of more rows than
        `bound.most`. `renumber` gives the rows of a leaf with one number for what is one change, where there are several.
        `others`: buffers of leaves that are not conjunctions, each with who is asked by `drain` for what is in it."""
        self.leaves = sorted(leaves, key=lambda leaf: leaf.first)
        self.outs = list(outs)
        self.operators = list(operators)
        self.ends = tuple(ends)
        self.others = list(others)
        self.bound = bound
        self.renumber = renumber
        for given, kind in ((self.leaves, Leaf), (self.outs, Deltas), (self.operators, Operator), (self.ends, Deltas)):
            for one in given:
                if not isinstance(one, kind):
                    raise TypeError(f"expected {kind.__name__}, got {one!r}")
        self.look_ahead()

    # Measuring

    @property
    def measures(self):
        """Whether the CPU time of each step is taken."""
        return self.clock is not None

    @measures.setter
    def measures(self, bint measures):
        self.clock = thread_time_ns if measures else None

    cdef int spend(self, Deltas step) except -1:
        """Says which step took the time since this was last asked; without one, that time is nobody's."""
        cdef int64_t now = self.clock()
        if step is not None:
            step.spent_ns += now - self.last
        self.last = now
        return 0

    # Arrivals

    cdef Leaf leaf_of(self, int64_t pattern):
        """The leaf that has a pattern, if there is one."""
        cdef int64_t low = 0, high = len(self.leaves), middle
        cdef Leaf leaf
        while low < high:
            middle = (low + high) >> 1
            leaf = <Leaf>self.leaves[middle]
            if pattern < leaf.first:
                high = middle
            elif pattern >= leaf.first + leaf.patterns:
                low = middle + 1
            else:
                return leaf
        return None

    cpdef int feed(self, Arrivals rows) except -1:
        """Takes changes of the patterns' contents, in order; those of patterns that nobody has are left out."""
        cdef int64_t* pattern
        cdef int64_t first = 0, last, low, high
        cdef Leaf leaf
        cdef list touched
        if rows is None:
            raise TypeError("expected Arrivals, got None")
        if rows.length == 0:
            return 0
        if self.clock is not None:
            self.spend(None)
        pattern = rows.columns[PATTERN]
        leaf = self.leaf_of(pattern[0] & ~ALIKE)
        if leaf is not None and leaf.has_all(rows):
            # As most of the time.
            try:
                leaf.put(rows, 0, rows.length)
                leaf.finish()
            except:
                leaf.forget()
                raise
            self.note(leaf)
            if self.clock is not None:
                self.spend(leaf.out)
            return 0
        touched = []
        try:
            while first < rows.length:
                leaf = self.leaf_of(pattern[first] & ~ALIKE)
                last = first + 1
                if leaf is not None:
                    low, high = leaf.first, leaf.first + leaf.patterns
                    while last < rows.length and low <= pattern[last] & ~ALIKE < high:
                        last += 1
                    if not leaf.touched:
                        leaf.touched = True
                        touched.append(leaf)
                    leaf.put(rows, first, last)
                    if self.clock is not None:
                        self.spend(leaf.out)
                first = last
            for leaf in touched:
                leaf.finish()
                self.note(leaf)
                if self.clock is not None:
                    self.spend(leaf.out)
        except:
            for leaf in touched:
                leaf.forget()
            raise
        finally:
            for leaf in touched:
                leaf.touched = False
        return 0

    # Time

    cdef void note(self, Leaf leaf) noexcept:
        if leaf.merge.agenda.size and leaf.merge.agenda.next_tick < self.next_due:
            self.next_due = leaf.merge.agenda.next_tick

    cpdef int look_ahead(self) except -1:
        """Finds out anew when something ends by itself: after leaves were led by hand."""
        cdef Leaf leaf
        self.next_due = FOREVER
        for leaf in self.leaves:
            self.note(leaf)
        return 0

    @property
    def next_tick(self):
        """When something that holds now will end by itself."""
        return None if self.next_due == FOREVER else self.next_due

    cpdef int clear(self) except -1:
        """Empties all buffers."""
        for out in self.outs:
            (<Deltas>out).clear()
        for out in self.ends:
            (<Deltas>out).clear()
        return 0

    cpdef int give_back(self) except -1:
        """Empties the buffers that only a large drain needs: what it gave has been read. The call that grew them pays."""
        for out in self.outs:
            if (<Deltas>out).rows.capacity > KEPT:
                (<Deltas>out).clear()
        for out in self.ends:
            if (<Deltas>out).rows.capacity > KEPT:
                (<Deltas>out).clear()
        self.is_large = False
        return 0

    cdef int pass_time(self, int64_t upto) except -1:
        """Empties all buffers, and writes what became of the leaves' solutions up to a tick."""
        cdef Leaf leaf
        self.clear()
        if self.clock is not None:
            self.spend(None)
        for leaf in self.leaves:
            if leaf.pass_time(upto):
                if self.renumber is not None and has_numbers_by_time(leaf.out):
                    leaf.out.fill(self.renumber(leaf.out))
                leaf.out.tally()
                if self.clock is not None:
                    self.spend(leaf.out)
            if leaf.out.rows.capacity > KEPT:
                self.is_large = True
        if self.next_due <= upto:
            self.look_ahead()
        return 0

    cdef tuple run(self):
        """Applies the operators that have rows among their inputs; gives the ends' buffers."""
        cdef Operator operator
        cdef int64_t most
        if not self.operators:
            return self.ends
        most = self.bound.most
        if self.clock is not None:
            self.spend(None)
        for operator in self.operators:
            for given in operator.inputs:
                if (<Deltas>given).rows.size:
                    operator.apply()
                    operator.out.tally()
                    if self.clock is not None:
                        self.spend(operator.out)
                    if operator.out.rows.size > most:
                        self.bound.check(operator.out.rows.size)
                    if operator.out.rows.capacity > KEPT:
                        self.is_large = True
                    break
        return self.ends

    cpdef tuple drain(self, int64_t upto):
        """What became of all ends up to a tick, inclusive; all that was fed must lie at or before it. Good until the next
        drain.
        """
        self.pass_time(upto)
        if self.clock is not None:
            self.spend(None)
        for out, other in self.others:
            (<Deltas>out).fill(other.drain())
            (<Deltas>out).tally()
            if self.clock is not None:
                self.spend(<Deltas>out)
            if (<Deltas>out).rows.capacity > KEPT:
                self.is_large = True
        return self.run()


cdef bint has_numbers_by_time(Deltas rows) noexcept:
    """Whether something that time brings has a number, as if it was a change of its own."""
    cdef int64_t i
    cdef int64_t* tick = rows.ticks()
    cdef int64_t* change = rows.changes()
    # Phases of a tick: elements and changes of graphs are 1.
    for i in range(rows.rows.size):
        if tick[i] & 1 == 0 and change[i] != -1:
            return True
    return False
