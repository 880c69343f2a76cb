"""One side of a join: its rows by class, and in every class chains of the rows whose keys are equal.

The columns two sides share are *certain* (bound in every row of both) or not. Rows in which the same uncertain columns are
bound form a class, named by its mask. Two rows of classes a and b match if they are equal in the certain columns and in
those bound in both, a & b: that is the *key* of the pair of classes. A class has chains for the key of all its bound columns
from the start, and for every other key by which it was asked: made when it is asked first, from then on kept.

    key's index: hash --> first row <-> row <-> row        link j of a row: next and previous of its chain for key j

A row is looked for in its chain, which is most often short: only rows behind the first NEAR_ROWS of it are in an index of
whole rows as well, and are *indexed*.

Invariants
- In every chain of a class's key j all rows are equal in the key's columns; every row of the class is in one chain of each
  key.
- The index of a key holds the first row of each chain; a new row goes behind it, so that the index is not touched.
- Key 0 of a class is that of all its bound columns. In its chains a row that is not indexed is one of the first NEAR_ROWS:
  a new row goes behind these, or to the end of a shorter chain.

Hints only fetch memory: what a row some places ahead will probably look at.
"""

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from millstream.kernels.containers.hash_index cimport (
    Index, Probe, index_bytes, index_close, index_drop, index_open, index_put, index_replace, is_far, prefetch,
    prefetch_slot, probe, probe_next, words_equal, words_hash,
)
from millstream.kernels.containers.keyed cimport (
    Keyed, keyed_at, keyed_bytes, keyed_close, keyed_find, keyed_open, keyed_widen,
)
from millstream.kernels.containers.memory cimport block_free, block_resize
from millstream.kernels.containers.records cimport record_free, record_new
from millstream.kernels.flow.change_rows cimport Written, read_row

cdef enum:
    NEXT_ROW = 0
    PREVIOUS_ROW = 1
    COUNT = 0                   # behind a row: how often it is there, whether it is indexed, and its links
    IS_INDEXED = 1
    LINKS = 2
    NEAR_ROWS = 4
    FAR = 16                    # rows ahead: fetch slots of the indexes; a power of two
    NEAR = 8                    # rows ahead: fetch the rows that these slots hold


cdef struct Key:
    uint64_t common             # the uncertain columns in it
    int* places                 # of its columns in a row
    int width
    Index index


cdef struct RowClass:
    uint64_t mask               # the uncertain columns bound in its rows
    Keyed rows                  # each different row once
    Key* keys
    int key_count


cdef struct Hint:
    int ours                    # class of the row, -1 if unknown
    int theirs                  # class of the other side in which the same is bound, -1 if unknown
    uint32_t hash               # of its key


cdef struct Side:
    int width
    int certain                 # shared columns that are certain: the first of them
    int shared
    bint once                   # whether equal rows count as one
    int* places                 # of the shared columns in its rows
    int64_t* row                # the row being taken
    int64_t* key                # its values for the key of all that is bound in it
    int64_t* other_key          # a row's values for any other key
    RowClass* classes
    int class_count
    bint looks_ahead
    Hint hints[FAR]             # by place, modulo FAR


cdef inline void side_open(Side* side, int width, int certain, int shared) noexcept nogil:
    memset(side, 0, sizeof(Side))
    side.width = width
    side.certain = certain
    side.shared = shared
    side.places = <int*>block_resize(NULL, 0, shared * sizeof(int))
    side.row = <int64_t*>block_resize(NULL, 0, width * sizeof(int64_t))
    side.key = <int64_t*>block_resize(NULL, 0, shared * sizeof(int64_t))
    side.other_key = <int64_t*>block_resize(NULL, 0, shared * sizeof(int64_t))


cdef inline void side_close(Side* side) noexcept nogil:
    cdef int i, j
    for i in range(side.class_count):
        for j in range(side.classes[i].key_count):
            index_close(&side.classes[i].keys[j].index)
            block_free(side.classes[i].keys[j].places, side.shared * sizeof(int))
        block_free(side.classes[i].keys, side.classes[i].key_count * sizeof(Key))
        keyed_close(&side.classes[i].rows)
    block_free(side.classes, side.class_count * sizeof(RowClass))
    block_free(side.places, side.shared * sizeof(int))
    block_free(side.row, side.width * sizeof(int64_t))
    block_free(side.key, side.shared * sizeof(int64_t))
    block_free(side.other_key, side.shared * sizeof(int64_t))
    memset(side, 0, sizeof(Side))


