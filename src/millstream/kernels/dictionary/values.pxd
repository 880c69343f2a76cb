"""Ids and the values inlined in them.

An id is a non-negative int64; -1 stands for unbound. From the top:

    0 | kind, 4 bits | payload, 59 bits

    IRI, BLANK, STRING, LANGUAGE, TYPED   generation, 27 bits | number, 32 bits      (a term in a dictionary)
    INTEGER                               value + 2^58
    DECIMAL                               scale, 5 bits | mantissa + 2^53, 54 bits   (value = mantissa / 10^scale)
    BOOLEAN                               0 or 1
    DATETIME                              UTC ms since 1970 + 2^49, 50 bits | zone, 7 bits | fraction digits, 2 bits

Invariant: a literal is inlined only if writing its id back gives the same bytes, so distinct terms have distinct ids. Hence
"+1", "01", "-0", "1." and ".5" go to the dictionary, while "1.5" and "1.50" are inlined with different scales. A mantissa
has at most 53 bits so that mantissa / 10^scale is the nearest float64. A zone is 0 (none), 1 (Z) or 58 + the offset in
quarters of an hour; other offsets, -00:00, 24:00:00 and years outside 0001-9999 go to the dictionary.
"""

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcmp, memcpy

cdef enum Kind:
    IRI = 0
    BLANK = 1
    STRING = 2
    LANGUAGE = 3
    TYPED = 4
    INTEGER = 5
    DECIMAL = 6
    BOOLEAN = 7
    DATETIME = 8

cdef enum:
    INCOMPARABLE = 2
    KIND_SHIFT = 59
    ZONE_NONE = 0
    ZONE_Z = 1
    ZONE_UTC = 58
    MAX_SCALE = 18
    FEW_DIGITS = 18       # any so many are less than 2^63
    INLINED_BYTES = 96    # no inlined literal is longer than this

cdef extern from *:
    """
    static const int64_t ms_power10[32] = {
        1LL, 10LL, 100LL, 1000LL, 10000LL, 100000LL, 1000000LL, 10000000LL, 100000000LL, 1000000000LL, 10000000000LL,
        100000000000LL, 1000000000000LL, 10000000000000LL, 100000000000000LL, 1000000000000000LL, 10000000000000000LL,
        100000000000000000LL, 1000000000000000000LL};
    static const double ms_power10_float[32] = {
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18};
    static const uint8_t ms_month_days[13] = {0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

    /* Compares a / 10^as with b / 10^bs exactly: below 2^59 times 10^18 fits 128 bits. */
    static inline int ms_compare_scaled(int64_t a, int as, int64_t b, int bs) {
        __int128 x = (__int128)a * ms_power10[bs], y = (__int128)b * ms_power10[as];
        return (x > y) - (x < y);
    }
    """
    const int64_t *POWER10 "ms_power10"
    const double *POWER10_FLOAT "ms_power10_float"
    const uint8_t *MONTH_DAYS "ms_month_days"
    int compare_scaled "ms_compare_scaled"(int64_t a, int a_scale, int64_t b, int b_scale) noexcept nogil


cdef inline int kind_of(int64_t term_id) noexcept nogil:
    return <int>(term_id >> KIND_SHIFT)


cdef inline int64_t payload_of(int64_t term_id) noexcept nogil:
    return term_id & ((<int64_t>1 << KIND_SHIFT) - 1)


cdef inline int64_t number_of(int64_t term_id) noexcept nogil:
    """The dictionary number in an id that is not inlined."""
    return <int64_t><uint32_t>term_id


cdef inline int64_t make_id(int kind, int64_t payload) noexcept nogil:
    return (<int64_t>kind << KIND_SHIFT) | payload


cdef inline int64_t integer_of(int64_t term_id) noexcept nogil:
    return payload_of(term_id) - (<int64_t>1 << 58)


cdef inline int scale_of(int64_t term_id) noexcept nogil:
    return <int>(payload_of(term_id) >> 54) if kind_of(term_id) == DECIMAL else 0


cdef inline int64_t mantissa_of(int64_t term_id) noexcept nogil:
    """The integer's value, or the decimal's times 10^scale."""
    if kind_of(term_id) == INTEGER:
        return integer_of(term_id)
    return (payload_of(term_id) & ((<int64_t>1 << 54) - 1)) - (<int64_t>1 << 53)


cdef inline bint is_number(int64_t term_id) noexcept nogil:
    return kind_of(term_id) == INTEGER or kind_of(term_id) == DECIMAL


