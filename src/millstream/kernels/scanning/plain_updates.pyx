"""The plain statements of SPARQL Update data as lines of N-Quads: what every parser takes as it is written.

A plain statement is three terms in full: IRIs of ASCII letters with a scheme, a host and a path that nothing resolves
otherwise; strings without escapes, with a language or a datatype of XML Schema. Operations around them are `INSERT DATA {`
and `DELETE DATA {` up to `}`. Reading stops before the first thing that is anything else, wherever that is.

Invariant: a bytes object has a NUL behind its last byte, and no class of bytes here holds that, so no loop leaves it.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from libc.stdint cimport int64_t, uint8_t
from libc.stdlib cimport free
from libc.string cimport memcpy

from millstream.kernels.scanning.byte_classes cimport Buffer, reserve

cdef extern from *:
    """
    enum { MS_SCHEME = 1, MS_AUTHORITY = 2, MS_SEGMENT = 4, MS_STRING = 8, MS_BLANK = 16, MS_GAP = 32 };
    #define MS_WORD (MS_AUTHORITY | MS_SEGMENT | MS_STRING)
    #define MS_SIGN (MS_SEGMENT | MS_STRING)
    static const uint8_t ms_plain[256] = {
        ['\\t'] = MS_BLANK | MS_GAP, ['\\n'] = MS_GAP, ['\\r'] = MS_GAP, [' '] = MS_STRING | MS_BLANK | MS_GAP,
        ['!'] = MS_SIGN, ['#'] = MS_STRING, ['$'] = MS_SIGN, ['%'] = MS_STRING, ['&' ... ','] = MS_SIGN,
        ['-' ... '.'] = MS_WORD, ['/'] = MS_STRING, ['0' ... '9'] = MS_WORD | MS_SCHEME, [':' ... ';'] = MS_SIGN,
        ['<'] = MS_STRING, ['='] = MS_SIGN, ['>' ... '?'] = MS_STRING, ['@'] = MS_SIGN, ['A' ... 'Z'] = MS_WORD,
        ['['] = MS_STRING, [']' ... '^'] = MS_STRING, ['_'] = MS_SIGN, ['`'] = MS_STRING,
        ['a' ... 'z'] = MS_WORD | MS_SCHEME, ['{' ... '}'] = MS_STRING, ['~'] = MS_SIGN,
    };
    """
    const uint8_t PLAIN "ms_plain"[256]
    enum:
        SCHEME "MS_SCHEME"
        AUTHORITY "MS_AUTHORITY"
        SEGMENT "MS_SEGMENT"
        STRING "MS_STRING"
        BLANK "MS_BLANK"
        GAP "MS_GAP"

cdef enum:
    MOST_BYTES = 4 << 20    # of lines, after which reading stops


cdef inline const uint8_t *skip(const uint8_t *p, uint8_t some) noexcept nogil:
    while PLAIN[p[0]] & some:
        p += 1
    return p


cdef const uint8_t *plain_iri(const uint8_t *p) noexcept nogil:
    """Where a plain IRI ends that begins here; NULL if none does."""
    cdef const uint8_t *begin
    if p[0] != c'<' or not c'a' <= p[1] <= c'z':
        return NULL
    p = skip(p + 2, SCHEME)
    if p[0] != c':' or p[1] != c'/' or p[2] != c'/':
        return NULL
    begin = p + 3
    p = skip(begin, AUTHORITY)
    if p == begin:
        return NULL
    if p[0] == c':':
        begin = p + 1
        p = begin
        while c'0' <= p[0] <= c'9':
            p += 1
        if not 1 <= p - begin <= 5:
            return NULL
    while p[0] == c'/':
        if p[1] == c'.':
            # It may be resolved.
            return NULL
        p = skip(p + 1, SEGMENT)
    if p[0] == c'?':
        p = skip_tail(p + 1)
    if p[0] == c'#':
        p = skip_tail(p + 1)
    return p + 1 if p[0] == c'>' else NULL


cdef inline const uint8_t *skip_tail(const uint8_t *p) noexcept nogil:
    while PLAIN[p[0]] & SEGMENT or p[0] == c'/':
        p += 1
    return p


cdef const uint8_t *plain_literal(const uint8_t *p) noexcept nogil:
    """Where a plain literal ends that begins here; NULL if none does."""
    cdef const uint8_t *begin
    if p[0] != c'"':
        return NULL
    p = skip(p + 1, STRING)
    if p[0] != c'"':
        return NULL
    p += 1
    if p[0] == c'@':
        begin = p + 1
        p = begin
        while c'a' <= p[0] <= c'z':
            p += 1
        if not 2 <= p - begin <= 3:
            return NULL
        if p[0] == c'-':
            if not (c'A' <= p[1] <= c'Z' and c'A' <= p[2] <= c'Z'):
                return NULL
            p += 3
    elif p[0] == c'^':
        p = datatype(p)
    return p


cdef const uint8_t *datatype(const uint8_t *p) noexcept nogil:
    cdef const char *schema = b"^^<http://www.w3.org/2001/XMLSchema#"
    cdef const uint8_t *begin
    while schema[0]:
        if p[0] != <uint8_t>schema[0]:
            return NULL
        p += 1
        schema += 1
    begin = p
    while c'a' <= p[0] <= c'z' or c'A' <= p[0] <= c'Z':
        p += 1
    return p + 1 if p > begin and p[0] == c'>' else NULL


cdef const uint8_t *plain_triple(const uint8_t *p) noexcept nogil:
    """Where three plain terms end; NULL if they are something else."""
    p = plain_iri(p)
    if p == NULL:
        return NULL
    p = plain_iri(skip(p, BLANK))
    if p == NULL:
        return NULL
    p = skip(p, BLANK)
    return plain_iri(p) if p[0] == c'<' else plain_literal(p)


cdef const uint8_t *word(const uint8_t *p, const char *lower) noexcept nogil:
    """Behind a word in any case; NULL if it is not there."""
    while lower[0]:
        if (p[0] | 0x20) != <uint8_t>lower[0]:
            return NULL
        p += 1
        lower += 1
    return p


cdef const uint8_t *opening(const uint8_t *p, int *sign) noexcept nogil:
    """Behind the brace of an operation on data; NULL if there is none."""
    cdef const uint8_t *rest = word(p, b"insert")
    sign[0] = 1
    if rest == NULL:
        rest = word(p, b"delete")
        sign[0] = -1
    if rest == NULL or not PLAIN[rest[0]] & GAP:
        return NULL
    rest = word(skip(rest, GAP), b"data")
    if rest == NULL:
        return NULL
    rest = skip(rest, GAP)
    return rest + 1 if rest[0] == c'{' else NULL


def take_plain(bytes text not None, int64_t position, int depth, int sign, bytes graph not None, int64_t longest):
    """The plain statements from a position on, with what they stand in: lines, and for each 1 or -1.

    `depth` braces are open there, within an operation of that sign; statements are of a `graph` as N-Quads write it, b""
    for the default graph. One of more than `longest` bytes is not plain. Gives lines, signs, where reading stopped, the
    depth and sign there, and how many operations were opened.
    """
    cdef const uint8_t *begin = <const uint8_t *>PyBytes_AS_STRING(text)
    cdef const uint8_t *p = begin + position
    cdef const uint8_t *here
    cdef const uint8_t *last
    cdef const uint8_t *stop
    cdef const char *name = PyBytes_AS_STRING(graph)
    cdef int64_t name_length = PyBytes_GET_SIZE(graph), length, size = 0, count = 0, opened = 0
    cdef int new_sign = 0
    cdef Buffer lines, signs
    if not 0 <= position <= PyBytes_GET_SIZE(text) or depth < 0:
        raise ValueError("a place in a text is within it")
    lines.data = signs.data = NULL
    lines.capacity = signs.capacity = 0
    try:
        while size < MOST_BYTES:
            if depth == 0:
                here = p
                while PLAIN[here[0]] & GAP or here[0] == c';':
                    here += 1
                stop = opening(here, &new_sign)
                if stop == NULL:
                    break
                p, depth, sign = stop, 1, new_sign
                opened += 1
                continue
            here = skip(p, GAP)
            if here[0] == c'}':
                p = here + 1
                depth -= 1
                name_length = 0
                continue
            last = plain_triple(here)
            if last == NULL or last - here > longest:
                break
            stop = skip(last, GAP)
            if stop[0] == c'.':
                stop += 1
                if not (PLAIN[stop[0]] & GAP or stop[0] == c'}'):
                    break
            elif stop[0] != c'}':
                break
            length = last - here
            if not reserve(&lines, size + length + name_length + 4) or not reserve(&signs, count + 1):
                raise MemoryError
            memcpy(lines.data + size, here, length)
            size += length
            if name_length:
                lines.data[size] = c' '
                memcpy(lines.data + size + 1, name, name_length)
                size += name_length + 1
            memcpy(lines.data + size, b" .\n", 3)
            size += 3
            signs.data[count] = <uint8_t>sign
            count += 1
            p = stop
        return (
            (<const char *>lines.data)[:size] if size else b"", (<const char *>signs.data)[:count] if count else b"",
            p - begin, depth, sign, opened,
        )
    finally:
        free(lines.data)
        free(signs.data)
