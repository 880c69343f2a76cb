"""The root cause of a failed job, in one line: Spark wraps errors of its Python and Java processes in pages of traces.

A failure names its cause innermost: the last traceback of Python if there is one, else the last `Caused by:` of Java that
says anything. Behind that, Spark appends the state of the query, its threads and its plan, which are no causes.
"""

from __future__ import annotations

import re

from millstream.errors import MillstreamError, StorageError

_OURS = re.compile(r"^(?:millstream\.errors\.(\w+)): (.+)$", re.MULTILINE)
_APPENDED = re.compile(r"^=== Streaming Query ===$|^Driver stacktrace:$", re.MULTILINE)
_TRACEBACK = "Traceback (most recent call last):"
_RAISED = re.compile(r"^(?:[\w.]+\.)?(\w+)(?:: (.*))?$")
_CAUSED = re.compile(r"^(?:Caused by: |: )?((?:[\w$]+\.)+[\w$]*(?:Exception|Error))(?::(.*))?$")
# What Spark adds to its messages: their class in front, a code of SQL behind.
_ADDED = re.compile(r"^\[[A-Z_.0-9]+\] |\s*SQLSTATE: \w+\s*$")
_LOST_TASK = re.compile(r"^.*most recent failure: Lost task [^(]*\(TID \d+\) \([^)]*\): ")
_STORAGE = re.compile(r"No space left on device|Disk quota exceeded|File too large|Read-only file system")
_FILES = (
    re.compile(r"(?:file|to|for):? '?(/[^\s':]+)'?[^\n]*(?:No space|Disk quota|File too|Read-only)"),
    re.compile(r"(?:No space|Disk quota|File too|Read-only)[^\n/]*(?:file|directory)?:? '?(/[^\s':]+)'?"),
)
_CRASHED = "Python worker exited unexpectedly"
_SHOWN = 500


def complaint_of(error: BaseException) -> str | None:
    """The message of the error that millstream raised in a driver, planner or worker; None if it was not millstream."""
    found = _OURS.findall(str(error))
    return found[-1][1].strip() if found else None


def failure_of(error: BaseException) -> MillstreamError:
    """What went wrong in a job, without the traces of Java and Python."""
    if isinstance(error, MillstreamError):
        return error
    text = str(error)
    ours = _OURS.findall(text)
    if ours:
        kind = StorageError if ours[-1][0] == StorageError.__name__ else MillstreamError
        return kind(ours[-1][1].strip())
    full = _STORAGE.search(text)
    if full is not None:
        places = [place for pattern in _FILES for place in pattern.findall(text)]
        return StorageError(f"{places[0] if places else 'the Spark job'}: cannot be written: {full[0]}")
    return MillstreamError(f"the Spark job failed: {cause_of(text)}")


def cause_of(text: str) -> str:
    """The innermost cause that a text of Spark's names, in one line."""
    if _CRASHED in text and _TRACEBACK not in text:
        return "a Python worker was killed or crashed; mostly there was too little memory for it"
    text = text[: end.start()] if (end := _APPENDED.search(text)) else text
    found = _of_python(text) or _of_java(text) or next((line for line in text.splitlines() if line.strip()), "")
    return _ADDED.sub("", found.strip())[:_SHOWN] or "no reason given"


def _of_python(text: str) -> str | None:
    """The line below the last traceback: its error and what that says."""
    _, found, behind = text.rpartition(_TRACEBACK)
    if not found:
        return None
    for line in behind.splitlines()[1:]:
        if line and not line[0].isspace() and (match := _RAISED.match(line)):
            return match[1] if not match[2] else f"{match[1]}: {match[2]}"
    return None


def _of_java(text: str) -> str | None:
    """The last of the exceptions that caused each other which says anything, with the names of those behind it."""
    said, silent = None, ""
    for line in text.splitlines():
        match = _CAUSED.match(_LOST_TASK.sub("", line))
        if match is None:
            continue
        name, message = match[1].rpartition(".")[2], (match[2] or "").strip()
        if message.startswith("Exception thrown in awaitResult"):
            continue
        if message:
            said, silent = f"{name}: {_ADDED.sub('', message).rstrip('.')}", ""
        else:
            silent = f" ({name})"
    return None if said is None else said + silent
