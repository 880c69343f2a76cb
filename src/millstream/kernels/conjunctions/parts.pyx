"""The connected parts of a conjunction: changes of their patterns' contents in, their solutions with intervals out.

A pattern of two variables is a view of pairs, one of a single variable a qualification, one of three a tuple with a hidden
variable: a row is laid out where the join reads it, and what the join found is read where it wrote it. Only what a sub-query
does that is joined apart is done in Python, with arrays.
"""

import numpy as np

cimport numpy as cnp
from libc.stdint cimport int64_t
from libc.string cimport memcpy

from millstream.kernels.conjunctions.time_merge cimport Rows
from millstream.kernels.containers.agenda cimport NEVER
from millstream.kernels.containers.memory cimport block_free, block_resize
from millstream.kernels.containers.tuples cimport TupleTable
from millstream.kernels.flow.change_rows cimport KEPT
from millstream.kernels.flow.deltas cimport (
    ALIKE, ARRIVAL_COLUMNS, NOW, NUMBER, OP, PATTERN, SUBJECT, UNTIL, Arrivals,
)
from millstream.kernels.joins.join cimport IntervalJoin
from millstream.kernels.joins.matcher cimport CHANGE as CHANGE_FOUND
from millstream.kernels.joins.matcher cimport NOW as NOW_FOUND
from millstream.kernels.joins.matcher cimport START as START_FOUND
from millstream.kernels.joins.matcher cimport UNTIL as UNTIL_FOUND
from millstream.kernels.joins.matcher cimport WEIGHT as WEIGHT_FOUND

cnp.import_array()

cdef enum:
    # Kinds of ways.
    NONE = 0
    ONE = 1
    PAIR = 2
    TRIPLE = 3
    APART = 4                   # to a sub-query that is joined apart
    FED = 7                     # columns that a join is fed with
    FEW = 64                    # rows for which the lock is not worth giving up


cdef cnp.ndarray array_of(const int64_t* values, int64_t size):
    cdef cnp.npy_intp length = size
    cdef cnp.ndarray array = cnp.PyArray_EMPTY(1, &length, cnp.NPY_INT64, 0)
    if size:
        memcpy(cnp.PyArray_DATA(array), values, size * sizeof(int64_t))
    return array


cdef inline int64_t* data_of(array):
    return <int64_t*>cnp.PyArray_DATA(<cnp.ndarray>array)


cdef tuple arrays_of(Rows* found):
    """Rows as arrays: columns (rows by width), change, now, start, until, weight."""
    cdef cnp.npy_intp shape[2]
    cdef int column
    shape[0], shape[1] = found.width, found.size
    columns = cnp.PyArray_EMPTY(2, shape, cnp.NPY_INT64, 0)
    for column in range(found.width if found.size else 0):
        memcpy(data_of(columns) + column * found.size, found.columns[column], found.size * sizeof(int64_t))
    return (columns.T, array_of(found.change, found.size), array_of(found.now, found.size),
            array_of(found.start, found.size),
            array_of(found.until, found.size), array_of(found.weight, found.size))


cdef class Part:
    """One connected part: `feed` takes changes of its patterns, `taken` gives what they made of its solutions."""

    cdef int put(self, Arrivals rows, int64_t first, int64_t last, int64_t shift) except -1:
        """Takes rows, whose patterns are numbered from `shift` on."""
        raise NotImplementedError

    cdef int run(self) except -1:
        """Finds what comes of what was put in."""
        return 0

    cdef void forget(self) noexcept:
        """Nothing has been found, or put."""
        self.kept = None
        self.found.size = 0

    cdef int hold(self, given) except -1:
        """Takes what was found elsewhere: columns, change, now, start, until, weight."""
        cdef Rows* found = &self.found
        cdef int column, width = given[0].shape[1]
        cdef int64_t size = len(given[0])
        self.kept = [np.array(values, np.int64) for values in (*given[0].T, *given[1:])]
        if len(self.kept) != width + 5 or any(values.ndim != 1 or len(values) != size for values in self.kept):
            raise ValueError("columns differ in length")
        if width > self.pointed:
            self.pointers = <int64_t**>block_resize(self.pointers, self.pointed * sizeof(int64_t*), width * sizeof(int64_t*))
            self.pointed = width
        for column in range(width):
            self.pointers[column] = data_of(self.kept[column])
        found.width = width
        found.columns = self.pointers
        found.size = size
        found.change, found.now, found.start, found.until, found.weight = (
            data_of(self.kept[width]), data_of(self.kept[width + 1]), data_of(self.kept[width + 2]),
            data_of(self.kept[width + 3]),
            data_of(self.kept[width + 4]),
        )
        return 0

    def __dealloc__(self):
        block_free(self.pointers, self.pointed * sizeof(int64_t*))

    def feed(self, Arrivals rows not None):
        """Takes changes of its patterns, numbered from 0, in order; gives how many solutions began or ended."""
        self.put(rows, 0, rows.length, 0)
        self.run()
        return self.found.size

    def taken(self):
        """What was found since the last time: columns, change, now, start, until, weight."""
        self.run()
        taken = arrays_of(&self.found)
        self.forget()
        return taken


