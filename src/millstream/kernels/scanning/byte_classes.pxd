"""Classes of bytes and code points that terms are made of, and loops that skip many of them at once.

Invariant, here and in `grammar`: what is read ends with a line feed or carriage return before `end`. No class holds
those two, so a loop over a class stops by itself; only the loops that load 16 bytes at once look at `end`.
"""

from libc.stdint cimport int64_t, uint8_t, uint32_t
from libc.stdlib cimport realloc
from libc.string cimport memchr, memcpy

cdef extern from *:
    """
    #include <stdint.h>
    #include <arpa/inet.h>
    #ifdef __SSE2__
    #include <emmintrin.h>
    #endif

    enum { MS_HOST = 1, MS_PATH = 2, MS_LABEL = 4, MS_TEXT = 8, MS_ALPHA = 16, MS_DIGIT = 32, MS_HEX = 64 };

    #define MS_LETTER (MS_HOST | MS_PATH | MS_LABEL | MS_TEXT | MS_ALPHA)
    #define MS_NUMBER (MS_HOST | MS_PATH | MS_LABEL | MS_TEXT | MS_DIGIT | MS_HEX)
    #define MS_MARK (MS_HOST | MS_PATH | MS_TEXT)
    #define MS_SPLIT (MS_PATH | MS_TEXT)

    static const uint8_t ms_class[256] = {
        [' '] = MS_TEXT, ['!'] = MS_MARK, ['"'] = 0, ['#'] = MS_TEXT, ['$'] = MS_MARK, ['%'] = MS_TEXT,
        ['&'] = MS_MARK, ['\\''] = MS_MARK, ['('] = MS_MARK, [')'] = MS_MARK, ['*'] = MS_MARK, ['+'] = MS_MARK,
        [','] = MS_MARK, ['-'] = MS_MARK | MS_LABEL, ['.'] = MS_MARK, ['/'] = MS_SPLIT, ['0' ... '9'] = MS_NUMBER,
        [':'] = MS_SPLIT, [';'] = MS_MARK, ['<'] = MS_TEXT, ['='] = MS_MARK, ['>'] = MS_TEXT, ['?'] = MS_SPLIT,
        ['@'] = MS_SPLIT, ['A' ... 'F'] = MS_LETTER | MS_HEX, ['G' ... 'Z'] = MS_LETTER, ['['] = MS_TEXT,
        [']'] = MS_TEXT, ['^'] = MS_TEXT, ['_'] = MS_MARK | MS_LABEL, ['`'] = MS_TEXT,
        ['a' ... 'f'] = MS_LETTER | MS_HEX, ['g' ... 'z'] = MS_LETTER, ['{'] = MS_TEXT, ['|'] = MS_TEXT,
        ['}'] = MS_TEXT, ['~'] = MS_MARK,
    };

    #ifdef __SSE2__
    #define MS_EQUAL(c, value) _mm_cmpeq_epi8(c, _mm_set1_epi8(value))
    static inline __m128i ms_between(__m128i c, char low, char width) {
        __m128i shifted = _mm_sub_epi8(c, _mm_set1_epi8(low));
        return _mm_cmpeq_epi8(_mm_min_epu8(shifted, _mm_set1_epi8(width)), shifted);
    }
    #endif

    /* Skips what may stand in a path or query; `*authority` becomes true where a ':' or '@' was among it. */
    static inline const uint8_t *ms_skip_path(const uint8_t *p, const uint8_t *end, int *authority) {
        for (;;) {
    #ifdef __SSE2__
            while (end - p >= 16) {
                __m128i c = _mm_loadu_si128((const __m128i *)p);
                __m128i good = _mm_or_si128(
                    _mm_or_si128(ms_between(_mm_or_si128(c, _mm_set1_epi8(0x20)), 'a', 25), ms_between(c, '&', ';' - '&')),
                    _mm_or_si128(_mm_or_si128(MS_EQUAL(c, '='), MS_EQUAL(c, '_')), MS_EQUAL(c, '?')));
                int colons = _mm_movemask_epi8(MS_EQUAL(c, ':'));
                int bad = _mm_movemask_epi8(good) ^ 0xFFFF;
                if (bad) {
                    int count = __builtin_ctz(bad);
                    *authority |= colons & ((1 << count) - 1);
                    p += count;
                    break;
                }
                *authority |= colons;
                p += 16;
            }
    #endif
            if (!(ms_class[*p] & MS_PATH)) return p;
            *authority |= *p == ':' || *p == '@';
            p++;
        }
    }

    /* Skips printable ASCII without quote and backslash. */
    static inline const uint8_t *ms_skip_text(const uint8_t *p, const uint8_t *end) {
    #ifdef __SSE2__
        while (end - p >= 16) {
            __m128i c = _mm_loadu_si128((const __m128i *)p);
            __m128i bad = _mm_or_si128(
                _mm_or_si128(_mm_cmplt_epi8(c, _mm_set1_epi8(0x20)), MS_EQUAL(c, 0x7F)),
                _mm_or_si128(MS_EQUAL(c, '"'), MS_EQUAL(c, '\\\\')));
            int mask = _mm_movemask_epi8(bad);
            if (mask) return p + __builtin_ctz(mask);
            p += 16;
        }
    #endif
        while (ms_class[*p] & MS_TEXT) p++;
        return p;
    }

    static inline int ms_is_ipv6(const char *text) {
        unsigned char address[16];
        return inet_pton(AF_INET6, text, address) == 1;
    }
    """
    const uint8_t *CLASS "ms_class"
    enum:
        HOST "MS_HOST"
        PATH "MS_PATH"
        LABEL "MS_LABEL"
        TEXT "MS_TEXT"
        ALPHA "MS_ALPHA"
        DIGIT "MS_DIGIT"
        HEX "MS_HEX"
    const uint8_t *skip_path "ms_skip_path"(const uint8_t *p, const uint8_t *end, int *authority) noexcept nogil
    const uint8_t *skip_text "ms_skip_text"(const uint8_t *p, const uint8_t *end) noexcept nogil
    bint is_ipv6 "ms_is_ipv6"(const char *text) noexcept nogil


