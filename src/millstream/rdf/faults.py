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
# What the parser raises where it has met a bug of its own; it is no Exception, and no module has it.
_PANIC = "PanicException"


@dataclass(frozen=True, slots=True)
class Fault:
    """A reason, and line and column (from 1) in the text that was parsed where the parser knows them."""

    reason: str
    line: int | None
    column: int | None


def fault_of(error: BaseException) -> Fault:
    """The fault behind an exception of the parser; what is nothing of the parser's is raised again."""
    if isinstance(error, SyntaxError):
        reason = _PREAMBLE.sub("", error.msg or str(error))
        for beginning, clearer in _CLEARER.items():
            if reason.startswith(beginning):
                reason = clearer
        return Fault(reason, error.lineno, error.offset)
    if isinstance(error, ValueError):
        return Fault(str(error), None, None)
    if isinstance(error, MemoryError):
        return Fault("a string, name, number or comment that is too long for the parser", None, None)
    if type(error).__name__ == _PANIC:
        return Fault("the parser failed over it", None, None)
    raise error