cdef class GivenPart(Part):
    """Solutions that somebody else found."""

    def __init__(self, given):
        self.hold(given)


cdef class JoinPart(Part):
    """A part with variables; `apart` finds what it can of a batch in which some rows are of a sub-query joined apart."""

    def __cinit__(self):
        self.tables = []
        self.waiting = Arrivals()

    def __dealloc__(self):
        cdef int place
        self.close_ways()
        for place in range(FED):
            block_free(self.fed[place], self.capacity * sizeof(int64_t))

    cdef void close_ways(self) noexcept:
        block_free(self.ways, self.way_count * sizeof(Way))
        self.ways = NULL
        self.way_count = 0

    def lay_out(self, IntervalJoin join not None, ways, apart=None):
        """Begins anew with a join. `ways`: for each pattern by its number the view, the places of variables in the triple
        and the table of its tuples, if these are three; None for a pattern of a sub-query that is joined apart."""
        cdef int64_t number
        cdef int place
        cdef Way* way
        self.forget()
        self.join = join
        self.found.width = join.matcher.width
        self.apart = apart
        self.tables = []
        self.close_ways()
        self.way_count = max(ways, default=-1) + 1
        self.ways = <Way*>block_resize(NULL, 0, self.way_count * sizeof(Way))
        for number in range(self.way_count):
            self.ways[number].kind = NONE
        for number, told in ways.items():
            way = &self.ways[number]
            if told is None:
                way.kind = APART
                continue
            view, places, table = told
            if not 1 <= len(places) <= 3 or not all(
                0 <= position < 3 for position in places
            ) or (len(places) == 3) != (table is not None):
                raise ValueError(f"a pattern has 1 to 3 variables, a table with 3; got {told}")
            way.kind = len(places)
            way.view = view
            for place in range(way.kind):
                way.places[place] = places[place]
            if table is not None:
                if (<TupleTable?>table).width != 3:
                    raise ValueError("triples need a table of three columns")
                way.table = len(self.tables)
                self.tables.append(table)

    cdef void forget(self) noexcept:
        self.kept = None
        self.found.size = 0
        self.size = 0
        self.some_apart = False
        self.waiting.clear()
        if self.join is not None:
            self.join.matcher.size = 0

    cdef void room(self, int64_t more) noexcept:
        cdef int64_t capacity
        cdef int place
        if self.size + more > self.capacity:
            capacity = max(self.size + more, 2 * self.capacity, 64)
            for place in range(FED):
                self.fed[place] = <int64_t*>block_resize(
                    self.fed[place], self.capacity * sizeof(int64_t), capacity * sizeof(int64_t)
                )
            self.capacity = capacity

    cdef int put(self, Arrivals rows, int64_t first, int64_t last, int64_t shift) except -1:
        return self.lay(rows, first, last, shift) if self.apart is None else self.keep(rows, first, last, shift)

    cdef int keep(self, Arrivals rows, int64_t first, int64_t last, int64_t shift) except -1:
        """Puts rows aside until it is known whether some of them are of a sub-query."""
        cdef Arrivals waiting = self.waiting
        cdef int64_t i, number
        cdef int place
        waiting.room(last - first)
        for place in range(ARRIVAL_COLUMNS):
            memcpy(waiting.columns[place] + waiting.length, rows.columns[place] + first, (last - first) * sizeof(int64_t))
        for i in range(waiting.length, waiting.length + last - first):
            waiting.columns[PATTERN][i] -= shift
            number = waiting.columns[PATTERN][i]
            if 0 <= number < self.way_count and self.ways[number].kind == APART:
                self.some_apart = True
        waiting.length += last - first
        return 0

    cdef int lay(self, Arrivals rows, int64_t first, int64_t last, int64_t shift) except -1:
        """Lays rows out as the join is fed with them."""
        cdef int64_t i, number, at, alike
        cdef int64_t ids[3]
        cdef int place
        cdef Way* way
        self.room(3 * (last - first) if self.tables else last - first)
        for i in range(first, last):
            alike = rows.columns[PATTERN][i] & ALIKE
            number = (rows.columns[PATTERN][i] & ~ALIKE) - shift
            if not 0 <= number < self.way_count or not 0 < self.ways[number].kind < APART or (
                alike and self.ways[number].kind != PAIR
            ):
                raise ValueError(f"there is no pattern {number}, or none is like it")
            way = &self.ways[number]
            at = self.size
            if way.kind < TRIPLE:
                # To the join, patterns that are alike are views of one relation.
                self.fed[0][at] = way.view + (self.join.store.views if alike else 0)
                self.fed[1][at] = rows.columns[SUBJECT + way.places[0]][i]
                self.fed[2][at] = rows.columns[SUBJECT + way.places[1]][i] if way.kind == PAIR else 0
                self.fed[3][at] = rows.columns[NOW][i]
                self.fed[4][at] = rows.columns[UNTIL][i]
                self.fed[5][at] = rows.columns[OP][i]
                self.fed[6][at] = rows.columns[NUMBER][i]
                self.size += 1
                continue
            for place in range(3):
                ids[place] = rows.columns[SUBJECT + place][i]
                if ids[place] < 0:
                    raise ValueError("ids are not negative")
            number = (<TupleTable>self.tables[way.table]).number_of(
                ids, rows.columns[NOW][i], rows.columns[UNTIL][i], rows.columns[OP][i] > 0)
            if number < 0:
                # A tuple that was not there leaves nothing behind.
                continue
            for place in range(3):
                self.fed[0][at + place] = way.view + place
                self.fed[1][at + place] = number
                self.fed[2][at + place] = ids[way.places[place]]
                self.fed[3][at + place] = rows.columns[NOW][i]
                self.fed[4][at + place] = rows.columns[UNTIL][i]
                self.fed[5][at + place] = rows.columns[OP][i]
                self.fed[6][at + place] = rows.columns[NUMBER][i]
            self.size += 3
        return 0

    def changes(self, Arrivals rows not None):
        """What a join is fed with for rows of these patterns: view, a, b, now, until, op, change."""
        cdef int place
        self.lay(rows, 0, rows.length, 0)
        laid = tuple(array_of(self.fed[place], self.size) for place in range(FED))
        self.size = 0
        return laid

    cdef int run(self) except -1:
        cdef IntervalJoin join = self.join
        cdef Arrivals waiting = self.waiting
        cdef int64_t n
        cdef Rows* found = &self.found
        if join is None:
            raise ValueError("a part is laid out before it is fed")
        if waiting.length:
            if self.some_apart:
                rows = waiting.pick(slice(None))
                self.forget()
                # It may begin anew with another join.
                self.hold(self.apart(rows))
                if found.size == 0:
                    self.kept = None
                return 0
            self.lay(waiting, 0, waiting.length, 0)
            waiting.clear()
        n, self.size = self.size, 0
        if n:
            join.check(n, self.fed[0], self.fed[1], self.fed[2], self.fed[3], self.fed[4])
            if n > FEW:
                with nogil:
                    join.run(n, self.fed[0], self.fed[1], self.fed[2], self.fed[3], self.fed[4], self.fed[5], self.fed[6])
            else:
                join.run(n, self.fed[0], self.fed[1], self.fed[2], self.fed[3], self.fed[4], self.fed[5], self.fed[6])
            if self.capacity > KEPT:
                self.shrink()
        if self.kept is None:
            found.size = join.matcher.size
            found.width = join.matcher.width
            found.columns = join.matcher.columns
            found.change = join.matcher.columns[found.width + CHANGE_FOUND]
            found.now = join.matcher.columns[found.width + NOW_FOUND]
            found.start = join.matcher.columns[found.width + START_FOUND]
            found.until = join.matcher.columns[found.width + UNTIL_FOUND]
            found.weight = join.matcher.columns[found.width + WEIGHT_FOUND]
        return 0

    cdef void shrink(self) noexcept:
        """Gives room back that only a large batch needs."""
        cdef int place
        for place in range(FED):
            block_free(self.fed[place], self.capacity * sizeof(int64_t))
            self.fed[place] = NULL
        self.capacity = 0