cdef inline double float_of(int64_t term_id) noexcept nogil:
    """The float64 nearest to an inlined number."""
    return <double>mantissa_of(term_id) / POWER10_FLOAT[scale_of(term_id)]


cdef inline int64_t instant_of(int64_t term_id) noexcept nogil:
    """An inlined dateTime as ms since 1970-01-01T00:00:00, in UTC if it has a zone."""
    return (payload_of(term_id) >> 9) - (<int64_t>1 << 49)


cdef inline int zone_of(int64_t term_id) noexcept nogil:
    return <int>((term_id >> 2) & 127)


cdef inline int zone_minutes(int zone) noexcept nogil:
    return (zone - ZONE_UTC) * 15 if zone > ZONE_Z else 0


cdef inline int compare_inlined(int64_t a, int64_t b) noexcept nogil:
    """-1, 0 or 1 by value, exactly; INCOMPARABLE if not inlined, of two types, or dateTimes of which one has a zone."""
    cdef int64_t x, y
    if a < 0 or b < 0:
        return INCOMPARABLE
    if is_number(a) and is_number(b):
        return compare_scaled(mantissa_of(a), scale_of(a), mantissa_of(b), scale_of(b))
    if kind_of(a) != kind_of(b):
        return INCOMPARABLE
    if kind_of(a) == BOOLEAN:
        x, y = payload_of(a), payload_of(b)
    elif kind_of(a) == DATETIME and (zone_of(a) == ZONE_NONE) == (zone_of(b) == ZONE_NONE):
        x, y = instant_of(a), instant_of(b)
    else:
        return INCOMPARABLE
    return (x > y) - (x < y)


cdef inline bint is_value(int64_t term_id) noexcept nogil:
    """Whether reading some literal gives this id, of a kind above TYPED; writing any other would not be safe."""
    cdef int kind = kind_of(term_id)
    if kind == DECIMAL:
        return scale_of(term_id) <= MAX_SCALE
    if kind == BOOLEAN:
        return payload_of(term_id) <= 1
    if kind == DATETIME:     # from 0001-01-01T00:00:00+14:00 to 9999-12-31T23:59:59.999-14:00
        return zone_of(term_id) <= ZONE_UTC + 56 and -62135647200000LL <= instant_of(term_id) <= 253402351199999LL
    return kind == INTEGER


# Days and civil dates, proleptic Gregorian, after Howard Hinnant's days_from_civil.

cdef inline int64_t days_of_date(int64_t year, int month, int day) noexcept nogil:
    cdef int64_t y = year - (month <= 2)
    cdef int64_t era = (y if y >= 0 else y - 399) // 400
    cdef int64_t year_of_era = y - era * 400
    cdef int64_t day_of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    return era * 146097 + year_of_era * 365 + year_of_era // 4 - year_of_era // 100 + day_of_year - 719468


