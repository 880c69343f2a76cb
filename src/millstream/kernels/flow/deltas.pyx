"""What flows between operators: deltas above the joins, arrivals below them. Buffers stay from call to call.

A producer owns its buffer and writes it anew at every step of the dataflow; whoever reads it later copies it. So one row
costs no allocation, and a million cost the same a row. In Python the columns are NumPy arrays, copied: for operators that
are not compiled, for state, and for tests.
"""

import numpy as np

cimport numpy as cnp
from libc.stdint cimport int64_t
from libc.string cimport memcpy

from millstream.kernels.containers.memory cimport block_free, block_resize
from millstream.kernels.flow.change_rows cimport (
    KEPT, MORE_COLUMNS, written_close, written_open, written_room, written_shrink,
)

cnp.import_array()

ALL_ALIKE = ALIKE


cdef class Deltas:
    """Rows that appear (weight > 0) and disappear, in time order, each change consolidated; change -1: time did it."""

    def __cinit__(self, columns=None, tick=None, change=None, weight=None, *, int width=0):
        """Of arrays: columns (rows by width), tick, change, weight; or empty, of a width."""
        if columns is None:
            if width < 0:
                raise ValueError(f"width must be at least 0, got {width}")
            written_open(&self.rows, width)
            return
        arrays = [np.asarray(columns, np.int64), *(np.asarray(given, np.int64) for given in (tick, change, weight))]
        if arrays[0].ndim != 2 or any(array.ndim != 1 or len(array) != len(arrays[0]) for array in arrays[1:]):
            raise ValueError("columns differ in length")
        written_open(&self.rows, arrays[0].shape[1])
        self.room(len(arrays[0]))
        self.rows.size = len(arrays[0])
        for place in range(self.rows.width):
            self.write(place, arrays[0][:, place])
        for place in range(MORE_COLUMNS):
            self.write(self.rows.width + place, arrays[1 + place])

    def __dealloc__(self):
        written_close(&self.rows)

    cdef write(self, int place, column):
        cdef cnp.ndarray given = np.ascontiguousarray(column)
        if self.rows.size:
            memcpy(self.rows.columns[place], cnp.PyArray_DATA(given), self.rows.size * sizeof(int64_t))

    cdef object read(self, int place):
        cdef cnp.npy_intp size = self.rows.size
        array = cnp.PyArray_EMPTY(1, &size, cnp.NPY_INT64, 0)
        if size:
            memcpy(cnp.PyArray_DATA(<cnp.ndarray>array), self.rows.columns[place], size * sizeof(int64_t))
        return array

    cdef void clear(self) noexcept nogil:
        self.rows.size = 0
        if self.rows.capacity > KEPT:
            written_shrink(&self.rows)

    cdef void room(self, int64_t more) noexcept nogil:
        """Room for so many rows more."""
        written_room(&self.rows, more)

    cdef void take(self, Deltas other) noexcept nogil:
        """Adds the rows of another, which come after its own."""
        cdef int place
        if other.rows.size == 0:
            return
        self.room(other.rows.size)
        for place in range(self.rows.width + MORE_COLUMNS):
            memcpy(self.rows.columns[place] + self.rows.size, other.rows.columns[place], other.rows.size * sizeof(int64_t))
        self.rows.size += other.rows.size

    cdef void copy_column(self, int place, Deltas other, int of) noexcept nogil:
        """A column of another, of as many rows."""
        if self.rows.size:
            memcpy(self.rows.columns[place], other.rows.columns[of], self.rows.size * sizeof(int64_t))

    def count(self):
        """Counts what it holds as given."""
        self.tally()

    def __len__(self):
        return self.rows.size

    @property
    def width(self):
        return self.rows.width

    @property
    def capacity(self):
        """For how many rows there is room."""
        return self.rows.capacity

    @property
    def columns(self):
        """The rows as an array of rows by columns."""
        cdef cnp.npy_intp shape[2]
        cdef int place
        shape[0], shape[1] = self.rows.width, self.rows.size
        cdef cnp.ndarray array = cnp.PyArray_SimpleNew(2, shape, cnp.NPY_INT64)
        if self.rows.size:
            for place in range(self.rows.width):
                memcpy((<int64_t*>cnp.PyArray_DATA(array)) + place * self.rows.size, self.rows.columns[place],
                       self.rows.size * sizeof(int64_t))
        return array.T

    @property
    def tick(self):
        return self.read(self.rows.width)

    @property
    def change(self):
        return self.read(self.rows.width + 1)

    @property
    def weight(self):
        return self.read(self.rows.width + 2)

    def pick(self, which):
        """Some of its rows."""
        return Deltas(self.columns[which], self.tick[which], self.change[which], self.weight[which])

    def fill(self, Deltas rows not None):
        """Holds the rows of another instead of its own."""
        if rows.rows.width != self.rows.width:
            raise ValueError(f"expected {self.rows.width} columns, got {rows.rows.width}")
        if rows is not self:
            self.clear()
            self.take(rows)

    def copy(self):
        """The same rows in a buffer of their own."""
        cdef Deltas other = Deltas(width=self.rows.width)
        other.take(self)
        return other


cdef class Bound:
    """How many rows a step may make of what comes at once; `check` is told of more."""

    def check(self, int64_t rows):
        raise NotImplementedError


