"""Where text goes: answers to standard output, everything said about them to standard error.

Colours only on a terminal; lines are never wrapped, so that carets stay below what they point at.
"""

from __future__ import annotations

import io
import sys
from typing import NoReturn

import typer
from rich.console import Console
from rich.rule import Rule
from rich.text import Text

# Exit codes: bad data in a strict run, a wrong command or query, what cannot be written (as on a full disk), Ctrl-C.
DATA, USAGE, STORAGE, INTERRUPTED = 1, 2, 3, 130
# And an expectation that failed.
FAILED = 1
_STYLES = {"error": "bold red", "warning": "bold yellow", "set aside": "bold yellow", "not run yet": "bold yellow"}


def output() -> Console:
    """Standard output as it is now."""
    return Console(highlight=False, soft_wrap=True, emoji=False)


def note(kind: str, message: str) -> None:
    """One remark on standard error, its kind set off: `warning: ...`."""
    console = Console(highlight=False, soft_wrap=True, emoji=False, stderr=True)
    console.print(Text.assemble((f"{kind}: ", _STYLES.get(kind, "bold")), message))


def fail(message: str) -> NoReturn:
    """Ends the command with one message and no traceback."""
    note("error", message)
    raise typer.Exit(USAGE)


def heading(console: Console, title: str) -> None:
    """Sets off what comes next: a rule on a terminal."""
    console.print()
    if console.is_terminal:
        console.print(Rule(Text(title, "bold"), align="left"))
    else:
        console.print(f"{title}\n")


def indented(text: str) -> Text:
    return Text("\n".join(f"  {line}" if line else "" for line in text.split("\n")))


def tolerate_any_encoding() -> None:
    """Characters that a terminal or pipe cannot show become question marks, not errors."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
