"""Multisets of terms in order, with the term at any place: one treap a multiset, all in one pool of nodes.

A node is a distinct term with its count; `size` sums the counts below it, so that the k-th term is found by descending once.
Priorities come from a generator of fixed seed, a parent's is never below its child's: depth is logarithmic whatever the
order of arrival, and the shape decides nothing that is visible.

The order is that of values, ties broken by that of terms, or that of terms alone; so different terms never tie. Two numbers
inside ids are compared here, exactly, as `term_order` would; every other pair there.
"""

import cython
import numpy as np

cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcmp

from millstream.kernels.containers.growing cimport growing_close, growing_room
from millstream.kernels.containers.hash_index cimport mix
from millstream.kernels.containers.memory cimport block_free
from millstream.kernels.containers.records cimport record_free, record_new
from millstream.kernels.dictionary.values cimport (
    INTEGER, INLINED_BYTES, MAX_SCALE, compare_scaled, float_of, is_number, kind_of, mantissa_of, scale_of, write_number,
)
from millstream.kernels.order.term_order cimport TermOrder

cnp.import_array()


cdef inline int order_by_datatype(int64_t a, int64_t b) noexcept nogil:
    """Of the same lexical form a decimal comes before an integer."""
    return (kind_of(a) == INTEGER) - (kind_of(b) == INTEGER)


cdef int order_by_value(int64_t a, int64_t b) noexcept nogil:
    """Of equal values, the one with fewer digits is the beginning of the other."""
    cdef int a_scale = scale_of(a), b_scale = scale_of(b), found
    cdef int64_t x = mantissa_of(a), y = mantissa_of(b)
    if a_scale != b_scale:
        found = compare_scaled(x, a_scale, y, b_scale)
        return found if found else (1 if a_scale > b_scale else -1)
    if x != y:
        return 1 if x > y else -1
    return order_by_datatype(a, b)


cdef int order_by_term(int64_t a, int64_t b) noexcept nogil:
    cdef double x = float_of(a), y = float_of(b)
    cdef uint8_t left[INLINED_BYTES]
    cdef uint8_t right[INLINED_BYTES]
    cdef int64_t left_length, right_length
    cdef int found
    if x != y:
        return 1 if x > y else -1
    left_length = write_number(left, a) - left
    right_length = write_number(right, b) - right
    found = memcmp(left, right, min(left_length, right_length))
    if found:
        return 1 if found > 0 else -1
    if left_length != right_length:
        return 1 if left_length > right_length else -1
    return order_by_datatype(a, b)


