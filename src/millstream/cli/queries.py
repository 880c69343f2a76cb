"""Query files: what they say, and their errors as messages that name the file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

from millstream.cli.terminal import fail
from millstream.errors import QueryError
from millstream.language.algebra import Query
from millstream.output.files import STANDARD
from millstream.plan.passes import query_of


class QueryFile(NamedTuple):
    """A query, and what to call it in messages."""

    name: str
    text: str
    query: Query


def read_query(path: str) -> QueryFile:
    """The query in a file; `-` is standard input. What is wrong with it ends the command."""
    name = "<standard input>" if path == STANDARD else path
    try:
        data = sys.stdin.buffer.read() if path == STANDARD else Path(path).read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        fail(f"{name}: cannot be read: {reason[:1].lower()}{reason[1:]}.")
    try:
        text = data.decode("utf-8")
        return QueryFile(name, text, query_of(text))
    except UnicodeDecodeError as error:
        fail(f"{name}: not UTF-8 text: the byte at offset {error.start} cannot be read.")
    except QueryError as error:
        fail(f"{name}: {error}")
