"""Terms of N-Triples and N-Quads: validates the bytes at a place and gives them in canonical form.

Canonical is what pyoxigraph writes: no \\u escape but for control characters, U+007F, U+FFFE and U+FFFF; language tags in lower
case; no xsd:string. A term that is canonical already, the usual case, is not copied: `Term.bytes` points into the input.
Each `scan_*` returns the place after the term, or NULL with the place and reason in `fault`. See `scanner_bytes` for the
invariant that keeps all of them inside their input.
"""

from libc.stdint cimport int64_t, uint8_t, uint32_t
from libc.stdlib cimport free
from libc.string cimport memcmp, memcpy, memchr

from millstream.kernels.dictionary_values cimport BLANK, IRI, LANGUAGE, STRING, TYPED
from millstream.kernels.scanner_bytes cimport (
    ALPHA, Buffer, CLASS, DIGIT, HEX, HOST, LABEL, PATH, decode_escape, decode_utf8, encode_utf8, is_ipv6, is_iprivate,
    is_label_part, is_label_start, is_ucschar, reserve, skip_path, skip_text,
)

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


# IRIs, RFC 3987. The first function takes the usual ones at a glance; what it leaves, the others decide.

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
        return NO_SCHEME
    while i < n and (CLASS[p[i]] & (ALPHA | DIGIT) or p[i] == c'+' or p[i] == c'-' or p[i] == c'.'):
        i += 1
    if i == n or p[i] != c':':
        return NO_SCHEME
    i += 1
    if i + 1 < n and p[i] == c'/' and p[i + 1] == c'/':
        i += 2
        k = skip_part(p, i, n, HOST, 1)
        if k < n and p[k] == c'@':
            i = k + 1
        elif k < n and p[k] != c'/' and p[k] != c'?' and p[k] != c'#' and p[k] != c'[':
            return BAD_IRI
        if i < n and p[i] == c'[':
            i = skip_ip_literal(p, i, n)
            if i < 0:
                return BAD_IRI
        else:
            i = skip_part(p, i, n, HOST, 0)
        if i < n and p[i] == c':':
            i += 1
            while i < n and CLASS[p[i]] & DIGIT:
                i += 1
        if i < n and p[i] != c'/' and p[i] != c'?' and p[i] != c'#':
            return BAD_IRI
    while i < n and p[i] != c'?' and p[i] != c'#':
        k = skip_part(p, i, n, PATH, 0)
        # PATH holds '?', after which private characters are allowed: back to it before going on.
        if k < n and p[k] >= 0x80 and memchr(p + i, c'?', k - i) != NULL:
            i = <const uint8_t *>memchr(p + i, c'?', k - i) - p
        elif k < n and p[k] != c'#':
            return BAD_IRI
        else:
            i = k
    if i < n and p[i] == c'?':
        i = skip_part(p, i, n, PATH, 2)
    if i < n and p[i] == c'#':
        i = skip_part(p, i + 1, n, PATH, 0)
    return 0 if i == n else BAD_IRI


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
        return fail(fault, start, reason)
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


cdef inline bint is_irregular_tag(const uint8_t *p, int64_t n) noexcept nogil:
    """The tags that RFC 5646 keeps although they break its grammar; in any case."""
    cdef const char *tags = b'en-gb-oed i-ami i-bnn i-default i-enochian i-hak i-klingon i-lux i-mingo i-navajo i-pwn i-tao i-tay i-tsu sgn-be-fr sgn-be-nl sgn-ch-de '
    cdef int64_t i = 0, k
    while tags[i]:
        k = 0
        while tags[i + k] != c' ' and k < n and <uint8_t>tags[i + k] == (p[k] | 0x20 if p[k] != c'-' else p[k]):
            k += 1
        if k == n and tags[i + k] == c' ':
            return True
        while tags[i] != c' ':
            i += 1
        i += 1
    return False


cdef inline bint is_language_tag(const uint8_t *p, int64_t n) noexcept nogil:
    """RFC 5646, well-formed. `n` bytes of letters, digits and single '-' between them, the first part letters only."""
    # stages: 0 language, 1 short language seen (extlang may follow), 2 no extlang any more, 3 script seen, 4 region or
    # variant seen, 5 extension needs a part, 6 in extension, 7 private use needs a part, 8 in private use
    cdef int stage = 0, extlangs = 0, letters, digits
    cdef int64_t i = 0, k, length
    if 2 <= n <= 3 and p[1] != c'-':
        return True
    if n >= 2 and (p[0] | 0x20) == c'x' and p[1] == c'-':
        stage = 7
        i = 2
    while i < n:
        k = i
        letters = digits = 0
        while k < n and p[k] != c'-':
            letters += CLASS[p[k]] & ALPHA != 0
            digits += CLASS[p[k]] & DIGIT != 0
            k += 1
        length = k - i
        if length > 8:
            break
        if stage == 0:
            if length < 2:
                break
            stage = 1 if length < 4 else 2
        elif stage >= 7:
            stage = 8
        elif length == 1:
            if stage == 5:
                break
            stage = 7 if (p[i] | 0x20) == c'x' else 5
        elif stage >= 5:
            stage = 6
        elif stage == 1 and length == 3 and letters == 3:
            extlangs += 1
            if extlangs > 3:
                break
        elif stage <= 2 and length == 4 and letters == 4:
            stage = 3
        elif stage <= 3 and ((length == 2 and letters == 2) or (length == 3 and digits == 3)):
            stage = 4
        elif (length >= 5 and CLASS[p[i]] & ALPHA) or (length >= 4 and CLASS[p[i]] & DIGIT):
            stage = 4
        else:
            break
        i = k + 1
    if i > n and stage != 5 and stage != 7:
        return True
    return is_irregular_tag(p, n)


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
