"""Stream elements as columns: what the engine hands to its queries. One element has the same form as a million."""

import numpy as np

cimport cython
cimport numpy as cnp
from libc.stdint cimport int64_t
from libc.string cimport memcpy

from millstream.kernels.containers.arrays cimport array_of
from millstream.kernels.containers.memory cimport block_free, block_new

cnp.import_array()

cdef enum:
    PHASE = 1                   # of elements among the ticks of a millisecond
    BY_ELEMENT = 3              # columns
    BY_TRIPLE = 6
    LARGE = 1 << 14             # words of a block that is kept for the next batch
    LARGEST = 1 << 22


# Batches follow each other and are about as long: the block of one serves the next, or each would be mapped and cleared
# anew. Whoever makes or drops one has the interpreter's lock.
cdef int64_t* spare = NULL
cdef int64_t spare_words = 0


cdef int64_t* taken(int64_t words, int64_t* room) noexcept:
    """A block with room for so many words, whatever is in it."""
    global spare, spare_words
    cdef int64_t* block = spare
    if words > LARGE and spare != NULL and spare_words >= words:
        room[0] = spare_words
        spare = NULL
        return block
    room[0] = words
    return <int64_t*>block_new(words * sizeof(int64_t))


cdef void give_back(int64_t* block, int64_t words) noexcept:
    global spare, spare_words
    if LARGE < words < LARGEST and (spare == NULL or words > spare_words):
        block_free(spare, spare_words * sizeof(int64_t))
        spare = block
        spare_words = words
    else:
        block_free(block, words * sizeof(int64_t))