cdef inline int64_t side_size(Side* side) noexcept nogil:
    """Its different rows."""
    cdef int64_t size = 0
    cdef int i
    for i in range(side.class_count):
        size += side.classes[i].rows.records.live
    return size


cdef inline int64_t side_bytes(Side* side) noexcept nogil:
    cdef int64_t size = 0
    cdef int i, j
    for i in range(side.class_count):
        size += keyed_bytes(&side.classes[i].rows)
        for j in range(side.classes[i].key_count):
            size += index_bytes(&side.classes[i].keys[j].index)
    return size


# Keys

cdef inline uint64_t bound_columns(Side* side, int64_t* row) noexcept nogil:
    cdef uint64_t mask = 0
    cdef int i
    for i in range(side.certain, side.shared):
        if row[side.places[i]] >= 0:
            mask |= <uint64_t>1 << (i - side.certain)
    return mask


cdef inline bint in_key(Side* side, int i, uint64_t common) noexcept nogil:
    return i < side.certain or (common >> (i - side.certain)) & 1


cdef inline uint32_t read_key(int64_t* into, Side* side, int64_t* row, uint64_t common) noexcept nogil:
    """Reads a row's values for a key; gives their hash."""
    cdef int i, width = 0
    for i in range(side.shared):
        if in_key(side, i, common):
            into[width] = row[side.places[i]]
            width += 1
    return words_hash(into, width)


cdef inline int32_t chain_find(RowClass* rows, Key* key, const int64_t* wanted, uint32_t hash) noexcept nogil:
    """The first row of the chain with these values for a key, -1 without any."""
    cdef Probe found = probe(&key.index, hash)
    cdef int32_t number
    cdef int64_t* first
    cdef int i
    while True:
        number = probe_next(&key.index, &found)
        if number < 0:
            return -1
        first = keyed_at(&rows.rows, number)
        i = 0
        while i < key.width and first[key.places[i]] == wanted[i]:
            i += 1
        if i == key.width:
            return number


cdef inline int32_t* link_of(RowClass* rows, int32_t number, int key) noexcept nogil:
    return <int32_t*>(keyed_at(&rows.rows, number) + rows.rows.width + LINKS + key)


cdef inline void chain_after(RowClass* rows, int32_t number, int key, int32_t before, uint32_t hash) noexcept nogil:
    """Puts a row behind another of its chain, or makes a chain of it if that is -1."""
    cdef int32_t* link = link_of(rows, number, key)
    cdef int32_t* beside
    link[PREVIOUS_ROW] = before
    link[NEXT_ROW] = -1
    if before < 0:
        index_put(&rows.keys[key].index, hash, number)
        return
    beside = link_of(rows, before, key)
    link[NEXT_ROW] = beside[NEXT_ROW]
    if beside[NEXT_ROW] >= 0:
        link_of(rows, beside[NEXT_ROW], key)[PREVIOUS_ROW] = number
    beside[NEXT_ROW] = number


cdef inline void chain_enter(Side* side, RowClass* rows, int32_t number, int key) noexcept nogil:
    """Puts a row behind the first of its chain."""
    cdef uint32_t hash = read_key(side.other_key, side, keyed_at(&rows.rows, number), rows.keys[key].common)
    chain_after(rows, number, key, chain_find(rows, &rows.keys[key], side.other_key, hash), hash)


cdef inline void chain_leave(RowClass* rows, int32_t number, int key, uint32_t hash) noexcept nogil:
    cdef int32_t* link = link_of(rows, number, key)
    cdef Index* index = &rows.keys[key].index
    if link[NEXT_ROW] >= 0:
        link_of(rows, link[NEXT_ROW], key)[PREVIOUS_ROW] = link[PREVIOUS_ROW]
    if link[PREVIOUS_ROW] >= 0:
        link_of(rows, link[PREVIOUS_ROW], key)[NEXT_ROW] = link[NEXT_ROW]
        return
    if link[NEXT_ROW] >= 0:
        index_replace(index, hash, number, link[NEXT_ROW])
    else:
        index_drop(index, hash, number)


