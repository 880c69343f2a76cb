"""Rows of elements that follow each other: which element each is of, and triples that have come before in theirs.

Few triples are compared with each other; beyond that a table has, by hash, the place of each that came first, counted from
one within its element. It is cleared before the next element.
"""

import numpy as np

from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.string cimport memset

from millstream.kernels.containers.growing cimport Growing, growing_close, growing_room
from millstream.kernels.containers.hash_index cimport mix

cdef enum:
    FEW = 24


cdef inline bint is_equal(const int64_t[:, :] rows, int64_t i, int64_t j) noexcept nogil:
    return rows[i, 2] == rows[j, 2] and rows[i, 1] == rows[j, 1] and rows[i, 0] == rows[j, 0]


cdef void compare_all(const int64_t[:, :] rows, int64_t first, int64_t last, uint8_t[::1] repeat) noexcept nogil:
    cdef int64_t i, j
    for i in range(first + 1, last):
        j = first
        while j < i and not is_equal(rows, i, j):
            j += 1
        repeat[i] = j < i


cdef void look_up(const int64_t[:, :] rows, int64_t first, int64_t last, uint8_t[::1] repeat, Growing* room) noexcept nogil:
    cdef int64_t capacity = 64, i
    cdef int64_t* places
    cdef uint64_t slot
    while capacity < 2 * (last - first):
        capacity *= 2
    growing_room(room, capacity, sizeof(int64_t))
    places = <int64_t*>room.data
    memset(places, 0, capacity * sizeof(int64_t))
    for i in range(first, last):
        slot = mix(mix(mix(<uint64_t>rows[i, 0]) + <uint64_t>rows[i, 1]) + <uint64_t>rows[i, 2]) & <uint64_t>(capacity - 1)
        while places[slot] and not is_equal(rows, i, first + places[slot] - 1):
            slot = (slot + 1) & <uint64_t>(capacity - 1)
        if places[slot]:
            repeat[i] = True
        else:
            places[slot] = i - first + 1


def repeats(const int64_t[:] element, const int64_t[:, :] triples):
    """Which triples have come before in their element; those of one follow each other."""
    cdef int64_t n = element.shape[0], first = 0, last
    cdef Growing room
    if triples.shape[0] != n or triples.shape[1] != 3:
        raise ValueError(f"expected {n} rows of 3 columns, got {triples.shape[0]} of {triples.shape[1]}")
    found = np.zeros(n, np.bool_)
    cdef uint8_t[::1] repeat = found.view(np.uint8)
    memset(&room, 0, sizeof(Growing))
    with nogil:
        while first < n:
            last = first + 1
            while last < n and element[last] == element[first]:
                last += 1
            if last - first <= FEW:
                compare_all(triples, first, last, repeat)
            else:
                look_up(triples, first, last, repeat, &room)
            first = last
        growing_close(&room)
    return found


def element_places(const uint8_t[::1] begins, const int64_t[:] times, int64_t lowest, int64_t highest):
    """For each row the place of its element, for each element its time and how many rows it has. `begins` says of each row
    whether an element begins there, as one does at the first. None if the rows of an element differ in time, or if a time is
    not from the lowest to the highest.
    """
    cdef int64_t n = begins.shape[0], row, at = -1, count = 0
    if times.shape[0] != n:
        raise ValueError(f"{n} rows, but {times.shape[0]} times")
    if n and not begins[0]:
        raise ValueError("the first row begins no element")
    for row in range(n):
        count += begins[row] != 0
    places, starts, sizes = np.empty(n, np.int64), np.empty(count, np.int64), np.zeros(count, np.int64)
    cdef int64_t[::1] place = places, start = starts, size = sizes
    for row in range(n):
        if begins[row]:
            at += 1
            start[at] = times[row]
            if not lowest <= start[at] <= highest:
                return None
        elif times[row] != start[at]:
            return None
        place[row] = at
        size[at] += 1
    return places, starts, sizes
