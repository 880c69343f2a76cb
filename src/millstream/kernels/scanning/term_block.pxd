"""Terms of a text that are given their ids together, a block at a time.

Each term is somewhere else in memory, so the places of a whole block are asked for before the first is looked at. Until then
a term has a *reference*, which is less than -1; -1 is what has neither. References are good for one block.
"""

from libc.stdint cimport int64_t, uint8_t, uint32_t

from millstream.kernels.dictionary.dictionary cimport Dictionary

cdef enum:
    TERMS = 48            # a block is full with at least so many
    MORE_TERMS = 4        # that a statement may bring


cdef struct Waiting:
    const uint8_t *bytes  # canonical, in the text being read
    int64_t length
    int64_t term_id
    uint32_t hash
    int kind


cdef struct TermBlock:
    Waiting terms[TERMS + MORE_TERMS]
    int count
    int64_t number        # of the block
    int64_t first_row     # whose terms may be references


cdef inline int64_t wait_for_id(TermBlock *block, Dictionary dictionary, const uint8_t *bytes, int64_t length,
                                int kind) noexcept nogil:
    """A reference to a term that is not inlined; the block is not full."""
    cdef Waiting *term = &block.terms[block.count]
    term.bytes = bytes
    term.length = length
    term.kind = kind
    term.hash = dictionary.hash_of(bytes, length)
    dictionary.ask_for_entry(term.hash)
    block.count += 1
    return -1 - block.count


cdef inline int64_t id_of(TermBlock *block, int64_t reference) noexcept nogil:
    """What a reference stands for, once all have their ids; an id is itself."""
    return block.terms[-2 - reference].term_id if reference < -1 else reference


cdef inline bint give_ids(TermBlock *block, Dictionary dictionary) noexcept nogil:
    """False without memory."""
    cdef int64_t numbers[TERMS + MORE_TERMS]
    cdef Waiting *term
    cdef int i
    for i in range(block.count):
        numbers[i] = dictionary.ask_for_slot(block.terms[i].hash)
    for i in range(block.count):
        dictionary.ask_for_bytes(numbers[i])
    for i in range(block.count):
        term = &block.terms[i]
        term.term_id = dictionary.intern_hashed(term.bytes, term.length, term.kind, term.hash, numbers[i])
        if term.term_id < 0:
            return False
    return True


cdef inline void begin_block(TermBlock *block, int64_t first_row) noexcept nogil:
    block.count = 0
    block.number += 1
    block.first_row = first_row
