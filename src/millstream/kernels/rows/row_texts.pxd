"""Texts in row programs: functions of strings, on bytes where they lie.

A text is UTF-8 without escapes, and a language tag, empty for a string without language. It lies in the dictionary, which
moves nothing and forgets nothing while a row is run, or in an arena of the program that is emptied for every row. Functions
give True if they could tell, which includes errors; False leaves it to the definition: escapes by number, letters beyond
ASCII where case matters, and what would not fit the arena.
"""

from libc.stdint cimport int64_t, uint8_t
from libc.stdlib cimport malloc
from libc.string cimport memchr, memcmp, memcpy

from millstream.kernels.dictionary.dictionary cimport Dictionary
from millstream.kernels.dictionary.store cimport Slot
from millstream.kernels.dictionary.values cimport (
    BLANK, INLINED_BYTES, IRI, LANGUAGE, STRING, TYPED, kind_of, write_inlined,
)
from millstream.kernels.numbers.exact cimport Number
from millstream.kernels.rows.row_cells cimport ERROR, ID, NUMBER, REAL, TEXT, TRUTH, Cell, holds, put_truth, read_number
from millstream.kernels.rows.row_operations cimport (
    CONCAT, CONTAINS, EQUAL, LANG, STR, STRBEFORE, STRENDS, STRLEN, STRSTARTS, UCASE, UNEQUAL,
)

cdef extern from * nogil:
    """
    #ifndef _GNU_SOURCE
    void *memmem(const void *, size_t, const void *, size_t);
    #endif
    """
    void* memmem(const void* text, size_t size, const void* part, size_t part_size)

cdef enum:
    ARENA_BYTES = 1 << 16
    FAR = 1 << 30

cdef struct Arena:
    uint8_t* bytes
    int64_t used
    int64_t room
    int64_t most                # bytes of a text that is made


cdef inline uint8_t* arena_take(Arena* arena, int64_t bytes) noexcept nogil:
    """Room for some bytes, NULL without. Most programs never ask."""
    if arena.bytes == NULL:
        arena.bytes = <uint8_t*>malloc(ARENA_BYTES)
        arena.room = 0 if arena.bytes == NULL else ARENA_BYTES
    if bytes > arena.room - arena.used:
        return NULL
    arena.used += bytes
    return arena.bytes + arena.used - bytes


cdef inline void put_text(Cell* cell, const uint8_t* text, int64_t length) noexcept nogil:
    """A text without language."""
    cell.what = TEXT
    cell.text = text
    cell.length = length
    cell.tag_length = 0


cdef inline bint unescape(Arena* arena, Cell* cell) noexcept nogil:
    """Has the text of a cell without escapes."""
    cdef const uint8_t* text = cell.text
    cdef uint8_t* into
    cdef int64_t i = 0, size = 0
    if memchr(text, c'\\', cell.length) == NULL:
        return True
    into = arena_take(arena, cell.length)
    if into == NULL:
        return False
    while i < cell.length:
        into[size] = text[i]
        if text[i] == c'\\':
            i += 1
            if text[i] == c'n':
                into[size] = c'\n'
            elif text[i] == c'r':
                into[size] = c'\r'
            elif text[i] == c't':
                into[size] = c'\t'
            elif text[i] == c'"' or text[i] == c'\\':
                into[size] = text[i]
            else:
                return False
        i += 1
        size += 1
    cell.text = into
    cell.length = size
    return True


cdef inline bint is_string(const Cell* cell) noexcept nogil:
    """With or without language."""
    return cell.what == TEXT or (cell.what == ID and (kind_of(cell.id) == STRING or kind_of(cell.id) == LANGUAGE))


cdef inline bint read_slot(Dictionary dictionary, Arena* arena, Cell* cell) except -1:
    """Makes the text, and tag, of a cell that is the id of a term in the dictionary and no blank node."""
    cdef Slot* slot = dictionary.slot_of(cell.id)
    cdef int64_t close
    if slot == NULL:
        dictionary.check_live(cell.id)
    close = <int64_t>slot.length - 1
    while kind_of(cell.id) > STRING and slot.bytes[close] != c'"':
        close -= 1
    put_text(cell, slot.bytes + 1, close - 1)
    if kind_of(cell.id) == LANGUAGE:
        cell.tag = slot.bytes + close + 2
        cell.tag_length = <int64_t>slot.length - close - 2
    return unescape(arena, cell) if kind_of(cell.id) != IRI else True