cdef int64_t place_of(const int64_t* ordered, int64_t n, int64_t value) noexcept nogil:
    """Where the first number that is not less than another is, among numbers in order."""
    cdef int64_t low = 0, high = n, middle
    while low < high:
        middle = (low + high) >> 1
        if ordered[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


cdef int64_t shown_between(const int64_t* places, int64_t low, int64_t high, int64_t first, int64_t last) noexcept nogil:
    """How many elements are shown of those from one place up to another: the first, the last, and those with rows."""
    cdef int64_t i, count = 1 + (last - first > 1)
    for i in range(low, high):
        count += first < places[i] < last - 1 and (i == low or places[i] != places[i - 1])
    return count


cdef Elements single(stream, int64_t at_ms, Intake intake, int64_t triples_before, int64_t first_element):
    """One element."""
    cdef Elements made = Elements.__new__(Elements)
    made.stream, made.triples_before, made.first_element = stream, triples_before, first_element
    made.make_room(1, intake.size)
    made.put(0, at_ms, intake, 0, triples_before)
    return made


@cython.freelist(8)
cdef class Elements:
    """Consecutive elements of one stream, in processing order.

    The triples are those somebody may ask for; the totals count all triples of the stream up to and including an element,
    dropped ones as well, because count windows go by them.

    `element`         for each triple the place of its element among these
    `number`          for each triple its number in the stream
    `triples_before`  how many triples the stream had before
    `first_element`   the number in the stream of the first element
    `order`           for each element its place among all that happens together; without other streams, its place here
    `pattern`         for each row the one pattern it is meant for; None: triples are for every pattern they match
    `prolongs`        whether time goes on until its elements have ended, once input has: `millstream.engine.queries.drain`
    """

    def __cinit__(self):
        self.prolongs = True

    def __init__(self, stream, at_ms, triples, element, number, total_triples, int64_t triples_before=0,
                 int64_t first_element=1, order=None, pattern=None, *, bint prolongs=True):
        self.stream = stream
        self.triples_before = triples_before
        self.first_element = first_element
        self.prolongs = prolongs
        cdef int64_t i
        rows = np.asarray(triples, np.int64).reshape(-1, 3)
        self.make_room(len(at_ms), len(rows))
        self.write(self.at_ms, at_ms, self.length)
        self.write(self.total, total_triples, self.length)
        if order is None:
            for i in range(self.length):
                self.order[i] = i
        else:
            self.write(self.order, order, self.length)
        self.write(self.s, rows[:, 0], self.size)
        self.write(self.p, rows[:, 1], self.size)
        self.write(self.o, rows[:, 2], self.size)
        self.write(self.element, element, self.size)
        self.write(self.number, number, self.size)
        self.tagged = pattern is not None
        if self.tagged:
            self.write(self.pattern, pattern, self.size)

    def __dealloc__(self):
        give_back(self.words, self.room)

    cdef int make_room(self, int64_t length, int64_t size) except -1:
        give_back(self.words, self.room)
        self.length = length
        self.size = size
        self.words = taken(BY_ELEMENT * length + BY_TRIPLE * size, &self.room)
        self.at_ms = self.words
        self.total = self.at_ms + length
        self.order = self.total + length
        self.s = self.order + length
        self.p = self.s + size
        self.o = self.p + size
        self.element = self.o + size
        self.number = self.element + size
        self.pattern = self.number + size
        return 0

    cdef write(self, int64_t* words, column, int64_t size):
        cdef cnp.ndarray array = np.ascontiguousarray(column, np.int64)
        if array.ndim != 1 or len(array) != size:
            raise ValueError("columns differ in length")
        if size:
            memcpy(words, cnp.PyArray_DATA(array), size * sizeof(int64_t))

    @staticmethod
    def of(
        stream, list times not None, list intakes not None, int64_t triples_before, int64_t first_element, bint prolongs=True
    ):
        """Elements of a stream that had so many triples before, each with its time."""
        cdef Elements made = Elements.__new__(Elements)
        cdef Intake intake
        cdef int64_t size = 0, at = 0, place = 0, i, n
        if len(times) != len(intakes):
            raise ValueError("columns differ in length")
        made.stream, made.prolongs = stream, prolongs
        made.triples_before, made.first_element = triples_before, first_element
        for intake in intakes:
            size += intake.size
        made.make_room(len(intakes), size)
        for intake in intakes:
            made.put(place, times[place], intake, at, triples_before)
            at += intake.size
            triples_before += intake.total
            place += 1
        return made

    cdef void put(self, int64_t place, int64_t at_ms, Intake intake, int64_t at, int64_t before) noexcept:
        """Writes an element, whose rows begin at some place, of a stream that had so many triples before."""
        cdef int64_t i, n = intake.size
        self.at_ms[place] = at_ms
        self.order[place] = place
        self.total[place] = before + intake.total
        for i in range(n):
            self.s[at + i] = intake.words[i]
            self.p[at + i] = intake.words[n + i]
            self.o[at + i] = intake.words[2 * n + i]
            self.number[at + i] = before + 1 + intake.words[3 * n + i]
            self.element[at + i] = place

    @staticmethod
    def part(stream, columns not None, int64_t first, int64_t last, int64_t triples_before, int64_t first_element,
             bint sparse=False):
        """Elements of a source from one place up to another, of a stream that had so many triples before.

        The columns are those of `millstream.ingest.columns.Columns`. A sparse batch leaves out elements of which nothing was
        kept, but for the first and the last; only for elements of one triple each.
        """
        cdef cnp.ndarray element = np.ascontiguousarray(columns.element, np.int64)
        cdef cnp.ndarray terms = np.ascontiguousarray(columns.triples.T, np.int64)
        cdef cnp.ndarray sizes = None if columns.sizes is None else np.ascontiguousarray(columns.sizes, np.int64)
        cdef const int64_t* places = <const int64_t*>cnp.PyArray_DATA(element)
        cdef const int64_t* counts = NULL if sizes is None else <const int64_t*>cnp.PyArray_DATA(sizes)
        cdef int64_t n = len(element), low, high, i, at, place, total, known = len(sizes) if sizes is not None else last
        cdef Elements made = Elements.__new__(Elements)
        made.stream, made.triples_before, made.first_element = stream, triples_before, first_element
        if not 0 <= first < last <= known or terms.ndim != 2 or terms.shape[0] != 3 or terms.shape[1] != n:
            raise ValueError("columns differ in length")
        for i in range(1, n):
            if places[i] < places[i - 1]:
                raise ValueError("elements are not in order")
        low = place_of(places, n, first)
        high = place_of(places, n, last)
        sparse = sparse and counts == NULL
        made.make_room(shown_between(places, low, high, first, last) if sparse else last - first, high - low)
        if made.size:
            memcpy(made.s, <const int64_t*>cnp.PyArray_DATA(terms) + low, made.size * sizeof(int64_t))
            memcpy(made.p, <const int64_t*>cnp.PyArray_DATA(terms) + n + low, made.size * sizeof(int64_t))
            memcpy(made.o, <const int64_t*>cnp.PyArray_DATA(terms) + 2 * n + low, made.size * sizeof(int64_t))
        # Where elements have several triples, either all of them are here or nobody asks which is which.
        for i in range(made.size):
            made.number[i] = triples_before + 1 + (i if counts != NULL else places[low + i] - first)
        # For the moment, in place of times the places that are shown.
        at, i, place, total = 0, low, first, triples_before
        while place < last:
            made.at_ms[at] = place
            made.order[at] = at
            total = total + counts[place] if counts != NULL else triples_before + 1 + place - first
            made.total[at] = total
            while i < high and places[i] == place:
                made.element[i - low] = at
                i += 1
            at += 1
            place = place + 1 if not sparse or place + 1 == last else last - 1 if i == high else places[i]
        made.write(made.at_ms, columns.times(made.times), made.length)
        return made

    def __len__(self):
        return self.length

    @property
    def rows(self):
        """How many triples there are."""
        return self.size

    @property
    def times(self):
        """The times of elements, in milliseconds."""
        return array_of(self.at_ms, self.length)

    @property
    def first_ms(self):
        return self.at_ms[0]

    @property
    def last_ms(self):
        return self.at_ms[self.length - 1]

    @property
    def first_tick(self):
        return 4 * self.at_ms[0] + PHASE

    @property
    def last_tick(self):
        return 4 * self.at_ms[self.length - 1] + PHASE

    @property
    def last_total(self):
        """How many triples the stream has had with the last element."""
        return self.total[self.length - 1]

    @property
    def prolongs_time(self):
        """Whether time goes on until one of these elements has ended: those that are not empty, asked for or not."""
        return self.prolongs and self.total[self.length - 1] > self.triples_before

    @property
    def total_triples(self):
        return array_of(self.total, self.length)

    @property
    def places(self):
        """For each triple the place of its element."""
        return array_of(self.element, self.size)

    @property
    def triples(self):
        cdef cnp.npy_intp shape[2]
        cdef int64_t* into
        cdef int64_t i
        shape[0], shape[1] = self.size, 3
        array = cnp.PyArray_EMPTY(2, shape, cnp.NPY_INT64, 0)
        into = <int64_t*>cnp.PyArray_DATA(<cnp.ndarray>array)
        for i in range(self.size):
            into[3 * i], into[3 * i + 1], into[3 * i + 2] = self.s[i], self.p[i], self.o[i]
        return array

    def slice(self, int64_t first, int64_t last):
        """The elements from one place up to another."""
        cdef int64_t low = 0, high, i
        if not 0 <= first <= last <= self.length:
            raise IndexError(f"there are {self.length} elements, not {first} to {last}")
        while low < self.size and self.element[low] < first:
            low += 1
        high = low
        while high < self.size and self.element[high] < last:
            high += 1
        cdef Elements made = Elements.__new__(Elements)
        made.stream, made.prolongs = self.stream, self.prolongs
        made.triples_before = self.total[first - 1] if first else self.triples_before
        made.first_element = self.first_element + first
        made.make_room(last - first, high - low)
        made.tagged = self.tagged
        memcpy(made.at_ms, self.at_ms + first, (last - first) * sizeof(int64_t))
        memcpy(made.total, self.total + first, (last - first) * sizeof(int64_t))
        memcpy(made.order, self.order + first, (last - first) * sizeof(int64_t))
        for i in range(high - low):
            made.s[i], made.p[i], made.o[i] = self.s[low + i], self.p[low + i], self.o[low + i]
            made.element[i] = self.element[low + i] - first
            made.number[i] = self.number[low + i]
            made.pattern[i] = self.pattern[low + i]
        return made
