"""A backtracking matcher that counts its steps and gives up when they are spent.

For patterns that no automaton decides: references to what a group took. A program is rows of (operation, x, y):

    CHAR x          one character, x
    SET x, y        one character of the ranges x to y of `ranges`
    SPLIT x, y      go on at x, and at y if that fails
    JUMP x
    SAVE x          the position is slot x of the match
    AT x            a place, `PLACES`
    SAME x, y       again what the slots 2x and 2x+1 enclose, nothing if they are unset; y: whatever its case
    ENTER x         the position is mark x, from which a round of a loop starts
    MOVED x         fails if the position is still mark x, so that loops end
    MATCH

What may have to be undone is on one stack: (-1 - slot, value before) for a slot or mark, (row, position) to go on from.
Every row that runs is a step, and every character of SAME; the stack grows by at most one entry a step.
"""

from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free, malloc, realloc

NAMES = ("CHAR", "SET", "SPLIT", "JUMP", "SAVE", "AT", "SAME", "ENTER", "MOVED", "MATCH")
OPERATIONS = {name: i for i, name in enumerate(NAMES)}
PLACES = {name: i for i, name in enumerate(("START", "END", "LINE_START", "LINE_END", "WORD_EDGE", "NO_WORD_EDGE"))}

cdef enum:
    CHAR, SET, SPLIT, JUMP, SAVE, AT, SAME, ENTER, MOVED, MATCH

cdef enum:
    START, END, LINE_START, LINE_END, WORD_EDGE, NO_WORD_EDGE

cdef enum:
    NOT_FOUND = 0
    FOUND = 1
    SPENT = 2
    NO_MEMORY = 3


cdef inline bint _in_ranges(const int32_t[:, ::1] ranges, int64_t first, int64_t last, Py_UCS4 char) noexcept:
    cdef int64_t middle
    while first < last:
        middle = (first + last) // 2
        if <int64_t>char > ranges[middle, 1]:
            first = middle + 1
        elif <int64_t>char < ranges[middle, 0]:
            last = middle
        else:
            return True
    return False


cdef inline bint _is_word(str text, Py_ssize_t at):
    cdef Py_UCS4 char
    if at < 0 or at >= len(text):
        return False
    char = text[at]
    return char == u"_" or char.isalnum()


cdef bint _is_at(int64_t place, str text, Py_ssize_t at):
    cdef Py_ssize_t end = len(text)
    if place == START:
        return at == 0
    if place == END:
        return at == end
    if place == LINE_START:
        return at == 0 or (at < end and text[at - 1] == u"\n")
    if place == LINE_END:
        return at == end or text[at] == u"\n"
    return (_is_word(text, at - 1) != _is_word(text, at)) == (place == WORD_EDGE)


class StepsSpentError(Exception):
    """A match was given up."""


cdef class Backtracker:
    """One program; not to be used by two threads at once, which the GIL sees to."""

    cdef const int32_t[:, ::1] _program
    cdef const int32_t[:, ::1] _ranges
    cdef Py_ssize_t _slots
    cdef Py_ssize_t _marks
    cdef int64_t* _stack
    cdef Py_ssize_t _height
    cdef Py_ssize_t _room
    cdef readonly int64_t steps

    def __cinit__(self, program, ranges, Py_ssize_t groups, Py_ssize_t marks):
        self._program = program
        self._ranges = ranges
        self._slots = 2 * (groups + 1)
        self._marks = marks

    def __dealloc__(self):
        free(self._stack)

    def search(self, str text not None, Py_ssize_t start, int64_t most_steps):
        """The slots of the first match from `start` on, -1 where a group took no part; None if there is none.

        A StepsSpentError when it takes more steps; `steps` is how many it took.
        """
        cdef Py_ssize_t at, count = self._slots + self._marks, i
        cdef int64_t* slots
        cdef int found = NOT_FOUND
        self.steps = 0
        if start < 0 or start > len(text):
            return None
        slots = <int64_t*>malloc(count * sizeof(int64_t))
        if slots == NULL:
            raise MemoryError
        try:
            for i in range(count):
                slots[i] = -1
            # What a failed attempt set is undone when it ends.
            for at in range(start, len(text) + 1):
                found = self._run(text, at, slots, most_steps)
                if found != NOT_FOUND:
                    break
            if found == SPENT:
                raise StepsSpentError
            if found == NO_MEMORY:
                raise MemoryError
            return tuple([slots[i] for i in range(self._slots)]) if found == FOUND else None
        finally:
            free(slots)
            free(self._stack)
            self._stack = NULL
            self._room = 0

    cdef int _run(self, str text, Py_ssize_t at, int64_t* slots, int64_t most_steps) except -1:
        cdef Py_ssize_t end = len(text), row = 0, i, begin, length
        cdef int64_t operation, x, y
        cdef bint fits
        self._height = 0
        while True:
            self.steps += 1
            if self.steps > most_steps:
                return SPENT
            operation, x, y = self._program[row, 0], self._program[row, 1], self._program[row, 2]
            row += 1
            fits = True
            if operation == CHAR:
                fits = at < end and <int64_t><Py_UCS4>text[at] == x
                at += fits
            elif operation == SET:
                fits = at < end and _in_ranges(self._ranges, x, y, text[at])
                at += fits
            elif operation == SPLIT:
                if not self._push(y, at):
                    return NO_MEMORY
                row = x
            elif operation == JUMP:
                row = x
            elif operation == SAVE or operation == ENTER:
                if operation == ENTER:
                    x += self._slots
                if not self._push(-1 - x, slots[x]):
                    return NO_MEMORY
                slots[x] = at
            elif operation == MOVED:
                fits = slots[self._slots + x] != at
            elif operation == AT:
                fits = _is_at(x, text, at)
            elif operation == SAME:
                begin, length = slots[2 * x], slots[2 * x + 1] - slots[2 * x]
                if slots[2 * x + 1] >= 0 and length > 0:
                    fits = length <= end - at
                    if fits:
                        for i in range(length):
                            self.steps += 1
                            if not _same(text[begin + i], text[at + i], y):
                                fits = False
                                break
                    if fits:
                        at += length
            else:
                return FOUND
            if fits:
                continue
            # Undo until there is somewhere to go on.
            while True:
                if self._height == 0:
                    return NOT_FOUND
                self._height -= 2
                x, y = self._stack[self._height], self._stack[self._height + 1]
                if x >= 0:
                    row, at = x, y
                    break
                slots[-1 - x] = y

    cdef bint _push(self, int64_t first, int64_t second) noexcept:
        cdef int64_t* larger
        cdef Py_ssize_t room
        if self._height + 2 > self._room:
            room = max(2 * self._room, 64)
            larger = <int64_t*>realloc(self._stack, room * sizeof(int64_t))
            if larger == NULL:
                return False
            self._stack, self._room = larger, room
        self._stack[self._height] = first
        self._stack[self._height + 1] = second
        self._height += 2
        return True


cdef inline bint _same(Py_UCS4 left, Py_UCS4 right, bint any_case):
    if left == right:
        return True
    return any_case and (str(left).upper() == str(right).upper() or str(left).lower() == str(right).lower())