cdef inline bint read_string(Dictionary dictionary, Arena* arena, Cell* cell) except -1:
    """Makes a text of a string, with or without language, and an error of all else."""
    if not is_string(cell):
        cell.what = ERROR
    return True if cell.what != ID else read_slot(dictionary, arena, cell)


cdef inline bint spell(Dictionary dictionary, Arena* arena, Cell* cell) except -1:
    """STR."""
    cdef uint8_t* into
    cdef int64_t size
    if cell.what == NUMBER or cell.what == REAL:
        return False
    if cell.what == TRUTH:
        if cell.truth:
            put_text(cell, <const uint8_t*>b"true", 4)
        else:
            put_text(cell, <const uint8_t*>b"false", 5)
    elif cell.what == ID and (cell.id < 0 or kind_of(cell.id) == BLANK):
        cell.what = ERROR
    elif cell.what == ID and kind_of(cell.id) > TYPED:
        into = arena_take(arena, INLINED_BYTES)
        if into == NULL:
            return False
        size = write_inlined(into, cell.id) - 1
        while into[size] != c'"':
            size -= 1
        put_text(cell, into + 1, size - 1)
    elif cell.what == ID and not read_slot(dictionary, arena, cell):
        return False
    cell.tag_length = 0
    return True


cdef inline bint read_language(Dictionary dictionary, Arena* arena, Cell* cell) except -1:
    """LANG."""
    if cell.what == ID and kind_of(cell.id) <= BLANK:
        cell.what = ERROR
    elif cell.what == ID and kind_of(cell.id) == LANGUAGE:
        # The text may have an escape that is not read; nobody asks for it.
        read_slot(dictionary, arena, cell)
        put_text(cell, cell.tag, cell.tag_length)
    elif cell.what == TEXT:
        put_text(cell, cell.tag, cell.tag_length)
    elif cell.what != ERROR:
        put_text(cell, <const uint8_t*>b"", 0)
    return True


cdef inline int64_t characters(const uint8_t* text, int64_t length) noexcept nogil:
    cdef int64_t i, count = 0
    for i in range(length):
        count += (text[i] & 0xC0) != 0x80
    return count


cdef inline void measure(Cell* cell) noexcept nogil:
    """STRLEN."""
    if cell.what == TEXT:
        cell.what = NUMBER
        cell.number.mantissa = characters(cell.text, cell.length)
        cell.number.scale = 0
        cell.number.decimal = False


cdef inline bint fold_case(int operation, Arena* arena, Cell* cell) noexcept nogil:
    """LCASE and UCASE."""
    cdef uint8_t* into
    cdef int64_t i
    cdef uint8_t first = c'a' if operation == UCASE else c'A'
    if cell.what != TEXT:
        return True
    into = arena_take(arena, cell.length)
    if into == NULL or cell.length > arena.most:
        return False
    for i in range(cell.length):
        if cell.text[i] & 0x80:
            return False
        into[i] = cell.text[i] ^ (0x20 if first <= cell.text[i] < first + 26 else 0)
    cell.text = into
    return True


cdef inline bint same_tag(const Cell* a, const Cell* b) noexcept nogil:
    return a.tag_length == b.tag_length and memcmp(a.tag, b.tag, a.tag_length if a.tag_length else 0) == 0


cdef inline bint concatenate(Arena* arena, Cell* a, const Cell* b) noexcept nogil:
    """CONCAT of two; a language stays if both have it."""
    cdef uint8_t* into
    if a.what != TEXT or b.what != TEXT:
        a.what = ERROR
        return True
    into = arena_take(arena, a.length + b.length)
    if into == NULL or a.length + b.length > arena.most:
        return False
    memcpy(into, a.text, a.length)
    memcpy(into + a.length, b.text, b.length)
    if not same_tag(a, b):
        a.tag_length = 0
    a.text = into
    a.length += b.length
    return True


cdef inline void search(int operation, Cell* a, const Cell* b) noexcept nogil:
    """CONTAINS, STRSTARTS, STRENDS, STRBEFORE and STRAFTER; the second operand has no language or the first one's."""
    cdef const uint8_t* found
    cdef int64_t at
    if a.what != TEXT or b.what != TEXT or (b.tag_length and not same_tag(a, b)):
        a.what = ERROR
    elif operation == STRSTARTS or operation == STRENDS:
        at = 0 if operation == STRSTARTS else a.length - b.length
        put_truth(a, b.length <= a.length and memcmp(a.text + at, b.text, b.length) == 0)
    else:
        found = a.text if b.length == 0 else <const uint8_t*>memmem(a.text, a.length, b.text, b.length)
        if operation == CONTAINS:
            put_truth(a, found != NULL)
        elif found == NULL:
            put_text(a, a.text, 0)
        elif operation == STRBEFORE:
            a.length = found - a.text
        else:
            a.length -= found - a.text + b.length
            a.text = found + b.length


