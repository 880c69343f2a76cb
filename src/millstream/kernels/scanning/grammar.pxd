"""Terms of N-Triples and N-Quads: validates the bytes at a place and gives them in canonical form.

Canonical is what pyoxigraph writes: no \\u escape but for control characters, U+007F, U+FFFE and U+FFFF; language tags in
lower case; no xsd:string. A term that is canonical already, the usual case, is not copied: `Term.bytes` points into the
input. Each `scan_*` returns the place after the term, or NULL with the place and reason in `fault`. See `byte_classes` for
the invariant that keeps all of them inside their input.
"""

from libc.stdint cimport int64_t, uint8_t, uint32_t
from libc.stdlib cimport free
from libc.string cimport memcmp, memcpy

from millstream.kernels.dictionary.values cimport BLANK, IRI, LANGUAGE, STRING, TYPED
from millstream.kernels.scanning.byte_classes cimport (
    ALPHA, Buffer, CLASS, DIGIT, LABEL, decode_escape, decode_utf8, encode_utf8, is_label_part, is_label_start, reserve,
    skip_text,
)
from millstream.kernels.scanning.iris cimport IRI_SCHEME, check_iri, usual_iri_end
from millstream.kernels.scanning.language_tags cimport is_language_tag

cdef enum Reason:
    NO_TERM = 1
    NO_IRI_END
    BAD_ESCAPE
    BAD_UTF8
    NO_SCHEME
    BAD_IRI
    BAD_LABEL
    NO_QUOTE
    BAD_LANGUAGE
    DIRECTION
    NO_DATATYPE
    RESERVED_DATATYPE
    TRIPLE_TERM
    SUBJECT
    PREDICATE
    OBJECT
    GRAPH
    NO_DOT
    TRAILING
    NO_MEMORY
    TOO_LONG
    TOO_LARGE

cdef enum:
    XSD_BYTES = 34    # of '<http://www.w3.org/2001/XMLSchema#'

cdef struct Fault:
    const uint8_t *at
    int reason

cdef struct Term:
    const uint8_t *bytes
    int64_t length
    int kind
    Buffer text       # holds the canonical bytes where they differ from the input
    Buffer iri        # holds an unescaped IRI


cdef inline void free_term(Term *term) noexcept nogil:
    free(term.text.data)
    free(term.iri.data)
    term.text.data = NULL
    term.iri.data = NULL


cdef inline const uint8_t *fail(Fault *fault, const uint8_t *at, int reason) noexcept nogil:
    fault.at = at
    fault.reason = reason
    return NULL


cdef inline const uint8_t *skip_blanks(const uint8_t *p) noexcept nogil:
    while p[0] == c' ' or p[0] == c'\t':
        p += 1
    return p


cdef inline bint is_line_end(const uint8_t *p) noexcept nogil:
    """Whether a line feed is here, perhaps behind a carriage return."""
    return p[0] == c'\n' or (p[0] == c'\r' and p[1] == c'\n')


cdef inline const uint8_t *scan_unusual_iri(const uint8_t *p, Term *term, Fault *fault) noexcept nogil:
    """As scan_iri: unescapes into `term.iri`, which then holds the brackets too, and checks what came out."""
    cdef const uint8_t *start = p
    cdef uint8_t *out
    cdef int64_t used = 1
    cdef uint32_t code = 0
    cdef int length, reason
    p += 1
    while p[0] != c'>':
        if p[0] == c'\n' or p[0] == c'\r':
            return fail(fault, p, NO_IRI_END)
        length = decode_escape(p, &code) if p[0] == c'\\' else decode_utf8(p, &code)
        if length == 0:
            return fail(fault, p, BAD_ESCAPE if p[0] == c'\\' else BAD_UTF8)
        if not reserve(&term.iri, used + 8):
            return fail(fault, p, NO_MEMORY)
        used = encode_utf8(term.iri.data + used, code) - term.iri.data
        p += length
    if not reserve(&term.iri, used + 2):
        return fail(fault, p, NO_MEMORY)
    out = term.iri.data
    out[0] = c'<'
    out[used] = c'>'
    out[used + 1] = 0
    reason = check_iri(out + 1, used - 1)
    if reason:
        return fail(fault, start, NO_SCHEME if reason == IRI_SCHEME else BAD_IRI)
    term.bytes = out
    term.length = used + 1
    return p + 1


cdef inline const uint8_t *scan_iri(const uint8_t *p, const uint8_t *end, Term *term, Fault *fault) noexcept nogil:
    cdef const uint8_t *close = usual_iri_end(p + 1, end)
    term.kind = IRI
    if close == NULL:
        if p[1] == c'<':
            return fail(fault, p, TRIPLE_TERM)
        return scan_unusual_iri(p, term, fault)
    term.bytes = p
    term.length = close + 1 - p
    return close + 1


