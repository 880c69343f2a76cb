"""Exact arithmetic with numbers that are an int128 / 10^scale, an integer or a decimal of XML Schema.

An operation changes its first operand and says whether the result fits; the operand is spoilt where it does not. What a
result is follows `operators.expressions.values.numbers`: sums, differences and products are exact, a quotient is cut after
18 digits behind the point, and halves are rounded towards positive infinity.
"""

from libc.math cimport ldexp
from libc.stdint cimport int64_t, uint8_t, uint64_t

from millstream.kernels.dictionary.values cimport MAX_SCALE, POWER10
from millstream.kernels.numbers.number_ids cimport (
    add_overflows, fits_word, int128, multiply_overflows, subtract_overflows, uint128,
)

cdef extern from *:
    """
    static inline int ms_leading_zeros(unsigned __int128 value) {
        uint64_t high = (uint64_t)(value >> 64);
        return high ? __builtin_clzll(high) : 64 + __builtin_clzll((uint64_t)value);
    }
    """
    int leading_zeros "ms_leading_zeros"(uint128 value) noexcept nogil
    bint word_overflows "__builtin_mul_overflow"(int64_t a, int64_t b, int64_t* into) noexcept nogil

cdef enum:
    MOST_SCALE = 36             # 10^36 fits an int128, and so does twice that
    QUOTIENT_DIGITS = 18
    STEP_DIGITS = 18            # the largest power of ten that fits a word
    EXACT_DIGITS = 36           # of which an int128 has room for all

cdef enum Rounding:
    HALF_UP
    UP
    DOWN

cdef struct Number:
    int128 mantissa
    int scale
    bint decimal


cdef inline bint multiplied(int128* value, int128 factor) noexcept nogil:
    """Whether a product fits; a word times a word always does."""
    if fits_word(value[0]) and fits_word(factor):
        value[0] = <int128><int64_t>value[0] * <int128><int64_t>factor
        return True
    return not multiply_overflows(value[0], factor, value)


cdef inline bint multiplied_by_power(int128* value, int digits) noexcept nogil:
    cdef int step
    while digits > 0:
        # The odd digits first, after which most values still fit a word.
        step = (digits - 1) % STEP_DIGITS + 1
        if not multiplied(value, <int128>POWER10[step]):
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
    return not subtract_overflows(0, a.mantissa, &a.mantissa)


cdef inline bint add(Number* a, Number* b) noexcept nogil:
    if not aligned(a, b) or add_overflows(a.mantissa, b.mantissa, &a.mantissa):
        return False
    a.decimal = a.decimal or b.decimal
    return True


cdef inline bint subtract(Number* a, Number* b) noexcept nogil:
    if not aligned(a, b) or subtract_overflows(a.mantissa, b.mantissa, &a.mantissa):
        return False
    a.decimal = a.decimal or b.decimal
    return True


cdef inline bint multiply(Number* a, Number* b) noexcept nogil:
    a.scale += b.scale
    a.decimal = a.decimal or b.decimal
    return a.scale <= MOST_SCALE and multiplied(&a.mantissa, b.mantissa)


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


cdef inline bint rounded_quotient(int64_t x, int64_t y, int digits, int64_t* into) noexcept nogil:
    """The integer nearest to x * 10^digits / y, if neither is negative and y not 0: cutting the quotient after 18 digits
    before leaves it on the same side of a half."""
    if x < 0 or y <= 0 or not -MAX_SCALE <= digits <= MAX_SCALE:
        return False
    if digits > 0:
        if word_overflows(x, POWER10[digits], &x):
            return False
    elif word_overflows(y, POWER10[-digits], &y):
        return False
    if (x | y) >> 61:
        return False
    into[0] = <int64_t>(<uint64_t>(2 * x + y) / <uint64_t>(2 * y))
    return True


cdef inline bint divide_rounded(Number* a, const Number* b) noexcept nogil:
    """A quotient rounded to an integer, if both are words. Where it says False, the operand is as it was."""
    cdef int64_t quotient
    if not fits_word(a.mantissa) or not fits_word(b.mantissa) or not rounded_quotient(
            <int64_t>a.mantissa, <int64_t>b.mantissa, b.scale - a.scale, &quotient):
        return False
    a.mantissa = quotient
    a.scale = 0
    a.decimal = True
    return True


cdef inline int compare(const Number* a, const Number* b, bint* fits) noexcept nogil:
    cdef Number x = a[0], y = b[0]
    fits[0] = aligned(&x, &y)
    return (x.mantissa > y.mantissa) - (x.mantissa < y.mantissa)


cdef inline bint exact_double(const uint8_t *digits, int64_t length, bint fraction, double *number) noexcept nogil:
    """Whether digits with at most one point are so few that they are read here, and the double nearest to them."""
    cdef bint negative = length > 0 and digits[0] == c'-', point = False
    cdef uint128 mantissa = 0, power
    cdef int scale = 0, shift
    cdef int64_t i
    if length - negative < 1 or length - negative > EXACT_DIGITS:
        return False
    for i in range(negative, length):
        if c'0' <= digits[i] <= c'9':
            mantissa = mantissa * 10 + <uint128>(digits[i] - c'0')
            scale += point
        elif digits[i] == c'.' and fraction and not point:
            point = True
        else:
            return False
    if scale > MAX_SCALE or mantissa == 0:
        return False
    # Shifted to the top the quotient has more bits than a double, and the rest only says on which side of a midpoint it is.
    shift = leading_zeros(mantissa)
    power = <uint128>POWER10[scale]
    mantissa <<= shift
    number[0] = ldexp(<double>(mantissa / power | <uint128>(mantissa % power != 0)), -shift)
    if negative:
        number[0] = -number[0]
    return True
