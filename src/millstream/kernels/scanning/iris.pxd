"""Absolute IRIs, RFC 3987. `usual_iri_end` takes the usual ones at a glance; what it leaves, `check_iri` decides."""

from libc.stdint cimport int64_t, uint8_t, uint32_t
from libc.string cimport memchr, memcmp, memcpy

from millstream.kernels.scanning.byte_classes cimport (
    ALPHA, CLASS, DIGIT, HEX, HOST, PATH, decode_utf8, is_iprivate, is_ipv6, is_ucschar, skip_path,
)

cdef enum:
    IRI_SCHEME = 1     # there is no scheme
    IRI_PART = 2       # something stands where it may not


cdef inline const uint8_t *usual_iri_end(const uint8_t *p, const uint8_t *end) noexcept nogil:
    """The '>' of an absolute IRI in plain ASCII whose authority is a name without port; NULL if it is another, or none."""
    cdef int authority = 0
    cdef bint fragment = False
    if end - p > 8 and memcmp(p, b'http', 4) == 0 and (p[4] == c':' or (p[4] == c's' and p[5] == c':')):
        p += 5 + (p[4] == c's')
    else:
        if not CLASS[p[0]] & ALPHA:
            return NULL
        while CLASS[p[0]] & (ALPHA | DIGIT) or p[0] == c'+' or p[0] == c'-' or p[0] == c'.':
            p += 1
        if p[0] != c':':
            return NULL
        p += 1
    cdef bint named = p[0] == c'/' and p[1] == c'/'
    while True:
        p = skip_path(p, end, &authority)
        if p[0] == c'>':
            if authority and named:
                return NULL
            return p
        if p[0] == c'#' and not fragment:
            fragment = True
            p += 1
        elif p[0] == c'%' and CLASS[p[1]] & HEX and CLASS[p[2]] & HEX:
            p += 3
        else:
            return NULL


cdef inline int64_t skip_part(const uint8_t *p, int64_t i, int64_t n, int ascii_class, int64_t extra) noexcept nogil:
    """Skips from i characters of a class, %XX and ucschar; bit 0 of `extra`: ':' too, bit 1: iprivate too."""
    cdef uint32_t code = 0
    cdef int length
    while i < n:
        if CLASS[p[i]] & ascii_class or (extra & 1 and p[i] == c':'):
            i += 1
        elif p[i] == c'%' and i + 2 < n and CLASS[p[i + 1]] & HEX and CLASS[p[i + 2]] & HEX:
            i += 3
        elif p[i] >= 0x80:
            length = decode_utf8(p + i, &code)
            if not (is_ucschar(code) or (extra & 2 and is_iprivate(code))):
                break
            i += length
        else:
            break
    return i


cdef inline int64_t skip_ip_literal(const uint8_t *p, int64_t i, int64_t n) noexcept nogil:
    """From '[' past ']', or -1."""
    cdef char text[64]
    cdef const uint8_t *close = <const uint8_t *>memchr(p + i, c']', n - i)
    cdef int64_t k = i + 2, e
    if close == NULL:
        return -1
    e = close - p
    if p[i + 1] == c'v' or p[i + 1] == c'V':
        while CLASS[p[k]] & HEX:
            k += 1
        if k == i + 2 or p[k] != c'.' or k + 1 == e:
            return -1
        return e + 1 if skip_part(p, k + 1, e, HOST, 1) == e else -1
    if e - i - 1 >= 64 or memchr(p + i, 0, e - i) != NULL:
        return -1
    memcpy(text, p + i + 1, e - i - 1)
    text[e - i - 1] = 0
    return e + 1 if is_ipv6(text) else -1


cdef inline int check_iri(const uint8_t *p, int64_t n) noexcept nogil:
    """0 for an absolute IRI, given in UTF-8 with a byte after it, else the reason."""
    cdef int64_t i = 0, k
    if n == 0 or not CLASS[p[0]] & ALPHA:
        return IRI_SCHEME
    while i < n and (CLASS[p[i]] & (ALPHA | DIGIT) or p[i] == c'+' or p[i] == c'-' or p[i] == c'.'):
        i += 1
    if i == n or p[i] != c':':
        return IRI_SCHEME
    i += 1
    if i + 1 < n and p[i] == c'/' and p[i + 1] == c'/':
        i += 2
        k = skip_part(p, i, n, HOST, 1)
        if k < n and p[k] == c'@':
            i = k + 1
        elif k < n and p[k] != c'/' and p[k] != c'?' and p[k] != c'#' and p[k] != c'[':
            return IRI_PART
        if i < n and p[i] == c'[':
            i = skip_ip_literal(p, i, n)
            if i < 0:
                return IRI_PART
        else:
            i = skip_part(p, i, n, HOST, 0)
        if i < n and p[i] == c':':
            i += 1
            while i < n and CLASS[p[i]] & DIGIT:
                i += 1
        if i < n and p[i] != c'/' and p[i] != c'?' and p[i] != c'#':
            return IRI_PART
    while i < n and p[i] != c'?' and p[i] != c'#':
        k = skip_part(p, i, n, PATH, 0)
        # PATH holds '?', after which private characters are allowed: back to it before going on.
        if k < n and p[k] >= 0x80 and memchr(p + i, c'?', k - i) != NULL:
            i = <const uint8_t *>memchr(p + i, c'?', k - i) - p
        elif k < n and p[k] != c'#':
            return IRI_PART
        else:
            i = k
    if i < n and p[i] == c'?':
        i = skip_part(p, i, n, PATH, 2)
    if i < n and p[i] == c'#':
        i = skip_part(p, i + 1, n, PATH, 0)
    return 0 if i == n else IRI_PART