cdef inline int64_t clamped(const Number* number) noexcept nogil:
    """A whole number, or one that is as far beyond any text."""
    if number.mantissa > FAR:
        return FAR
    return -FAR if number.mantissa < -FAR else <int64_t>number.mantissa


cdef inline bint cut(Cell* a, const Cell* start, const Cell* count) noexcept nogil:
    """SUBSTR; characters count from 1, and what lies outside of the text is left out. Without a count it is NULL."""
    cdef int64_t size, first, last, i = 0, at = 0, begin
    if a.what != TEXT or start.what == ERROR or (count != NULL and count.what == ERROR):
        a.what = ERROR
        return True
    if start.what != NUMBER or (count != NULL and count.what != NUMBER):
        return False
    if start.number.decimal or (count != NULL and count.number.decimal):
        a.what = ERROR
        return True
    size = characters(a.text, a.length)
    first = clamped(&start.number) - 1
    last = size
    if count != NULL:
        last = min(first + clamped(&count.number), size)
    first = max(first, 0)
    while at < a.length and i < first:
        at += 1
        i += at == a.length or (a.text[at] & 0xC0) != 0x80
    begin = at
    while at < a.length and i < last:
        at += 1
        i += at == a.length or (a.text[at] & 0xC0) != 0x80
    a.text += begin
    a.length = at - begin
    return True


cdef inline bint apply_to_text(int operation, Dictionary dictionary, Arena* arena, Cell* cell) except -1:
    """STR, LANG, STRLEN, LCASE and UCASE."""
    if operation == STR:
        return spell(dictionary, arena, cell)
    if operation == LANG:
        return read_language(dictionary, arena, cell)
    if not read_string(dictionary, arena, cell):
        return False
    if operation == STRLEN:
        measure(cell)
        return True
    return fold_case(operation, arena, cell)


cdef inline bint connect_texts(int operation, Dictionary dictionary, Arena* arena, Cell* a, Cell* b) except -1:
    """CONCAT of two, and what looks for one text in another."""
    if not read_string(dictionary, arena, a) or not read_string(dictionary, arena, b):
        return False
    if operation == CONCAT:
        return concatenate(arena, a, b)
    search(operation, a, b)
    return True


cdef inline bint take_substring(Dictionary dictionary, Arena* arena, Cell* text, bint has_count) except -1:
    """SUBSTR of a text and one or two numbers behind it."""
    if not read_string(dictionary, arena, text) or not read_number(text + 1):
        return False
    if has_count and not read_number(text + 2):
        return False
    return cut(text, text + 1, text + 2 if has_count else NULL)


cdef inline void compare_texts(int operation, Cell* a, const Cell* b) noexcept nogil:
    """Bytes of UTF-8 are in the order of their characters."""
    cdef int order
    if not same_tag(a, b):
        if operation == EQUAL or operation == UNEQUAL:
            put_truth(a, operation == UNEQUAL)
        else:
            a.what = ERROR
        return
    order = memcmp(a.text, b.text, min(a.length, b.length))
    if order == 0:
        order = (a.length > b.length) - (a.length < b.length)
    put_truth(a, holds(operation, order))


cdef inline int64_t text_id(Dictionary dictionary, Arena* arena, const Cell* cell) except -2:
    """The id of a text; -1 if it has to be escaped, or does not fit."""
    cdef int64_t i, term_id, size = cell.length + 2
    cdef uint8_t* into = arena_take(arena, size + cell.tag_length + 1)
    if into == NULL:
        return -1
    for i in range(cell.length):
        # U+FFFE and U+FFFF begin with EF BF as well.
        if cell.text[i] < 0x20 or cell.text[i] == c'"' or cell.text[i] == c'\\' or cell.text[i] == 0x7F or (
                cell.text[i] == 0xEF and cell.text[i + 1] == 0xBF):
            return -1
    into[0] = into[size - 1] = c'"'
    memcpy(into + 1, cell.text, cell.length)
    if cell.tag_length:
        into[size] = c'@'
        memcpy(into + size + 1, cell.tag, cell.tag_length)
        size += 1 + cell.tag_length
    term_id = dictionary.intern(into, size, LANGUAGE if cell.tag_length else STRING)
    if term_id < 0:
        raise MemoryError
    return term_id
