"""What the parser says is wrong, as an error with a reason and, where the parser knows it, a place."""

from __future__ import annotations

import re

from millstream.errors import DataError

_PREAMBLE = re.compile(r"^Parser error (?:at|between) (?:line \d+ )?(?:[^:]*?): ", re.DOTALL)
# Reasons of the parser that do not say what to do about it.
_CLEARER = {
    "No LoadDocumentCallback": "a remote @context is not fetched; write the context into the document",
    "No scheme found in an absolute IRI": "a relative IRI without a base to resolve it; give the option base",
}
# What the parser raises where it has met a bug of its own; it is no Exception, and no module has it.
_PANIC = "PanicException"


def fault_of(error: BaseException) -> DataError:
    """The fault behind an exception of the parser, line and column from 1; what is none of the parser's is raised again."""
    if isinstance(error, SyntaxError):
        reason = _PREAMBLE.sub("", error.msg or str(error))
        for beginning, clearer in _CLEARER.items():
            if reason.startswith(beginning):
                reason = clearer
        return DataError(reason, line=error.lineno, column=error.offset)
    if isinstance(error, ValueError):
        return DataError(str(error))
    if isinstance(error, MemoryError):
        return DataError("a string, name, number or comment that is too long for the parser")
    if type(error).__name__ == _PANIC:
        return DataError("the parser failed over it")
    raise error
