"""What went wrong in a job, in one line: Spark wraps errors of its Python processes in pages of traces."""

from __future__ import annotations

import re

_OURS = re.compile(r"^(?:millstream\.errors\.\w+): (.+)$", re.MULTILINE)


def complaint_of(error: BaseException) -> str | None:
    """The message of the error that millstream raised in a driver, planner or worker; None if it was not millstream."""
    found = _OURS.findall(str(error))
    return found[-1].strip() if found else None