cdef struct Buffer:
    uint8_t *data
    int64_t capacity


cdef inline bint reserve(Buffer *buffer, int64_t size) noexcept nogil:
    """Room for `size` bytes, growing geometrically; False without memory."""
    cdef int64_t capacity = buffer.capacity * 2 if buffer.capacity * 2 > size else size + 64
    cdef uint8_t *data
    if size <= buffer.capacity:
        return True
    data = <uint8_t *>realloc(buffer.data, capacity)
    if data == NULL:
        return False
    buffer.data = data
    buffer.capacity = capacity
    return True


cdef inline int decode_utf8(const uint8_t *p, uint32_t *code) noexcept nogil:
    """The length of the code point at p, 0 where the bytes are not UTF-8 (overlong forms and surrogates included)."""
    cdef uint32_t c = p[0]
    if c < 0x80:
        code[0] = c
        return 1
    if c < 0xC2 or c > 0xF4 or p[1] & 0xC0 != 0x80:
        return 0
    if c < 0xE0:
        code[0] = (c & 0x1F) << 6 | (p[1] & 0x3F)
        return 2
    if p[2] & 0xC0 != 0x80:
        return 0
    if c < 0xF0:
        code[0] = (c & 0x0F) << 12 | <uint32_t>(p[1] & 0x3F) << 6 | (p[2] & 0x3F)
        return 3 if code[0] >= 0x800 and not 0xD800 <= code[0] <= 0xDFFF else 0
    if p[3] & 0xC0 != 0x80:
        return 0
    code[0] = (c & 0x07) << 18 | <uint32_t>(p[1] & 0x3F) << 12 | <uint32_t>(p[2] & 0x3F) << 6 | (p[3] & 0x3F)
    return 4 if 0x10000 <= code[0] <= 0x10FFFF else 0