@cython.final
cdef class OrderedTerms:
    """Multisets of ids by number; all are empty at first."""

    def __cinit__(self, TermOrder terms not None, bint by_value):
        self.terms = terms
        self.by_value = by_value
        self.nodes.free = -1

    def __dealloc__(self):
        block_free(self.nodes.data, self.nodes.capacity * sizeof(Node))
        growing_close(&self.roots)

    cdef Node* node(self, int32_t number) noexcept nogil:
        return (<Node*>self.nodes.data) + number

    cdef int32_t* root(self, int64_t tree) noexcept nogil:
        """Where the number of a tree's root is kept, plus 1 so that zeros are empty trees."""
        return (<int32_t*>self.roots.data) + tree

    cdef int make_room(self, int64_t trees) except -1:
        growing_room(&self.roots, trees, sizeof(int32_t))
        self.tree_count = max(self.tree_count, trees)
        return 0

    cdef int64_t size(self, int64_t tree) noexcept nogil:
        cdef int32_t root = self.root(tree)[0] - 1
        return self.node(root).size if root >= 0 else 0

    # Order.

    cdef int read_key(self, int64_t term_id, uint64_t* key) except -1:
        if self.by_value:
            return self.terms.order_key(term_id, key)
        return self.terms.term_key(term_id, key)

    cdef int order(self, int64_t term_id, uint64_t key, const Node* node) except -2:
        """-1, 0 or 1 for a term beside a node's; 0 only if it is the same."""
        cdef int64_t other = node.id
        cdef uint64_t other_key = node.key
        cdef int found = 0
        if term_id == other:
            return 0
        if is_number(term_id):
            if is_number(other):
                return order_by_value(term_id, other) if self.by_value else order_by_term(term_id, other)
            self.read_key(term_id, &key)
        elif is_number(other):
            self.read_key(other, &other_key)
        if key != other_key:
            return -1 if key < other_key else 1
        if self.by_value:
            found = self.terms.compare_order(term_id, other)
        return found if found else self.terms.compare_terms(term_id, other)

    # Changing.

    cdef void resize(self, Node* node) noexcept nogil:
        node.size = node.count
        if node.left >= 0:
            node.size += self.node(node.left).size
        if node.right >= 0:
            node.size += self.node(node.right).size

    cdef void hang(self, int64_t tree, int32_t parent, int32_t was, int32_t number) noexcept nogil:
        """Puts a node where another hung: below `parent`, or at the root for -1."""
        if parent < 0:
            self.root(tree)[0] = number + 1
        elif self.node(parent).left == was:
            self.node(parent).left = number
        else:
            self.node(parent).right = number

    cdef void lift(self, int64_t tree, int32_t parent, int32_t above, int32_t number) noexcept nogil:
        """Rotates a node over the one above it."""
        cdef Node* upper = self.node(above)
        cdef Node* lower = self.node(number)
        self.hang(tree, parent, above, number)
        if upper.left == number:
            upper.left = lower.right
            lower.right = above
        else:
            upper.right = lower.left
            lower.left = above
        self.resize(upper)
        self.resize(lower)

    cdef int grow(self, int64_t tree, int depth, int side, int64_t term_id, uint64_t key, int64_t weight) except -1:
        """Hangs a new node below the end of the path and lifts it to where its priority allows."""
        cdef int32_t number = record_new(&self.nodes, sizeof(Node))
        cdef Node* node = self.node(number)
        cdef int i
        self.state += 1
        node.id = term_id
        node.count = weight
        node.key = key
        node.size = weight
        node.left = -1
        node.right = -1
        node.priority = <uint32_t>mix(self.state)
        if depth == 0:
            self.root(tree)[0] = number + 1
            return 0
        for i in range(depth):
            self.node(self.path[i]).size += weight
        if side < 0:
            self.node(self.path[depth - 1]).left = number
        else:
            self.node(self.path[depth - 1]).right = number
        while depth > 0 and self.node(self.path[depth - 1]).priority < node.priority:
            depth -= 1
            self.lift(tree, self.path[depth - 1] if depth else -1, self.path[depth], number)
        return 0

    cdef void cut(self, int64_t tree, int32_t parent, int32_t number) noexcept nogil:
        """Takes out a node whose count is 0: its children are lifted over it until it has one at most."""
        cdef Node* node = self.node(number)
        cdef int32_t child
        while node.left >= 0 and node.right >= 0:
            child = node.left if self.node(node.left).priority > self.node(node.right).priority else node.right
            self.lift(tree, parent, number, child)
            parent = child
        child = node.left if node.left >= 0 else node.right
        self.hang(tree, parent, number, child)
        record_free(&self.nodes, sizeof(Node), number)

    cdef int put(self, int64_t tree, int64_t term_id, int64_t weight) except -1:
        """Adds so many of a term, or takes them away."""
        cdef int32_t at = self.root(tree)[0] - 1
        cdef int depth = 0, side = 0, i
        cdef uint64_t key = 0
        if scale_of(term_id) > MAX_SCALE:
            raise ValueError(f"id {term_id} is no number")
        if not is_number(term_id):
            self.read_key(term_id, &key)
        while at >= 0:
            side = self.order(term_id, key, self.node(at))
            if side == 0:
                break
            if depth + 1 == DEEPEST:
                raise RecursionError("a tree has become too deep")
            self.path[depth] = at
            depth += 1
            at = self.node(at).left if side < 0 else self.node(at).right
        if (self.node(at).count if at >= 0 else 0) + weight < 0:
            raise ValueError(f"more of {term_id} left than had entered")
        if at < 0:
            if weight > 0:
                self.grow(tree, depth, side, term_id, key, weight)
            return 0
        for i in range(depth):
            self.node(self.path[i]).size += weight
        self.node(at).size += weight
        self.node(at).count += weight
        if self.node(at).count == 0:
            self.cut(tree, self.path[depth - 1] if depth else -1, at)
        return 0

    # Reading.

    cdef int64_t pick(self, int64_t tree, int64_t place) noexcept nogil:
        """The term at a place in order, counted from 0; -1 if there are not so many."""
        cdef int32_t at = self.root(tree)[0] - 1
        cdef int64_t before
        cdef Node* node
        if place < 0 or place >= self.size(tree):
            return -1
        while True:
            node = self.node(at)
            before = self.node(node.left).size if node.left >= 0 else 0
            if place < before:
                at = node.left
            elif place < before + node.count:
                return node.id
            else:
                place -= before + node.count
                at = node.right

    # For Python.

    def add(self, int64_t tree, int64_t term_id, int64_t weight):
        """Adds so many of a term to a multiset, or takes them away."""
        if not 0 <= tree < 1 << 31:
            raise ValueError(f"there is no multiset {tree}")
        self.make_room(tree + 1)
        self.put(tree, term_id, weight)

    def length(self, int64_t tree):
        """How many terms a multiset has."""
        return self.size(tree) if 0 <= tree < self.tree_count else 0

    def at(self, int64_t tree, int64_t place):
        """The id at a place in order, -1 if there is none."""
        return self.pick(tree, place) if 0 <= tree < self.tree_count else -1

    def items(self, int64_t tree):
        """The distinct ids in order, and their counts."""
        cdef int32_t at
        ids, counts, above = [], [], []
        if 0 <= tree < self.tree_count:
            at = self.root(tree)[0] - 1
            while at >= 0 or above:
                while at >= 0:
                    above.append(at)
                    at = self.node(at).left
                at = above.pop()
                ids.append(self.node(at).id)
                counts.append(self.node(at).count)
                at = self.node(at).right
        return np.array(ids, np.int64), np.array(counts, np.int64)

    @property
    def stats(self):
        return {
            "terms": int(self.nodes.live),
            "bytes": int(self.nodes.capacity * <int64_t>sizeof(Node) + self.roots.bytes),
        }
