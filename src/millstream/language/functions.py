"""The names that may be called without an IRI: SPARQL 1.1's built-in functions and aggregates, and MEDIAN."""

from __future__ import annotations

MANY = 1 << 30

_BY_ARGUMENTS = {
    (0, 0): "NOW RAND STRUUID UUID",
    (0, 1): "BNODE",
    (1, 1): "ABS BOUND CEIL DATATYPE DAY ENCODE_FOR_URI FLOOR HOURS IRI ISBLANK ISIRI ISLITERAL ISNUMERIC ISURI LANG LCASE "
    "MD5 MINUTES MONTH ROUND SECONDS SHA1 SHA256 SHA384 SHA512 STR STRLEN TIMEZONE TZ UCASE URI YEAR",
    (2, 2): "CONTAINS LANGMATCHES SAMETERM STRAFTER STRBEFORE STRDT STRENDS STRLANG STRSTARTS",
    (2, 3): "REGEX SUBSTR",
    (3, 3): "IF",
    (3, 4): "REPLACE",
    (0, MANY): "COALESCE CONCAT",
}
FUNCTIONS = {name: numbers for numbers, names in _BY_ARGUMENTS.items() for name in names.split()}
"""Name -> fewest and most arguments."""

AGGREGATES = frozenset({"AVG", "COUNT", "GROUP_CONCAT", "MAX", "MEDIAN", "MIN", "SAMPLE", "SUM"})
