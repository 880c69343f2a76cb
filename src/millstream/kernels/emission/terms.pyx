"""Canonical N-Triples text back to terms: for text that this program wrote, so nothing is checked and nothing renamed."""

import re

from pyoxigraph import BlankNode, Literal, NamedNode

cdef object ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)
cdef dict SHORT = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f"}
cdef dict datatypes = {}        # the terms of datatypes that have come, by what stands behind the quotes
cdef enum:
    DATATYPES = 256             # so many are kept


cpdef object term_of(str text):
    """The term that a canonical text stands for; a blank node keeps its label."""
    cdef Py_ssize_t end, length = len(text)
    cdef str lexical, suffix
    if text.startswith("<"):
        return NamedNode(text[1:length - 1])
    if text.startswith("_"):
        return BlankNode(text[2:length])
    end = text.rindex('"')
    lexical, suffix = unescaped(text[1:end]), text[end + 1:length]
    if not suffix:
        return Literal(lexical)
    if suffix.startswith("@"):
        return Literal(lexical, language=suffix[1:len(suffix)])
    datatype = datatypes.get(suffix)
    if datatype is None:
        datatype = NamedNode(suffix[3:len(suffix) - 1])
        if len(datatypes) < DATATYPES:
            datatypes[suffix] = datatype
    return Literal(lexical, datatype=datatype)


cpdef str lexical_of(str text):
    """The lexical form of a literal, the IRI, or a blank node as it is."""
    if text.startswith("<"):
        return text if text.startswith("<<") else text[1:len(text) - 1]
    return text if text.startswith("_") else unescaped(text[1:text.rindex('"')])


cpdef str unescaped(str text):
    """What stands between the quotes of a literal, as it is meant."""
    return ESCAPE.sub(character, text) if "\\" in text else text


def character(match):
    """The character of an escape."""
    code = match[1] or match[2]
    return chr(int(code, 16)) if code else SHORT.get(match[3], match[3])
