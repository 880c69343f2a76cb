"""The product of disconnected parts, taken last: solutions of each part are kept, combinations only made as they begin.

Each part's solutions form a multiset with intervals: of those that hold, it is kept how many have these values and this end.
A row of weight w on [start, until) is w more that end at `until` and, if it starts later than now, w fewer that end at
`start`, since that is when those end which it extends. A combination holds in the intersection, as often as its parts
multiply to. Nothing is combined while some part has no solution. Combinations can be many, so some are handed on at a time.
"""

from libc.stdint cimport int32_t, int64_t, uint32_t
from libc.string cimport memcpy, memset

from millstream.kernels.conjunctions.parts cimport Part
from millstream.kernels.conjunctions.time_merge cimport Rows
from millstream.kernels.containers.agenda cimport FOREVER
from millstream.kernels.containers.hash_index cimport (
    Probe, index_close, index_drop, index_open, index_put, index_replace, probe, probe_next, words_hash,
)
from millstream.kernels.containers.memory cimport block_free, block_resize
from millstream.kernels.flow.deltas cimport Bound
from millstream.kernels.joins.counting cimport MOST_COUNTED

cdef enum:
    AT_ONCE = 1 << 16           # rows that are handed on together
    SWEPT = 256                 # from so many on a side is swept as it grows

# One combination is so many rows of the weight that a join gives, at most; more are refused.
cdef int64_t MOST_WEIGHT = MOST_COUNTED << 10
cdef int64_t UNBOUNDED = <int64_t>1 << 62       # more than any bound allows


cdef class Sink:
    """Whoever takes solutions with intervals."""

    cdef int take(self, Rows* rows) except -1:
        raise NotImplementedError


cdef inline int64_t* side_row(Side* side, int64_t number) noexcept nogil:
    return side.rows + number * (side.width + 2)


cdef inline uint32_t side_hash(Side* side, const int64_t* values) noexcept nogil:
    """Of values and their end."""
    return words_hash(values, side.width + 1)


cdef inline int32_t side_find(Side* side, const int64_t* values, uint32_t hash) noexcept nogil:
    cdef Probe found = probe(&side.index, hash)
    cdef int32_t number
    cdef int64_t* row
    cdef int i
    while True:
        number = probe_next(&side.index, &found)
        if number < 0:
            return -1
        row = side_row(side, number)
        i = 0
        while i <= side.width and row[i] == values[i]:
            i += 1
        if i > side.width:
            return number


cdef inline void side_drop(Side* side, int32_t number) noexcept nogil:
    """Forgets a solution; the last one takes its place."""
    cdef int32_t last = <int32_t>(side.size - 1)
    index_drop(&side.index, side_hash(side, side_row(side, number)), number)
    if number != last:
        index_replace(&side.index, side_hash(side, side_row(side, last)), last, number)
        memcpy(side_row(side, number), side_row(side, last), (side.width + 2) * sizeof(int64_t))
    side.size -= 1


cdef inline void side_sweep(Side* side, int64_t now) noexcept nogil:
    """Forgets what has ended."""
    cdef int32_t number = 0
    if side.earliest > now:
        return
    side.earliest = FOREVER
    while number < side.size:
        if side_row(side, number)[side.width] <= now:
            side_drop(side, number)
        else:
            side.earliest = min(side.earliest, side_row(side, number)[side.width])
            number += 1


