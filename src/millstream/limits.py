"""Resource limits: how much a small input may become before it is set aside.

Data and queries come from people nobody knows. What exceeds a limit is set aside (data) or is an error value (an
expression), counted like anything else that is malformed, and never stops what comes behind it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, ClassVar, Self

from millstream.errors import OptionError

_MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class NamedLimits:
    """Whole numbers of at least 1, but for those that may be 0."""

    whose: ClassVar[str] = ""
    may_be_none: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if not isinstance(value, int) or isinstance(value, bool) or value < (name not in self.may_be_none):
                raise OptionError(f"limit {name} must be a whole number of at least 1, got {value!r}.")

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        """Limits by name, as options and settings have them; the others are as by default."""
        known = {field.name for field in fields(cls)}
        for name in given:
            if name not in known:
                raise OptionError(f"there is no limit {name!r}{cls.whose}; there are {', '.join(sorted(known))}.")
        return cls(**given)


@dataclass(frozen=True, slots=True)
class Limits(NamedLimits):
    """Sizes in bytes; docs/security.md says what each protects from."""

    statement_bytes: int = 256 * _MIB
    """A line, sentence or message of a text, after decompression."""
    literal_bytes: int = 64 * _MIB
    """One term."""
    document_bytes: int = 1024 * _MIB
    """A document that is parsed as a whole (RDF/XML, JSON-LD), after decompression and with its entities expanded."""
    value_bytes: int = 16 * _MIB
    """A value that an expression computes: a string, or a number written out."""

    change_rows: int = 1 << 26
    """Rows, not bytes: what a join of a query makes of what comes at once."""
    chained_elements: int = 100_000
    """Elements, not bytes: what queries that feed each other construct of one change."""


DEFAULT_LIMITS = Limits()
