"""Exact arithmetic with numbers that are an int128 / 10^scale, an integer or a decimal of XML Schema.

An operation changes its first operand and says whether the result fits; the operand is spoilt where it does not. What a
result is follows `operators.expressions.numbers`: sums, differences and products are exact, a quotient is cut after 18
digits behind the point, and halves are rounded towards positive infinity.
"""

from millstream.kernels.dictionary_values cimport POWER10
from millstream.kernels.results cimport add_overflows, int128, multiply_overflows

cdef enum:
    MOST_SCALE = 36             # 10^36 fits an int128, and so does twice that
    QUOTIENT_DIGITS = 18
    STEP_DIGITS = 18            # the largest power of ten that fits a word

cdef enum Rounding:
    HALF_UP
    UP
    DOWN

cdef struct Number:
    int128 mantissa
    int scale
    bint decimal


cdef inline bint multiplied_by_power(int128* value, int digits) noexcept nogil:
    cdef int step
    while digits > 0:
        step = digits if digits < STEP_DIGITS else STEP_DIGITS
        if multiply_overflows(value[0], <int128>POWER10[step], value):
            return False
        digits -= step
    return True


cdef inline bint aligned(Number* a, Number* b) noexcept nogil:
    """Brings both to the larger scale."""
    if a.scale < b.scale:
        if not multiplied_by_power(&a.mantissa, b.scale - a.scale):
            return False
        a.scale = b.scale
    elif b.scale < a.scale:
        if not multiplied_by_power(&b.mantissa, a.scale - b.scale):
            return False
        b.scale = a.scale
    return True


cdef inline bint negate(Number* a) noexcept nogil:
    return not multiply_overflows(a.mantissa, <int128>-1, &a.mantissa)


cdef inline bint add(Number* a, Number* b) noexcept nogil:
    if not aligned(a, b) or add_overflows(a.mantissa, b.mantissa, &a.mantissa):
        return False
    a.decimal = a.decimal or b.decimal
    return True


cdef inline bint subtract(Number* a, Number* b) noexcept nogil:
    return negate(b) and add(a, b)


cdef inline bint multiply(Number* a, Number* b) noexcept nogil:
    a.scale += b.scale
    a.decimal = a.decimal or b.decimal
    return a.scale <= MOST_SCALE and not multiply_overflows(a.mantissa, b.mantissa, &a.mantissa)


cdef inline bint divide(Number* a, Number* b) noexcept nogil:
    """The divisor is not 0."""
    cdef int digits = QUOTIENT_DIGITS + b.scale - a.scale
    if not multiplied_by_power(&a.mantissa, digits) or not multiplied_by_power(&b.mantissa, -digits):
        return False
    a.scale = QUOTIENT_DIGITS
    a.decimal = True
    if b.mantissa == -1:        # of the least int128 this is the only quotient that overflows
        return negate(a)
    a.mantissa = a.mantissa / b.mantissa
    return True


cdef inline void round_number(Number* a, Rounding how) noexcept nogil:
    cdef int128 unit = 1, rest
    multiplied_by_power(&unit, a.scale)
    rest = a.mantissa % unit
    a.mantissa = a.mantissa / unit
    a.scale = 0
    if rest < 0:
        rest += unit
        a.mantissa -= 1
    if (how == UP and rest > 0) or (how == HALF_UP and rest >= unit - rest):
        a.mantissa += 1


cdef inline int compare(const Number* a, const Number* b, bint* fits) noexcept nogil:
    cdef Number x = a[0], y = b[0]
    fits[0] = aligned(&x, &y)
    return (x.mantissa > y.mantissa) - (x.mantissa < y.mantissa)