cdef class Product:
    """Combines solutions of parts of these widths; the columns of the result are those of the parts in order.

    `bound` is told of combinations that are more than a weight can say."""

    def __cinit__(self, widths, Bound bound not None):
        cdef int part, column
        self.bound = bound
        self.count = len(widths)
        self.sides = <Side*>block_resize(NULL, 0, self.count * sizeof(Side))
        self.places = <int64_t*>block_resize(NULL, 0, self.count * sizeof(int64_t))
        for part in range(self.count):
            memset(&self.sides[part], 0, sizeof(Side))
            self.sides[part].width = widths[part]
            self.sides[part].earliest = FOREVER
            index_open(&self.sides[part].index)
            self.out.width += self.sides[part].width
        self.out.columns = <int64_t**>block_resize(NULL, 0, self.out.width * sizeof(int64_t*))
        for column in range(self.out.width):
            self.out.columns[column] = NULL

    def __dealloc__(self):
        cdef int part
        if self.sides != NULL:
            for part in range(self.count):
                block_free(self.sides[part].rows, self.sides[part].capacity * (self.sides[part].width + 2) * sizeof(int64_t))
                index_close(&self.sides[part].index)
        block_free(self.sides, self.count * sizeof(Side))
        block_free(self.places, self.count * sizeof(int64_t))
        self.close_out()
        block_free(self.out.columns, self.out.width * sizeof(int64_t*))

    cdef void close_out(self) noexcept:
        cdef int column
        for column in range(self.out.width):
            block_free(self.out.columns[column], self.capacity * sizeof(int64_t))
        block_free(self.out.change, self.capacity * sizeof(int64_t))
        block_free(self.out.now, self.capacity * sizeof(int64_t))
        block_free(self.out.start, self.capacity * sizeof(int64_t))
        block_free(self.out.until, self.capacity * sizeof(int64_t))
        block_free(self.out.weight, self.capacity * sizeof(int64_t))
        self.capacity = 0

    cdef void room(self) noexcept:
        cdef int64_t was = self.capacity * sizeof(int64_t), size
        cdef int column
        self.capacity = max(64, 2 * self.capacity)
        size = self.capacity * sizeof(int64_t)
        for column in range(self.out.width):
            self.out.columns[column] = <int64_t*>block_resize(self.out.columns[column], was, size)
        self.out.change = <int64_t*>block_resize(self.out.change, was, size)
        self.out.now = <int64_t*>block_resize(self.out.now, was, size)
        self.out.start = <int64_t*>block_resize(self.out.start, was, size)
        self.out.until = <int64_t*>block_resize(self.out.until, was, size)
        self.out.weight = <int64_t*>block_resize(self.out.weight, was, size)

    cdef int feed(self, list parts, Sink sink) except -1:
        """Hands on what changes of the parts, each in order of change, make of the combinations."""
        cdef int part, next_part
        cdef Rows* rows
        cdef list at = [0] * self.count
        cdef int64_t row, best = 0
        if len(parts) != self.count:
            raise ValueError(f"expected {self.count} parts, got {len(parts)}")
        for part in range(self.count):
            if (<Part>parts[part]).found.width != self.sides[part].width:
                raise ValueError(f"part {part} has another width than before")
        self.out.size = 0
        while True:
            next_part = -1
            for part in range(self.count):
                row = at[part]
                rows = &(<Part>parts[part]).found
                # Of one change, those of the first parts come first.
                if row < rows.size and (next_part < 0 or rows.change[row] < best):
                    next_part = part
                    best = rows.change[row]
            if next_part < 0:
                break
            row = at[next_part]
            at[next_part] = row + 1
            rows = &(<Part>parts[next_part]).found
            self.combine(next_part, rows, row, sink)
            self.keep(next_part, rows, row)
        return self.flush(sink)

    cdef int combine(self, int changed, Rows* rows, int64_t row, Sink sink) except -1:
        """Writes the combinations of a solution with what the other parts hold."""
        cdef int64_t now = rows.now[row], end, weight, times
        cdef int part
        for part in range(self.count):
            self.places[part] = 0
            if part != changed:
                side_sweep(&self.sides[part], now)
                if self.sides[part].size == 0:
                    return 0
        while True:
            end = rows.until[row]
            for part in range(self.count):
                if part != changed:
                    end = min(end, side_row(&self.sides[part], self.places[part])[self.sides[part].width])
            if rows.start[row] < end:
                weight = rows.weight[row]
                for part in range(self.count):
                    if part != changed:
                        times = side_row(&self.sides[part], self.places[part])[self.sides[part].width + 1]
                        if times != 1:
                            if abs(weight) > MOST_WEIGHT // abs(times):
                                self.bound.check(UNBOUNDED + 1)
                            weight *= times
                while weight:
                    times = max(-MOST_COUNTED, min(weight, MOST_COUNTED))
                    self.write(changed, rows, row, end, times)
                    weight -= times
                    if self.out.size == AT_ONCE:
                        self.flush(sink)
            # The next combination: as an odometer turns.
            part = self.count - 1
            while part >= 0:
                if part != changed:
                    self.places[part] += 1
                    if self.places[part] < self.sides[part].size:
                        break
                    self.places[part] = 0
                part -= 1
            if part < 0:
                return 0

    cdef void write(self, int changed, Rows* rows, int64_t row, int64_t end, int64_t weight) noexcept:
        """One combination of a solution with those at `places`, so many times."""
        cdef Rows* out = &self.out
        cdef int64_t* values
        cdef int64_t at = out.size
        cdef int part, column = 0, place
        if at == self.capacity:
            self.room()
        for part in range(self.count):
            if part == changed:
                for place in range(rows.width):
                    out.columns[column + place][at] = rows.columns[place][row]
            else:
                values = side_row(&self.sides[part], self.places[part])
                for place in range(self.sides[part].width):
                    out.columns[column + place][at] = values[place]
            column += self.sides[part].width
        out.change[at] = rows.change[row]
        out.now[at] = rows.now[row]
        out.start[at] = rows.start[row]
        out.until[at] = end
        out.weight[at] = weight
        out.size += 1

    cdef void keep(self, int part, Rows* rows, int64_t row) noexcept:
        """Keeps what a row makes of the solutions of a part, until they end."""
        if rows.start[row] > rows.now[row]:
            self.add(&self.sides[part], rows, row, rows.start[row], -rows.weight[row])
        self.add(&self.sides[part], rows, row, rows.until[row], rows.weight[row])

    cdef void add(self, Side* side, Rows* rows, int64_t row, int64_t until, int64_t weight) noexcept:
        """So many more solutions have the values of a row and this end."""
        cdef int64_t* values
        cdef int64_t capacity, stride = (side.width + 2) * sizeof(int64_t)
        cdef int32_t number
        cdef uint32_t hash
        cdef int place
        # Written behind the last one, where it stays if it is new.
        if side.size == side.capacity:
            if side.size >= SWEPT:
                side_sweep(side, rows.now[row])
            if 2 * side.size >= side.capacity:
                capacity = max(16, 2 * side.capacity)
                side.rows = <int64_t*>block_resize(side.rows, side.capacity * stride, capacity * stride)
                side.capacity = capacity
        values = side_row(side, side.size)
        for place in range(side.width):
            values[place] = rows.columns[place][row]
        values[side.width] = until
        hash = side_hash(side, values)
        number = side_find(side, values, hash)
        if number < 0:
            values[side.width + 1] = weight
            index_put(&side.index, hash, <int32_t>side.size)
            side.size += 1
            side.earliest = min(side.earliest, until)
            return
        values = side_row(side, number)
        values[side.width + 1] += weight
        if values[side.width + 1] == 0:
            side_drop(side, number)

    cdef int flush(self, Sink sink) except -1:
        if self.out.size:
            sink.take(&self.out)
        self.out.size = 0
        return 0