cdef class GroundPart(Part):
    """A triple that is there until some time; before any time, while it is not."""

    def __cinit__(self):
        self.until = NEVER

    def __dealloc__(self):
        block_free(self.found.change, self.capacity * sizeof(int64_t))
        block_free(self.found.now, self.capacity * sizeof(int64_t))
        block_free(self.found.start, self.capacity * sizeof(int64_t))
        block_free(self.found.until, self.capacity * sizeof(int64_t))
        block_free(self.found.weight, self.capacity * sizeof(int64_t))

    cdef void take(self, int64_t now, int64_t until, bint inserted, int64_t change) noexcept:
        cdef Rows* found = &self.found
        cdef int64_t start, end, size = found.size, capacity
        if inserted:
            start, end = max(self.until, now), until
        else:
            start, end = now, self.until
        if end <= start:
            return
        if size == self.capacity:
            capacity = max(16, 2 * size)
            found.change = <int64_t*>block_resize(found.change, size * sizeof(int64_t), capacity * sizeof(int64_t))
            found.now = <int64_t*>block_resize(found.now, size * sizeof(int64_t), capacity * sizeof(int64_t))
            found.start = <int64_t*>block_resize(found.start, size * sizeof(int64_t), capacity * sizeof(int64_t))
            found.until = <int64_t*>block_resize(found.until, size * sizeof(int64_t), capacity * sizeof(int64_t))
            found.weight = <int64_t*>block_resize(found.weight, size * sizeof(int64_t), capacity * sizeof(int64_t))
            self.capacity = capacity
        found.change[size] = change
        found.now[size] = now
        found.start[size] = start
        found.until[size] = end
        found.weight[size] = 1 if inserted else -1
        found.size += 1
        self.until = until if inserted else now

    cdef int put(self, Arrivals rows, int64_t first, int64_t last, int64_t shift) except -1:
        cdef int64_t i
        for i in range(first, last):
            self.take(rows.columns[NOW][i], rows.columns[UNTIL][i], rows.columns[OP][i] > 0, rows.columns[NUMBER][i])
        return 0