cdef inline uint8_t *encode_utf8(uint8_t *out, uint32_t code) noexcept nogil:
    if code < 0x80:
        out[0] = <uint8_t>code
        return out + 1
    if code < 0x800:
        out[0] = <uint8_t>(0xC0 | code >> 6)
        out[1] = <uint8_t>(0x80 | code & 0x3F)
        return out + 2
    if code < 0x10000:
        out[0] = <uint8_t>(0xE0 | code >> 12)
        out[1] = <uint8_t>(0x80 | code >> 6 & 0x3F)
        out[2] = <uint8_t>(0x80 | code & 0x3F)
        return out + 3
    out[0] = <uint8_t>(0xF0 | code >> 18)
    out[1] = <uint8_t>(0x80 | code >> 12 & 0x3F)
    out[2] = <uint8_t>(0x80 | code >> 6 & 0x3F)
    out[3] = <uint8_t>(0x80 | code & 0x3F)
    return out + 4


cdef inline int decode_escape(const uint8_t *p, uint32_t *code) noexcept nogil:
    r"""The length of the \uXXXX or \UXXXXXXXX at p, 0 where it is none or names no character."""
    cdef int digits = 4 if p[1] == c'u' else 8 if p[1] == c'U' else 0, i
    cdef uint8_t c
    cdef uint32_t value = 0
    if digits == 0:
        return 0
    for i in range(2, 2 + digits):
        c = p[i]
        if not CLASS[c] & HEX:
            return 0
        value = value << 4 | (c - c'0' if c <= c'9' else (c | 0x20) - c'a' + 10)
    if value > 0x10FFFF or 0xD800 <= value <= 0xDFFF:
        return 0
    code[0] = value
    return 2 + digits


cdef inline bint is_ucschar(uint32_t c) noexcept nogil:
    """RFC 3987, section 2.2."""
    if c < 0x10000:
        return 0xA0 <= c <= 0xD7FF or 0xF900 <= c <= 0xFDCF or 0xFDF0 <= c <= 0xFFEF
    return c <= 0xEFFFD and c & 0xFFFF <= 0xFFFD and not 0xE0000 <= c <= 0xE0FFF


cdef inline bint is_iprivate(uint32_t c) noexcept nogil:
    return 0xE000 <= c <= 0xF8FF or 0xF0000 <= c <= 0xFFFFD or 0x100000 <= c <= 0x10FFFD


cdef inline bint is_label_start(uint32_t c) noexcept nogil:
    """PN_CHARS_BASE above ASCII (N-Triples grammar)."""
    if c < 0x2070:
        return (0xC0 <= c <= 0x2FF and c != 0xD7 and c != 0xF7) or (0x370 <= c <= 0x1FFF and c != 0x37E) \
            or c == 0x200C or c == 0x200D
    return c <= 0x218F or 0x2C00 <= c <= 0x2FEF or 0x3001 <= c <= 0xD7FF or 0xF900 <= c <= 0xFDCF \
        or 0xFDF0 <= c <= 0xFFFD or 0x10000 <= c <= 0xEFFFF


cdef inline bint is_label_part(uint32_t c) noexcept nogil:
    """PN_CHARS above ASCII."""
    return is_label_start(c) or c == 0xB7 or 0x300 <= c <= 0x36F or c == 0x203F or c == 0x2040


cdef inline bint has_label(const uint8_t *p, int64_t n) noexcept nogil:
    """Whether there may be a blank node in a text."""
    cdef const uint8_t *end = p + n
    while True:
        p = <const uint8_t *>memchr(p, c'_', end - p)
        if p == NULL or p + 1 >= end:
            return False
        if p[1] == c':':
            return True
        p += 1
