"""A B+-tree of numbered entries in an order, with weights: rank and selection in logarithmic time.

    inner node: for each child its first entry, that entry's key, and the weight below it
    leaf:       for each entry its number, its key, its weight; leaves are linked both ways

The tree compares nothing: a caller descends by `keys` and, where these tie, by the entries themselves, and says where to
insert. `leaf_of` tells where an entry stands, so that it is removed without being searched. Nodes are records of one block.

Invariants
- items of a node are in order, and no node but an empty root is empty;
- a node's parent lists it with its first entry, that one's key and the sum of its sums;
- of two neighbours below one parent that are together at most MERGED full, neither is below SPARSE for long: the next
  removal there merges them.
"""

from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memcpy, memmove

from millstream.kernels.containers.memory cimport block_free, block_resize

cdef enum:
    FANOUT = 32
    SPARSE = 8
    MERGED = 24


cdef struct TreeNode:
    int32_t parent              # -1: the root; of a free node, the next free one
    int32_t before              # neighbouring leaves
    int32_t next
    int32_t count
    int32_t level               # 0: a leaf
    int32_t unused
    uint64_t keys[FANOUT]
    int64_t sums[FANOUT]
    int32_t entries[FANOUT]
    int32_t children[FANOUT]


cdef struct Tree:
    TreeNode* nodes
    int32_t used
    int32_t capacity
    int32_t free
    int32_t root
    int64_t total               # of all weights
    int32_t* leaf_of            # by entry
    int64_t entry_capacity


cdef struct Spot:
    # A place in a leaf, and for selection how much of the weight there lies before what was asked for.
    int32_t leaf
    int32_t place
    int64_t within


cdef inline int32_t node_new(Tree* tree, int32_t level) noexcept nogil:
    cdef int32_t number = tree.free, capacity
    if number >= 0:
        tree.free = tree.nodes[number].parent
    else:
        if tree.used == tree.capacity:
            capacity = tree.capacity + max(4, tree.capacity >> 1)
            tree.nodes = <TreeNode*>block_resize(
                tree.nodes, tree.capacity * sizeof(TreeNode), capacity * sizeof(TreeNode))
            tree.capacity = capacity
        number = tree.used
        tree.used += 1
    tree.nodes[number].parent = tree.nodes[number].before = tree.nodes[number].next = -1
    tree.nodes[number].count = 0
    tree.nodes[number].level = level
    return number


cdef inline void node_drop(Tree* tree, int32_t number) noexcept nogil:
    tree.nodes[number].parent = tree.free
    tree.free = number


cdef inline void tree_open(Tree* tree) noexcept nogil:
    tree.free = -1
    tree.root = node_new(tree, 0)


cdef inline void tree_close(Tree* tree) noexcept nogil:
    block_free(tree.nodes, tree.capacity * sizeof(TreeNode))
    block_free(tree.leaf_of, tree.entry_capacity * sizeof(int32_t))


cdef inline int64_t tree_bytes(Tree* tree) noexcept nogil:
    return tree.capacity * <int64_t>sizeof(TreeNode) + tree.entry_capacity * <int64_t>sizeof(int32_t)


cdef inline int32_t place_below(Tree* tree, int32_t number) noexcept nogil:
    """The place of a node in its parent."""
    cdef int32_t* children = tree.nodes[tree.nodes[number].parent].children
    cdef int32_t place = 0
    while children[place] != number:
        place += 1
    return place


cdef inline int32_t place_of(Tree* tree, int32_t entry) noexcept nogil:
    """The place of an entry in its leaf."""
    cdef int32_t* entries = tree.nodes[tree.leaf_of[entry]].entries
    cdef int32_t place = 0
    while entries[place] != entry:
        place += 1
    return place


cdef inline int64_t sum_before(TreeNode* node, int32_t place) noexcept nogil:
    cdef int64_t total = 0
    cdef int32_t i
    for i in range(place):
        total += node.sums[i]
    return total


# Keeping parents right


cdef inline void tell_parents(Tree* tree, int32_t number, int64_t weight) noexcept nogil:
    """After the items of a node changed: its weight by so much, or its first one."""
    cdef TreeNode* node
    cdef TreeNode* parent
    cdef int32_t place
    while tree.nodes[number].parent >= 0:
        node = tree.nodes + number
        parent = tree.nodes + node.parent
        place = place_below(tree, number)
        parent.sums[place] += weight
        if node.count:
            parent.keys[place] = node.keys[0]
            parent.entries[place] = node.entries[0]
        number = node.parent


