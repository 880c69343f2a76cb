"""Values inside ids, as columns. No dictionary is needed for them: see `values`."""

import numpy as np

from libc.stdint cimport int8_t, int64_t, uint8_t

from millstream.kernels.dictionary.values cimport (
    DATETIME, ZONE_NONE, compare_inlined, float_of, instant_of, is_number, kind_of, mantissa_of, scale_of, zone_of,
)


def kind(const int64_t[:] ids):
    """The kind of each id (`dictionary_kinds.Kind`), 255 for -1."""
    return (np.asarray(ids) >> 59).astype(np.uint8)


def numeric(const int64_t[:] ids):
    """Of inlined numbers the nearest float64 and the kind; NaN and 0 for all other ids."""
    cdef int64_t n = ids.shape[0], i
    value_array, kind_array = np.full(n, np.nan), np.zeros(n, np.uint8)
    cdef double[::1] values = value_array
    cdef uint8_t[::1] kinds = kind_array
    for i in range(n):
        if is_number(ids[i]):
            values[i] = float_of(ids[i])
            kinds[i] = <uint8_t>kind_of(ids[i])
    return value_array, kind_array


def exact(const int64_t[:] ids):
    """Of inlined numbers mantissa and scale, the value being mantissa / 10**scale; scale 255 for all other ids."""
    cdef int64_t n = ids.shape[0], i
    mantissa_array, scale_array = np.zeros(n, np.int64), np.full(n, 255, np.uint8)
    cdef int64_t[::1] mantissas = mantissa_array
    cdef uint8_t[::1] scales = scale_array
    for i in range(n):
        if is_number(ids[i]):
            mantissas[i] = mantissa_of(ids[i])
            scales[i] = <uint8_t>scale_of(ids[i])
    return mantissa_array, scale_array


def instant(const int64_t[:] ids):
    """Of inlined dateTimes the ms since 1970 and 1 without, 2 with a zone (then in UTC); 0 and 0 for all other ids."""
    cdef int64_t n = ids.shape[0], i
    instant_array, zoned_array = np.zeros(n, np.int64), np.zeros(n, np.uint8)
    cdef int64_t[::1] instants = instant_array
    cdef uint8_t[::1] zoned = zoned_array
    for i in range(n):
        if kind_of(ids[i]) == DATETIME:
            instants[i] = instant_of(ids[i])
            zoned[i] = 1 if zone_of(ids[i]) == ZONE_NONE else 2
    return instant_array, zoned_array


def compare(const int64_t[:] left, const int64_t[:] right):
    """-1, 0 or 1 for each pair of inlined values, exactly; INCOMPARABLE where they have no order."""
    cdef int64_t n = left.shape[0], i
    if right.shape[0] != n:
        raise ValueError(f"{n} ids on the left, but {right.shape[0]} on the right")
    order_array = np.empty(n, np.int8)
    cdef int8_t[::1] order = order_array
    for i in range(n):
        order[i] = <int8_t>compare_inlined(left[i], right[i])
    return order_array