cdef class Operator:
    """A node of the dataflow at work: `apply` makes of what its inputs hold what it holds itself.

    The deltas are in order of (tick, change), and each change is consolidated. What an operator keeps follows from what its
    inputs have held, never from how it came about: so answers do not depend on how the input was cut, and a restored engine
    builds its operators anew from the contents of its windows and graphs.
    """

    def __cinit__(self, inputs, int width, *args, **kwargs):
        self.inputs = tuple(inputs)
        for given in self.inputs:
            if not isinstance(given, Deltas):
                raise TypeError(f"expected Deltas, got {given!r}")
        self.out = Deltas(width=width)

    def __init__(self, inputs, int width, *args, **kwargs):
        """What it reads, and how many columns it gives."""

    def begin(self, int64_t at_tick, int64_t change):
        """Writes what it gives while its inputs are empty, as the first change."""

    cdef int apply(self) except -1:
        """Writes what changes of its inputs make of its output. Its buffer is empty, and some input is not."""
        # Extension types have no abstract methods: here and elsewhere this stands for one.
        raise NotImplementedError

    def run(self, *rows):
        """As the dataflow does it: its output anew, a copy, from these rows or else from what its inputs hold.

        For tests, and for whoever leads an operator by hand.
        """
        cdef Deltas taken, given
        if rows and len(rows) != len(self.inputs):
            raise ValueError(f"expected {len(self.inputs)} inputs, got {len(rows)}")
        for taken, given in zip(self.inputs, rows):
            taken.fill(given)
        self.out.clear()
        if any(map(len, self.inputs)):
            self.apply()
        return self.out.copy()

    def close(self, int64_t at_tick):
        """Lets go of the terms it keeps."""

    @property
    def stored(self):
        """How many rows or entries it keeps; None for one that keeps none."""
        return None


cdef class PythonOperator(Operator):
    """The boundary to Python: an operator that says in `changed` what becomes of its inputs' rows."""

    cdef int apply(self) except -1:
        self.give(self.changed(*self.inputs))
        return 0

    def give(self, Deltas rows not None):
        """Writes rows: for `begin`."""
        if rows.rows.width != self.out.rows.width:
            raise ValueError(f"expected {self.out.rows.width} columns, got {rows.rows.width}")
        self.out.take(rows)

    def changed(self, *inputs):
        """What changes of its inputs, one argument each, make of its output."""
        raise NotImplementedError


cdef int check_widths(inputs, int width) except -1:
    """That these are deltas of so many columns."""
    for given in inputs:
        if not isinstance(given, Deltas):
            raise TypeError(f"expected Deltas, got {given!r}")
        if (<Deltas>given).rows.width != width:
            raise ValueError(f"expected {width} columns, got {(<Deltas>given).rows.width}")
    return 0


cdef class Arrivals:
    """Changes of patterns' contents, in order: triple i enters (op 1) or leaves (-1) pattern `pattern[i]` at `now[i]`.

    Patterns that only name their variables differently take one row together: the first of them plus ALL_ALIKE."""

    def __cinit__(self, pattern=None, triples=None, now=None, until=None, op=None, change=None):
        if pattern is None:
            return
        columns = [pattern, triples[:, 0], triples[:, 1], triples[:, 2], now, until, op, change]
        arrays = [np.ascontiguousarray(column, np.int64) for column in columns]
        if any(array.ndim != 1 or len(array) != len(arrays[0]) for array in arrays):
            raise ValueError("columns differ in length")
        self.room(len(arrays[0]))
        self.length = len(arrays[0])
        cdef int place
        for place in range(ARRIVAL_COLUMNS):
            if self.length:
                memcpy(self.columns[place], cnp.PyArray_DATA(<cnp.ndarray>arrays[place]), self.length * sizeof(int64_t))

    def __dealloc__(self):
        cdef int place
        for place in range(ARRIVAL_COLUMNS):
            block_free(self.columns[place], self.capacity * sizeof(int64_t))

    cdef void clear(self) noexcept nogil:
        self.length = 0

    cdef void room(self, int64_t more) noexcept nogil:
        """Room for so many rows more."""
        cdef int64_t capacity
        cdef int place
        if self.length + more > self.capacity:
            capacity = max(self.length + more, 2 * self.capacity, 64)
            for place in range(ARRIVAL_COLUMNS):
                self.columns[place] = <int64_t*>block_resize(
                    self.columns[place], self.capacity * sizeof(int64_t), capacity * sizeof(int64_t))
            self.capacity = capacity

    cdef object read(self, int place):
        cdef cnp.npy_intp size = self.length
        array = cnp.PyArray_EMPTY(1, &size, cnp.NPY_INT64, 0)
        if size:
            memcpy(cnp.PyArray_DATA(<cnp.ndarray>array), self.columns[place], size * sizeof(int64_t))
        return array

    def __len__(self):
        return self.length

    @property
    def pattern(self):
        return self.read(PATTERN)

    @property
    def triples(self):
        """Three columns: subject, predicate, object."""
        return np.column_stack([self.read(place) for place in (SUBJECT, PREDICATE, OBJECT)])

    @property
    def now(self):
        return self.read(NOW)

    @property
    def until(self):
        return self.read(UNTIL)

    @property
    def op(self):
        return self.read(OP)

    @property
    def change(self):
        return self.read(NUMBER)

    def pick(self, which):
        """Some of its rows."""
        return Arrivals(self.pattern[which], self.triples[which], self.now[which], self.until[which], self.op[which],
                        self.change[which])