# Classes

cdef inline void chain_all(Side* side, RowClass* rows, int key, uint64_t* slots, uint64_t mask) noexcept nogil:
    """Puts the rows of the chains that a table of key 0 holds into chains for another key."""
    cdef uint64_t at
    cdef int32_t number
    for at in range(mask + 1):
        number = <int32_t>(<uint32_t>slots[at] - 1) if slots[at] != 0 else -1
        while number >= 0:
            chain_enter(side, rows, number, key)
            number = link_of(rows, number, 0)[NEXT_ROW]


cdef inline int class_key(Side* side, RowClass* rows, uint64_t common) noexcept nogil:
    """The class's key with these uncertain columns; its chains are made when it is new."""
    cdef int key = 0, i
    cdef Key* made
    while key < rows.key_count:
        if rows.keys[key].common == common:
            return key
        key += 1
    rows.keys = <Key*>block_resize(rows.keys, key * sizeof(Key), (key + 1) * sizeof(Key))
    rows.key_count += 1
    made = &rows.keys[key]
    made.common = common
    made.width = 0
    made.places = <int*>block_resize(NULL, 0, side.shared * sizeof(int))
    for i in range(side.shared):
        if in_key(side, i, common):
            made.places[made.width] = side.places[i]
            made.width += 1
    index_open(&made.index)
    keyed_widen(&rows.rows)
    if key:
        chain_all(side, rows, key, rows.keys[0].index.slots, rows.keys[0].index.mask)
        if rows.keys[0].index.old != NULL:
            chain_all(side, rows, key, rows.keys[0].index.old, rows.keys[0].index.old_mask)
    return key


cdef inline int find_class(Side* side, uint64_t mask) noexcept nogil:
    cdef int i
    for i in range(side.class_count):
        if side.classes[i].mask == mask:
            return i
    return -1


cdef inline RowClass* side_class(Side* side, uint64_t mask) noexcept nogil:
    cdef int known = find_class(side, mask)
    cdef RowClass* made
    if known >= 0:
        return &side.classes[known]
    side.classes = <RowClass*>block_resize(side.classes, side.class_count * sizeof(RowClass),
                                           (side.class_count + 1) * sizeof(RowClass))
    made = &side.classes[side.class_count]
    side.class_count += 1
    memset(made, 0, sizeof(RowClass))
    made.mask = mask
    keyed_open(&made.rows, side.width, LINKS)
    class_key(side, made, mask)
    return made


cdef inline void row_enter(Side* side, RowClass* rows, int32_t before, uint32_t hash, int64_t weight,
                           bint is_indexed) noexcept nogil:
    """Puts the row being taken in, which is not there, behind another of its first chain."""
    cdef int32_t number = record_new(&rows.rows.records, rows.rows.stride * sizeof(int64_t))
    cdef int64_t* row = keyed_at(&rows.rows, number)
    cdef int key
    memcpy(row, side.row, side.width * sizeof(int64_t))
    row[side.width + COUNT] = weight
    row[side.width + IS_INDEXED] = is_indexed
    chain_after(rows, number, 0, before, hash)
    if is_indexed:
        index_put(&rows.rows.index, words_hash(row, side.width), number)
    for key in range(1, rows.key_count):
        chain_enter(side, rows, number, key)


cdef inline void row_leave(Side* side, RowClass* rows, int32_t number, uint32_t hash) noexcept nogil:
    cdef int64_t* row = keyed_at(&rows.rows, number)
    cdef int key
    for key in range(1, rows.key_count):
        chain_leave(rows, number, key, read_key(side.other_key, side, row, rows.keys[key].common))
    chain_leave(rows, number, 0, hash)
    if row[side.width + IS_INDEXED]:
        index_drop(&rows.rows.index, words_hash(row, side.width), number)
    record_free(&rows.rows.records, rows.rows.stride * sizeof(int64_t), number)


cdef inline int64_t times(const Side* side, int64_t count) noexcept nogil:
    """How often a row is there for others that came so many times."""
    return count > 0 if side.once else count


