"""Hash-consing: equal nodes are one object, so that to compare two is to look whether they are the same.

A plan names its parts many times: an OPTIONAL has its left side three times, and so nine times that of the one before it.
Looked at by value, all of these would be compared and hashed one by one.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any
from weakref import WeakValueDictionary

_made: WeakValueDictionary[tuple[Any, ...], Any] = WeakValueDictionary()


class _OneOfEach(type):
    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        made = super().__call__(*args, **kwargs)
        # The values that are nodes are the only ones of their kind already.
        key = (cls, *(getattr(made, field.name) for field in fields(made)))
        return _made.setdefault(key, made)


class HashConsed(metaclass=_OneOfEach):
    """What is made once for equal values; its classes are frozen dataclasses that leave equality to identity."""

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(getattr(self, field.name) for field in fields(self))  # type: ignore[arg-type]