cdef inline void date_of_days(int64_t days, int64_t *year, int *month, int *day) noexcept nogil:
    cdef int64_t z = days + 719468
    cdef int64_t era = (z if z >= 0 else z - 146096) // 146097
    cdef int64_t day_of_era = z - era * 146097
    cdef int64_t year_of_era = (day_of_era - day_of_era // 1460 + day_of_era // 36524 - day_of_era // 146096) // 365
    cdef int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    cdef int64_t m = (5 * day_of_year + 2) // 153
    day[0] = <int>(day_of_year - (153 * m + 2) // 5 + 1)
    month[0] = <int>(m + 3 if m < 10 else m - 9)
    year[0] = year_of_era + era * 400 + (month[0] <= 2)


# Reading: from the text between the quotes to an id, or -1 where the text is not one that writing gives back.

cdef inline int64_t read_number(const uint8_t *p, int64_t n, bint decimal) noexcept nogil:
    cdef const uint8_t *end = p + n
    cdef bint negative = n > 0 and p[0] == c'-'
    cdef int64_t value = 0
    cdef int scale = -1
    if n > 20:
        return -1
    p += negative
    if p == end or p[0] == c'.' or (p[0] == c'0' and p + 1 < end and p[1] != c'.'):
        return -1
    if n <= FEW_DIGITS:
        # So few fit a word whatever they are, and a point stands once.
        while p < end and c'0' <= p[0] <= c'9':
            value = value * 10 + (p[0] - c'0')
            p += 1
        if p < end and p[0] == c'.' and decimal:
            p += 1
            scale = <int>(end - p)
            while p < end and c'0' <= p[0] <= c'9':
                value = value * 10 + (p[0] - c'0')
                p += 1
        if p < end or value > <int64_t>1 << 58:
            return -1
    while p < end:
        if c'0' <= p[0] <= c'9':
            if value >= (<int64_t>1 << 58) // 10:
                if value > ((<int64_t>1 << 58) - (p[0] - c'0')) // 10:
                    return -1
            value = value * 10 + (p[0] - c'0')
            if scale >= 0:
                scale += 1
        elif p[0] == c'.' and decimal and scale < 0:
            scale = 0
        else:
            return -1
        p += 1
    if scale == 0 or scale > MAX_SCALE or (negative and value == 0):
        return -1
    if negative:
        value = -value
    if decimal:
        if not -(<int64_t>1 << 53) <= value < (<int64_t>1 << 53):
            return -1
        return make_id(DECIMAL, (<int64_t>(scale if scale > 0 else 0) << 54) | (value + (<int64_t>1 << 53)))
    if value == (<int64_t>1 << 58):
        return -1
    return make_id(INTEGER, value + (<int64_t>1 << 58))


cdef inline int two_digits(const uint8_t *p) noexcept nogil:
    """The number in two digits, or a negative one."""
    if c'0' <= p[0] <= c'9' and c'0' <= p[1] <= c'9':
        return (p[0] - c'0') * 10 + (p[1] - c'0')
    return -10000


cdef inline int64_t read_datetime(const uint8_t *p, int64_t n) noexcept nogil:
    """YYYY-MM-DDThh:mm:ss, up to three fraction digits, and no zone, Z, or +hh:mm in quarters of an hour."""
    cdef int year, month, day, hour, minute, second, last, fraction = 0, digits = 0, zone = ZONE_NONE, offset
    cdef const uint8_t *end = p + n
    if n < 19 or n > 29 or p[4] != c'-' or p[7] != c'-' or p[10] != c'T' or p[13] != c':' or p[16] != c':':
        return -1
    year, month, day = two_digits(p) * 100 + two_digits(p + 2), two_digits(p + 5), two_digits(p + 8)
    hour, minute, second = two_digits(p + 11), two_digits(p + 14), two_digits(p + 17)
    if year < 1 or not 1 <= month <= 12 or not 0 <= hour <= 23 or not 0 <= minute <= 59 or not 0 <= second <= 59:
        return -1
    last = MONTH_DAYS[month] + (month == 2 and year % 4 == 0 and (year % 100 != 0 or year % 400 == 0))
    if not 1 <= day <= last:
        return -1
    p += 19
    if p < end and p[0] == c'.':
        p += 1
        while p < end and c'0' <= p[0] <= c'9' and digits < 3:
            fraction = fraction * 10 + (p[0] - c'0')
            digits += 1
            p += 1
        if digits == 0:
            return -1
        fraction *= <int>POWER10[3 - digits]
    if end - p == 1 and p[0] == c'Z':
        zone = ZONE_Z
    elif end - p == 6 and (p[0] == c'+' or p[0] == c'-') and p[3] == c':':
        if not 0 <= two_digits(p + 1) <= 14 or not 0 <= two_digits(p + 4) <= 59:
            return -1
        offset = two_digits(p + 1) * 60 + two_digits(p + 4)
        if offset > 840 or offset % 15 or (offset == 0 and p[0] == c'-'):
            return -1
        zone = ZONE_UTC + (-offset if p[0] == c'-' else offset) // 15
    elif p != end:
        return -1
    cdef int64_t at_ms = (
        days_of_date(year, month, day) * 86400000 + hour * 3600000 + minute * 60000 + second * 1000 + fraction)
    at_ms -= zone_minutes(zone) * 60000
    return make_id(DATETIME, ((at_ms + (<int64_t>1 << 49)) << 9) | (zone << 2) | digits)


cdef inline int64_t read_inlined(const uint8_t *term, int64_t n) noexcept nogil:
    """The id of a typed literal that can be inlined, else -1; `term` is all of it, quotes and datatype included."""
    cdef int tail
    if n < 47 or n > INLINED_BYTES:
        return -1
    if memcmp(term + n - 8, b'integer>', 8) == 0 or memcmp(term + n - 8, b'decimal>', 8) == 0 \
            or memcmp(term + n - 8, b'boolean>', 8) == 0:
        tail = 45
    elif memcmp(term + n - 9, b'dateTime>', 9) == 0:
        tail = 46
    else:
        return -1
    if memcmp(term + n - tail, b'"^^<http://www.w3.org/2001/XMLSchema#', 37) != 0:
        return -1
    cdef int64_t length = n - tail - 1
    cdef uint8_t last = term[n - 2]
    term += 1
    if tail == 46:
        return read_datetime(term, length)
    if last == c'r':
        return read_number(term, length, False)
    if last == c'l':
        return read_number(term, length, True)
    if length == 4 and memcmp(term, b'true', 4) == 0:
        return make_id(BOOLEAN, 1)
    if length == 5 and memcmp(term, b'false', 5) == 0:
        return make_id(BOOLEAN, 0)
    return -1


# Writing: the exact bytes that reading took.

cdef inline uint8_t *write_digits(uint8_t *out, uint64_t value, int width) noexcept nogil:
    """Appends `value`, below 10^19, with zeros in front up to `width` digits."""
    cdef uint64_t rest
    cdef uint8_t *end
    while width <= MAX_SCALE and value >= <uint64_t>POWER10[width]:
        width += 1
    end = out + width
    # By pairs, since each division waits for the one before it.
    while width > 1:
        rest = value // 100
        value -= 100 * rest
        out[width - 2] = <uint8_t>(c'0' + value // 10)
        out[width - 1] = <uint8_t>(c'0' + value % 10)
        value = rest
        width -= 2
    if width:
        out[0] = <uint8_t>(c'0' + value)
    return end


cdef inline uint8_t *write_number(uint8_t *out, int64_t term_id) noexcept nogil:
    cdef int64_t value = mantissa_of(term_id)
    cdef int scale = scale_of(term_id)
    if value < 0:
        out[0] = c'-'
        out += 1
        value = -value
    out = write_digits(out, value // POWER10[scale], 1)
    if scale:
        out[0] = c'.'
        out = write_digits(out + 1, value % POWER10[scale], scale)
    return out


cdef inline uint8_t *write_datetime(uint8_t *out, int64_t term_id) noexcept nogil:
    cdef int zone = zone_of(term_id), digits = <int>(term_id & 3), offset = zone_minutes(zone), month = 0, day = 0
    cdef int64_t local = instant_of(term_id) + offset * 60000, year = 0
    cdef int64_t days = (local if local >= 0 else local - 86399999) // 86400000
    cdef int64_t rest = local - days * 86400000
    date_of_days(days, &year, &month, &day)
    out = write_digits(out, year, 4)
    out[0] = c'-'
    out = write_digits(out + 1, month, 2)
    out[0] = c'-'
    out = write_digits(out + 1, day, 2)
    out[0] = c'T'
    out = write_digits(out + 1, rest // 3600000, 2)
    out[0] = c':'
    out = write_digits(out + 1, rest // 60000 % 60, 2)
    out[0] = c':'
    out = write_digits(out + 1, rest // 1000 % 60, 2)
    if digits:
        out[0] = c'.'
        out = write_digits(out + 1, rest % 1000 // POWER10[3 - digits], digits)
    if zone == ZONE_Z:
        out[0] = c'Z'
        out += 1
    elif zone != ZONE_NONE:
        out[0] = c'-' if offset < 0 else c'+'
        offset = -offset if offset < 0 else offset
        out = write_digits(out + 1, offset // 60, 2)
        out[0] = c':'
        out = write_digits(out + 1, offset % 60, 2)
    return out


cdef inline int64_t write_inlined(uint8_t *out, int64_t term_id) noexcept nogil:
    """Writes at most INLINED_BYTES and returns how many."""
    cdef uint8_t *start = out
    cdef int kind = kind_of(term_id)
    out[0] = c'"'
    out += 1
    if kind == BOOLEAN:
        if payload_of(term_id):
            memcpy(out, b'true', 4)
            out += 4
        else:
            memcpy(out, b'false', 5)
            out += 5
    elif kind == DATETIME:
        out = write_datetime(out, term_id)
    else:
        out = write_number(out, term_id)
    memcpy(out, b'"^^<http://www.w3.org/2001/XMLSchema#', 37)
    out += 37
    if kind == DATETIME:
        memcpy(out, b'dateTime>', 9)
        return out + 9 - start
    if kind == INTEGER:
        memcpy(out, b'integer>', 8)
    elif kind == DECIMAL:
        memcpy(out, b'decimal>', 8)
    else:
        memcpy(out, b'boolean>', 8)
    return out + 8 - start