cdef inline void items_open(TreeNode* node, int32_t place) noexcept nogil:
    """Makes room for one item."""
    cdef int32_t moved = node.count - place
    memmove(node.keys + place + 1, node.keys + place, moved * sizeof(uint64_t))
    memmove(node.sums + place + 1, node.sums + place, moved * sizeof(int64_t))
    memmove(node.entries + place + 1, node.entries + place, moved * sizeof(int32_t))
    if node.level:
        memmove(node.children + place + 1, node.children + place, moved * sizeof(int32_t))
    node.count += 1


cdef inline void items_close(TreeNode* node, int32_t place) noexcept nogil:
    """Takes one item out."""
    cdef int32_t moved = node.count - place - 1
    memmove(node.keys + place, node.keys + place + 1, moved * sizeof(uint64_t))
    memmove(node.sums + place, node.sums + place + 1, moved * sizeof(int64_t))
    memmove(node.entries + place, node.entries + place + 1, moved * sizeof(int32_t))
    if node.level:
        memmove(node.children + place, node.children + place + 1, moved * sizeof(int32_t))
    node.count -= 1


cdef inline void items_move(Tree* tree, int32_t source, int32_t first, int32_t target) noexcept nogil:
    """Moves the items from `first` on to the end of another node."""
    cdef TreeNode* a = tree.nodes + source
    cdef TreeNode* b = tree.nodes + target
    cdef int32_t moved = a.count - first, i
    memcpy(b.keys + b.count, a.keys + first, moved * sizeof(uint64_t))
    memcpy(b.sums + b.count, a.sums + first, moved * sizeof(int64_t))
    memcpy(b.entries + b.count, a.entries + first, moved * sizeof(int32_t))
    if a.level:
        memcpy(b.children + b.count, a.children + first, moved * sizeof(int32_t))
        for i in range(first, a.count):
            tree.nodes[a.children[i]].parent = target
    else:
        for i in range(first, a.count):
            tree.leaf_of[a.entries[i]] = target
    a.count = first
    b.count += moved


# Inserting


cdef inline void root_grow(Tree* tree) noexcept nogil:
    cdef int32_t child = tree.root
    cdef int32_t number = node_new(tree, tree.nodes[child].level + 1)
    cdef TreeNode* root = tree.nodes + number
    root.count = 1
    root.children[0] = child
    root.sums[0] = tree.total
    root.keys[0] = tree.nodes[child].keys[0]
    root.entries[0] = tree.nodes[child].entries[0]
    tree.nodes[child].parent = number
    tree.root = number


cdef inline void split(Tree* tree, int32_t number, int32_t kept) noexcept nogil:
    """Moves the items from `kept` on to a new node beside it; the parent has room."""
    cdef int32_t other = node_new(tree, tree.nodes[number].level)
    cdef TreeNode* node = tree.nodes + number
    cdef TreeNode* more = tree.nodes + other
    cdef TreeNode* parent = tree.nodes + node.parent
    cdef int32_t place = place_below(tree, number)
    items_move(tree, number, kept, other)
    more.parent = node.parent
    if node.level == 0:
        more.before = number
        more.next = node.next
        node.next = other
        if more.next >= 0:
            tree.nodes[more.next].before = other
    items_open(parent, place + 1)
    parent.children[place + 1] = other
    parent.keys[place + 1] = more.keys[0]
    parent.entries[place + 1] = more.entries[0]
    parent.sums[place + 1] = sum_before(more, more.count)
    parent.sums[place] -= parent.sums[place + 1]


