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

USAGE = 2
"""The exit code for a command or query that is wrong."""


def output() -> Console:
    """Standard output as it is now."""
    return Console(highlight=False, soft_wrap=True, emoji=False)


def errors() -> Console:
    """Standard error as it is now."""
    return Console(highlight=False, soft_wrap=True, emoji=False, stderr=True)


def note(kind: str, message: str, style: str) -> None:
    """One remark on standard error, its kind set off: `warning: ...`."""
    errors().print(Text.assemble((f"{kind}: ", style), message))


def fail(message: str, code: int = USAGE) -> NoReturn:
    """Ends the command with one message and no traceback."""
    note("error", message, "bold red")
    raise typer.Exit(code)


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