cdef inline const uint8_t *scan_blank(const uint8_t *p, Term *term, Fault *fault) noexcept nogil:
    cdef const uint8_t *start = p
    cdef uint32_t code = 0
    cdef int length
    if p[1] != c':':
        return fail(fault, p, NO_TERM)
    p += 2
    if not (CLASS[p[0]] & LABEL and p[0] != c'-'):
        length = decode_utf8(p, &code)
        if length < 2 or not is_label_start(code):
            return fail(fault, p, BAD_LABEL)
    while True:
        while CLASS[p[0]] & LABEL or p[0] == c'.':
            p += 1
        if p[0] < 0x80:
            break
        length = decode_utf8(p, &code)
        if length == 0:
            return fail(fault, p, BAD_UTF8)
        if not is_label_part(code):
            break
        p += length
    while (p - 1)[0] == c'.':     # a label does not end with a dot, the statement does
        p -= 1
    term.kind = BLANK
    term.bytes = start
    term.length = p - start
    return p


# Literals.

cdef inline bint is_escaped(uint32_t code) noexcept nogil:
    """Whether the canonical form of a character in a string is an escape."""
    return code < 0x20 or code == 0x22 or code == 0x5C or code == 0x7F or code == 0xFFFE or code == 0xFFFF


cdef inline uint32_t short_escape(uint8_t letter) noexcept nogil:
    """The character behind \\n and its like, 0 if there is none."""
    if letter == c'n':
        return 10
    if letter == c't':
        return 9
    if letter == c'r':
        return 13
    if letter == c'b':
        return 8
    if letter == c'f':
        return 12
    if letter == c'"' or letter == c"'" or letter == c'\\':
        return letter
    return 0


cdef inline uint8_t *write_escaped(uint8_t *out, uint32_t code) noexcept nogil:
    """Appends a character as pyoxigraph writes it, at most six bytes."""
    cdef const char *hexadecimal = b'0123456789ABCDEF'
    if not is_escaped(code):
        return encode_utf8(out, code)
    out[0] = c'\\'
    if code == 10:
        out[1] = c'n'
    elif code == 9:
        out[1] = c't'
    elif code == 13:
        out[1] = c'r'
    elif code == 8:
        out[1] = c'b'
    elif code == 12:
        out[1] = c'f'
    elif code == 0x22 or code == 0x5C:
        out[1] = <uint8_t>code
    else:
        out[1] = c'u'
        out[2] = hexadecimal[code >> 12 & 15]
        out[3] = hexadecimal[code >> 8 & 15]
        out[4] = hexadecimal[code >> 4 & 15]
        out[5] = hexadecimal[code & 15]
        return out + 6
    return out + 2


cdef inline const uint8_t *scan_text(
    const uint8_t *p, const uint8_t *end, bint *canonical, Fault *fault
) noexcept nogil:
    """From behind the opening quote to the closing one; `canonical` turns False where rewriting is needed."""
    cdef uint32_t code = 0
    cdef int length
    while True:
        p = skip_text(p, end)
        if p[0] == c'"':
            return p
        if p[0] == c'\n' or p[0] == c'\r':
            return fail(fault, p, NO_QUOTE)
        if p[0] == c'\\':
            if short_escape(p[1]):
                length = 2
                if p[1] == c"'":
                    canonical[0] = False
            else:
                length = decode_escape(p, &code)
                if length == 0:
                    return fail(fault, p, BAD_ESCAPE)
                canonical[0] = False
        else:
            length = decode_utf8(p, &code)
            if length == 0:
                return fail(fault, p, BAD_UTF8)
            if is_escaped(code):
                canonical[0] = False
        p += length


cdef inline uint8_t *rewrite_text(uint8_t *out, const uint8_t *p, const uint8_t *close) noexcept nogil:
    """Appends what lies between p and the closing quote, already validated, in canonical form; at most six times as long."""
    cdef uint32_t code = 0
    while p < close:
        if p[0] != c'\\':
            p += decode_utf8(p, &code)
        elif short_escape(p[1]):
            code = short_escape(p[1])
            p += 2
        else:
            p += decode_escape(p, &code)
        out = write_escaped(out, code)
    return out