cdef inline void make_room(Tree* tree, int32_t number) noexcept nogil:
    """Splits a full node and whatever is full above it, from the top."""
    cdef int32_t at, top
    while tree.nodes[number].count == FANOUT:
        top = at = number
        while at >= 0 and tree.nodes[at].count == FANOUT:
            top = at
            at = tree.nodes[at].parent
        if at < 0:
            root_grow(tree)
        split(tree, top, FANOUT // 2)


cdef inline void tree_insert(Tree* tree, int32_t leaf, int32_t place, uint64_t key, int32_t entry,
                             int64_t weight) noexcept nogil:
    """Puts an entry before the one at this place, which the caller found; places count from 0 to the leaf's count."""
    cdef TreeNode* node
    cdef int64_t capacity
    if entry >= tree.entry_capacity:
        capacity = max(64, max(<int64_t>entry + 1, tree.entry_capacity + (tree.entry_capacity >> 1)))
        tree.leaf_of = <int32_t*>block_resize(
            tree.leaf_of, tree.entry_capacity * sizeof(int32_t), capacity * sizeof(int32_t))
        tree.entry_capacity = capacity
    if tree.nodes[leaf].count == FANOUT:
        make_room(tree, leaf)
        if place > tree.nodes[leaf].count:
            place -= tree.nodes[leaf].count
            leaf = tree.nodes[leaf].next
    node = tree.nodes + leaf
    items_open(node, place)
    node.keys[place] = key
    node.entries[place] = entry
    node.sums[place] = weight
    tree.leaf_of[entry] = leaf
    tree.total += weight
    tell_parents(tree, leaf, weight)


# Removing


cdef inline void node_unlink(Tree* tree, int32_t number) noexcept nogil:
    """Takes a node without items out of its parent and from between its neighbours."""
    cdef TreeNode* node = tree.nodes + number
    items_close(tree.nodes + node.parent, place_below(tree, number))
    if node.level == 0:
        if node.before >= 0:
            tree.nodes[node.before].next = node.next
        if node.next >= 0:
            tree.nodes[node.next].before = node.before
    node_drop(tree, number)


cdef inline bint merge_next(Tree* tree, int32_t parent, int32_t place) noexcept nogil:
    """Merges the child at a place with the next one if both are small enough."""
    cdef TreeNode* above = tree.nodes + parent
    cdef int32_t left, right
    if place < 0 or place + 1 >= above.count:
        return False
    left = above.children[place]
    right = above.children[place + 1]
    if tree.nodes[left].count + tree.nodes[right].count > MERGED:
        return False
    items_move(tree, right, 0, left)
    above.sums[place] += above.sums[place + 1]
    node_unlink(tree, right)
    return True


cdef inline void shrink(Tree* tree, int32_t number) noexcept nogil:
    """After an item has left a node."""
    cdef int32_t parent, place
    while True:
        parent = tree.nodes[number].parent
        if parent < 0:
            break
        if tree.nodes[number].count == 0:
            node_unlink(tree, number)
            tell_parents(tree, parent, 0)
        elif tree.nodes[number].count < SPARSE:
            place = place_below(tree, number)
            if not merge_next(tree, parent, place) and not merge_next(tree, parent, place - 1):
                break
        else:
            break
        number = parent
    while tree.nodes[tree.root].level and tree.nodes[tree.root].count == 1:
        number = tree.root
        tree.root = tree.nodes[number].children[0]
        tree.nodes[tree.root].parent = -1
        node_drop(tree, number)


cdef inline void tree_remove(Tree* tree, int32_t entry) noexcept nogil:
    cdef int32_t leaf = tree.leaf_of[entry], place = place_of(tree, entry)
    cdef int64_t weight = tree.nodes[leaf].sums[place]
    items_close(tree.nodes + leaf, place)
    tree.leaf_of[entry] = -1
    tree.total -= weight
    tell_parents(tree, leaf, -weight)
    shrink(tree, leaf)


cdef inline void tree_reweigh(Tree* tree, int32_t entry, int64_t weight) noexcept nogil:
    """Adds to the weight of an entry."""
    cdef int32_t leaf = tree.leaf_of[entry]
    tree.nodes[leaf].sums[place_of(tree, entry)] += weight
    tree.total += weight
    tell_parents(tree, leaf, weight)


# Looking


cdef inline int64_t tree_rank(Tree* tree, int32_t leaf, int32_t place) noexcept nogil:
    """The weight before a place."""
    cdef int64_t rank = sum_before(tree.nodes + leaf, place)
    while tree.nodes[leaf].parent >= 0:
        place = place_below(tree, leaf)
        leaf = tree.nodes[leaf].parent
        rank += sum_before(tree.nodes + leaf, place)
    return rank


cdef inline int32_t tree_last(Tree* tree) noexcept nogil:
    """The last entry; there is one."""
    cdef TreeNode* node = tree.nodes + tree.root
    while node.level:
        node = tree.nodes + node.children[node.count - 1]
    return node.entries[node.count - 1]


cdef inline Spot tree_select(Tree* tree, int64_t rank) noexcept nogil:
    """The entry with this rank, 0 <= rank < total."""
    cdef Spot spot
    cdef TreeNode* node
    cdef int32_t number = tree.root, place
    while True:
        node = tree.nodes + number
        place = 0
        while rank >= node.sums[place]:
            rank -= node.sums[place]
            place += 1
        if node.level == 0:
            break
        number = node.children[place]
    spot.leaf = number
    spot.place = place
    spot.within = rank
    return spot


cdef inline bint tree_step(Tree* tree, Spot* spot) noexcept nogil:
    """Goes to the next entry; False at the end."""
    spot.within = 0
    spot.place += 1
    if spot.place < tree.nodes[spot.leaf].count:
        return True
    spot.leaf = tree.nodes[spot.leaf].next
    spot.place = 0
    return spot.leaf >= 0
