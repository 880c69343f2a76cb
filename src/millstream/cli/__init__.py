"""The command line: one module a command, and what they share in `terminal` and `queries`."""

from millstream.cli.main import main

__all__ = ["main"]
