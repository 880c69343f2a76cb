"""Language tags, RFC 5646, well-formed: as strict as pyoxigraph, stricter than the grammar of N-Triples."""

from libc.stdint cimport int64_t, uint8_t

from millstream.kernels.scanning.byte_classes cimport ALPHA, CLASS, DIGIT


cdef inline bint is_irregular_tag(const uint8_t *p, int64_t n) noexcept nogil:
    """The tags that RFC 5646 keeps although they break its grammar; in any case."""
    cdef const char *tags = (b'en-gb-oed i-ami i-bnn i-default i-enochian i-hak i-klingon i-lux i-mingo i-navajo '
                            b'i-pwn i-tao i-tay i-tsu sgn-be-fr sgn-be-nl sgn-ch-de ')
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
