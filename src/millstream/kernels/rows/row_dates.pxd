"""Parts of dateTimes in row programs: YEAR, MONTH, DAY, HOURS, MINUTES and SECONDS of those that are in ids."""

from libc.stdint cimport int64_t

from millstream.kernels.dictionary.values cimport DATETIME, TYPED, date_of_days, instant_of, kind_of, zone_minutes, zone_of
from millstream.kernels.rows.row_cells cimport ERROR, ID, NUMBER, Cell
from millstream.kernels.rows.row_operations cimport DAY, HOURS, MINUTES, MONTH, SECONDS, YEAR

cdef enum:
    DAY_MS = 86400000


cdef inline bint take_part(int operation, Cell* cell) noexcept nogil:
    """Whether it can be told."""
    cdef int64_t local, days, rest, year = 0
    cdef int month = 0, day = 0
    if cell.what == ID and kind_of(cell.id) == TYPED:
        return False
    if cell.what != ID or kind_of(cell.id) != DATETIME:
        cell.what = ERROR
        return True
    local = instant_of(cell.id) + zone_minutes(zone_of(cell.id)) * 60000
    days = (local if local >= 0 else local - (DAY_MS - 1)) // DAY_MS
    rest = local - days * DAY_MS
    date_of_days(days, &year, &month, &day)
    cell.what = NUMBER
    cell.number.scale = 3 if operation == SECONDS else 0
    cell.number.decimal = operation == SECONDS
    cell.number.mantissa = (year if operation == YEAR else month if operation == MONTH else day if operation == DAY
                            else rest // 3600000 if operation == HOURS else rest // 60000 % 60 if operation == MINUTES
                            else rest % 60000)
    return True