cdef inline int64_t side_add(Side* side, uint64_t mask, uint32_t hash, int64_t weight) noexcept nogil:
    """Adds to the count of the row being taken, whose key is read and has this hash; a row that counts zero is gone.

    Gives how much more often it is there for others."""
    cdef RowClass* rows = side_class(side, mask)
    cdef int32_t number = chain_find(rows, &rows.keys[0], side.key, hash), before = -1
    cdef int64_t* count
    cdef int64_t was = 0
    cdef int walked = 0
    while number >= 0 and walked < NEAR_ROWS and not words_equal(keyed_at(&rows.rows, number), side.row, side.width):
        before = number
        number = link_of(rows, number, 0)[NEXT_ROW]
        walked += 1
    if number >= 0 and walked == NEAR_ROWS:
        number = keyed_find(&rows.rows, side.row, words_hash(side.row, side.width))
    if number < 0:
        row_enter(side, rows, before, hash, weight, walked == NEAR_ROWS)
    else:
        count = keyed_at(&rows.rows, number) + side.width + COUNT
        was = count[0]
        count[0] += weight
        if count[0] == 0:
            row_leave(side, rows, number, hash)
    return times(side, was + weight) - times(side, was)


cdef inline int64_t* only_row(Side* side, uint64_t mask, uint32_t hash) noexcept nogil:
    """The row whose key is that of the row being taken, which is read and has this hash; NULL if there are none or others,
    and where more than one index finds it."""
    cdef int known = find_class(side, mask)
    cdef RowClass* rows
    cdef int32_t number
    cdef int64_t* row
    if known < 0 or side.classes[known].key_count > 1:
        return NULL
    rows = &side.classes[known]
    number = chain_find(rows, &rows.keys[0], side.key, hash)
    if number < 0 or link_of(rows, number, 0)[NEXT_ROW] >= 0:
        return NULL
    row = keyed_at(&rows.rows, number)
    return NULL if row[side.width + IS_INDEXED] else row


# Hints

cdef inline void fetch_record(Index* index, Keyed* rows, uint32_t hash) noexcept nogil:
    """Fetches the row that stands where the hash leads to."""
    cdef uint64_t slot = index.slots[hash & index.mask]
    if slot != 0:
        prefetch(keyed_at(rows, <int32_t>(<uint32_t>slot - 1)))


cdef inline void look_far(Side* side, Side* other, const Written* given, int64_t place) noexcept nogil:
    cdef Hint* hint = &side.hints[place & (FAR - 1)]
    cdef uint64_t mask
    read_row(side.row, given, place)
    mask = bound_columns(side, side.row)
    hint.hash = read_key(side.key, side, side.row, mask)
    hint.ours = find_class(side, mask)
    hint.theirs = find_class(other, mask)
    if hint.ours >= 0:
        prefetch_slot(&side.classes[hint.ours].keys[0].index, hint.hash)
    if hint.theirs >= 0:
        prefetch_slot(&other.classes[hint.theirs].keys[0].index, hint.hash)


cdef inline void look_near(Side* side, Side* other, int64_t place) noexcept nogil:
    """For a place that was looked at when it was far."""
    cdef Hint* hint = &side.hints[place & (FAR - 1)]
    cdef RowClass* rows
    if hint.ours >= 0:
        rows = &side.classes[hint.ours]
        fetch_record(&rows.keys[0].index, &rows.rows, hint.hash)
    if hint.theirs >= 0:
        rows = &other.classes[hint.theirs]
        fetch_record(&rows.keys[0].index, &rows.rows, hint.hash)


cdef inline bint has_far_rows(Side* side) noexcept nogil:
    cdef int i
    for i in range(side.class_count):
        if is_far(&side.classes[i].keys[0].index):
            return True
    return False


cdef inline void look_ahead(Side* side, Side* other, const Written* given, int64_t place) noexcept nogil:
    """Before the row at this place is taken, places being taken in order."""
    if place == 0:
        side.looks_ahead = has_far_rows(side) or has_far_rows(other)
    if not side.looks_ahead:
        return
    if place + FAR < given.size:
        look_far(side, other, given, place + FAR)
    if place + NEAR >= FAR and place + NEAR < given.size:
        look_near(side, other, place + NEAR)
