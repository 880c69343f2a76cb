"""Rows of ids to rows of terms. A term that comes again is the same object, as long as ids are sure to name the same."""

from cpython.dict cimport PyDict_Clear, PyDict_GetItem, PyDict_SetItem, PyDict_Size
from cpython.list cimport PyList_Append
from cpython.object cimport PyObject, PyObject_GenericSetAttr, PyTypeObject
from libc.stdint cimport int64_t

from millstream.kernels.dictionary.dictionary cimport Dictionary
from millstream.kernels.emission.terms cimport term_of
from millstream.kernels.flow.deltas cimport Deltas

cdef extern from "Python.h":
    object PyType_GenericAlloc(PyTypeObject* of, Py_ssize_t items)

cdef enum:
    KEPT = 1 << 12              # so many terms are kept from call to call


cdef class Decoding:
    """Rows with columns of given names, decoded with a dictionary."""

    cdef Dictionary dictionary
    cdef tuple names
    cdef dict terms             # by id
    cdef int64_t epoch

    def __init__(self, Dictionary dictionary not None, names):
        self.dictionary = dictionary
        self.names = tuple(names)
        self.terms = {}

    cdef int begin(self, Deltas rows) except -1:
        if rows.rows.width != len(self.names):
            raise ValueError(f"expected {len(self.names)} columns, got {rows.rows.width}")
        if self.epoch != self.dictionary.epoch or PyDict_Size(self.terms) > KEPT:
            PyDict_Clear(self.terms)
            self.epoch = self.dictionary.epoch
        return 0

    cdef dict row(self, Deltas rows, int64_t i):
        """The terms of a row by name, without what is unbound."""
        cdef dict found = {}
        cdef PyObject* known
        cdef int64_t id
        cdef int column
        for column in range(rows.rows.width):
            id = rows.rows.columns[column][i]
            if id == -1:
                continue
            key = id
            known = PyDict_GetItem(self.terms, key)
            if known != NULL:
                term = <object>known
            else:
                term = term_of(self.dictionary.decode_one(id))
                PyDict_SetItem(self.terms, key, term)
            PyDict_SetItem(found, self.names[column], term)
        return found

    def columns(self, Deltas rows not None):
        """Each column of rows as an Arrow array of strings, null where unbound."""
        cdef int column
        return [self.dictionary.decode_all(rows.rows.columns[column], rows.rows.size) for column in range(rows.rows.width)]

    def bindings(self, Deltas rows not None):
        """The terms of each row by name, as often as its weight says."""
        cdef list found = []
        cdef int64_t i, j
        self.begin(rows)
        for i in range(rows.rows.size):
            for j in range(rows.weights()[i]):
                found.append(self.row(rows, i))
        return found

    def objects(self, Deltas rows not None, type of, tuple attributes, last, type collection):
        """A list, of a class that is one, with an object of a dataclass for each row: its millisecond, its weight, its
        terms, and what all have."""
        cdef int64_t i, at_ms = 0
        cdef object at = 0
        time, weight, terms, rest = attributes
        if not issubclass(collection, list):
            raise TypeError(f"expected a class of lists, got {collection!r}")
        found = PyType_GenericAlloc(<PyTypeObject*>collection, 0)
        self.begin(rows)
        for i in range(rows.rows.size):
            if rows.ticks()[i] >> 2 != at_ms:
                at_ms = rows.ticks()[i] >> 2
                at = at_ms
            # The class is frozen: this is how its own __init__ sets attributes, without its price.
            one = PyType_GenericAlloc(<PyTypeObject*>of, 0)
            PyObject_GenericSetAttr(one, time, at)
            PyObject_GenericSetAttr(one, weight, rows.weights()[i])
            PyObject_GenericSetAttr(one, terms, self.row(rows, i))
            PyObject_GenericSetAttr(one, rest, last)
            PyList_Append(found, one)
        return found
