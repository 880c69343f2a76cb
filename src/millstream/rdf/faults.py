"""What the parser says is wrong, as a reason and a place."""

from __future__ import annotations

import re
from dataclasses import dataclass

_PREAMBLE = re.compile(r"^Parser error (?:at|between) (?:line \d+ )?(?:[^:]*?): ", re.DOTALL)
# Reasons of the parser that do not say what to do about it.
_CLEARER = {
    "No LoadDocumentCallback": "a remote @context is not fetched; write the context into the document",
    "No scheme found in an absolute IRI": "a relative IRI without a base to resolve it; give the option base",
}


@dataclass(frozen=True, slots=True)
class Fault:
    """A reason, and line and column (from 1) in the text that was parsed where the parser knows them."""

    reason: str
    line: int | None
    column: int | None


def fault_of(error: Exception) -> Fault:
    """The fault behind an exception of the parser."""
    if not isinstance(error, SyntaxError):
        return Fault(str(error), None, None)
    reason = _PREAMBLE.sub("", error.msg or str(error))
    for beginning, clearer in _CLEARER.items():
        if reason.startswith(beginning):
            reason = clearer
    return Fault(reason, error.lineno, error.offset)
