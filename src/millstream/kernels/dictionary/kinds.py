"""The kinds of terms, as `values.pxd` defines them."""

from enum import IntEnum


class Kind(IntEnum):
    """The four bits of an id below its sign. From INTEGER on the value is in the id itself."""

    IRI = 0
    BLANK = 1
    STRING = 2
    LANGUAGE = 3
    TYPED = 4
    INTEGER = 5
    DECIMAL = 6
    BOOLEAN = 7
    DATETIME = 8


KIND_SHIFT = 59
"""By how many bits an id is shifted for its kind; -1, which is no term, stays -1."""