cdef inline const uint8_t *scan_language(const uint8_t *p, bint *canonical, Fault *fault) noexcept nogil:
    """From behind the '@' past the tag."""
    cdef const uint8_t *start = p
    while CLASS[p[0]] & ALPHA:
        canonical[0] &= p[0] >= c'a'
        p += 1
    if p == start:
        return fail(fault, p, BAD_LANGUAGE)
    while p[0] == c'-' and CLASS[p[1]] & (ALPHA | DIGIT):
        p += 1
        while CLASS[p[0]] & (ALPHA | DIGIT):
            canonical[0] &= not c'A' <= p[0] <= c'Z'
            p += 1
    if p[0] == c'-':
        return fail(fault, p, DIRECTION if p[1] == c'-' else BAD_LANGUAGE)
    if not is_language_tag(start, p - start):
        return fail(fault, start, BAD_LANGUAGE)
    return p


cdef inline bint equals(const Term *term, const char *text, int64_t length) noexcept nogil:
    return term.length == length and memcmp(term.bytes, text, length) == 0


cdef inline const uint8_t *scan_datatype(const uint8_t *p, const uint8_t *end, Term *term, Fault *fault) noexcept nogil:
    """From behind the '^^' past the IRI, which is left in `term`; its kind says whether it is that of plain strings."""
    cdef const uint8_t *start = skip_blanks(p)
    if start[0] != c'<':
        return fail(fault, start, NO_DATATYPE)
    if end - start > XSD_BYTES and memcmp(start, b'<http://www.w3.org/2001/XMLSchema#', XSD_BYTES) == 0:
        # Of most datatypes only letters are left to look at.
        p = start + XSD_BYTES
        while CLASS[p[0]] & ALPHA:
            p += 1
        if p[0] == c'>':
            term.bytes = start
            term.length = p + 1 - start
            term.kind = STRING if equals(term, b'<http://www.w3.org/2001/XMLSchema#string>', 41) else TYPED
            return p + 1
    p = scan_iri(start, end, term, fault)
    if p == NULL:
        return NULL
    if equals(term, b'<http://www.w3.org/1999/02/22-rdf-syntax-ns#langString>', 55) \
            or equals(term, b'<http://www.w3.org/1999/02/22-rdf-syntax-ns#dirLangString>', 58):
        return fail(fault, start, RESERVED_DATATYPE)
    term.kind = STRING if equals(term, b'<http://www.w3.org/2001/XMLSchema#string>', 41) else TYPED
    return p


cdef inline const uint8_t *scan_literal(const uint8_t *p, const uint8_t *end, Term *term, Fault *fault) noexcept nogil:
    cdef const uint8_t *start = p
    cdef const uint8_t *close
    cdef const uint8_t *mark
    cdef uint8_t *out
    cdef bint canonical = True
    cdef int64_t i
    close = scan_text(p + 1, end, &canonical, fault)
    if close == NULL:
        return NULL
    mark = close + 1
    if mark[0] == c' ' or mark[0] == c'\t':     # blanks may stand before '@' and '^^'
        mark = skip_blanks(mark)
        if mark[0] != c'@' and mark[0] != c'^':
            mark = close + 1
    term.kind = STRING
    term.length = 0
    p = close + 1
    if mark[0] == c'@':
        canonical &= mark == close + 1
        p = scan_language(mark + 1, &canonical, fault)
        term.kind = LANGUAGE
    elif mark[0] == c'^':
        if mark[1] != c'^':
            return fail(fault, mark, NO_DATATYPE)
        p = scan_datatype(mark + 2, end, term, fault)
        canonical &= mark == close + 1 and term.kind == TYPED and term.bytes == close + 3
    if p == NULL:
        return NULL
    if canonical:
        term.bytes = start
        term.length = p - start
        return p
    if not reserve(&term.text, (close - start) * 6 + (p - mark) + term.length + 16):
        return fail(fault, start, NO_MEMORY)
    out = term.text.data
    out[0] = c'"'
    out = rewrite_text(out + 1, start + 1, close)
    out[0] = c'"'
    out += 1
    if term.kind == LANGUAGE:
        out[0] = c'@'
        for i in range(1, p - mark):
            out[i] = mark[i] | 0x20 if CLASS[mark[i]] & ALPHA else mark[i]
        out += p - mark
    elif term.kind == TYPED:
        out[0] = c'^'
        out[1] = c'^'
        memcpy(out + 2, term.bytes, term.length)
        out += 2 + term.length
    term.bytes = term.text.data
    term.length = out - term.text.data
    return p


cdef inline const uint8_t *scan_term(const uint8_t *p, const uint8_t *end, Term *term, Fault *fault) noexcept nogil:
    """Any term; the caller says which kinds may stand at the place."""
    if p[0] == c'<':
        return scan_iri(p, end, term, fault)
    if p[0] == c'"':
        return scan_literal(p, end, term, fault)
    if p[0] == c'_':
        return scan_blank(p, term, fault)
    return fail(fault, p, NO_TERM)
