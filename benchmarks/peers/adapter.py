"""Engines that run as processes of their own, whatever they are written in: a small program, the adapter, speaks for each.

docs/benchmarks/adapters.md describes what goes over the pipes. An adapter is named in MILLSTREAM_ADAPTERS as
`NAME=command`, several with `;` between them. It is led through the whole of a stream, for an engine with windows of its own
cannot be set down in the middle of one.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.peers.contents import Element

VARIABLE = "MILLSTREAM_ADAPTERS"
PATHWAY = "Pathway"
PATHWAY_PYTHON = "MILLSTREAM_PATHWAY"
"""The Python that has pathway, if it is not this one."""
PROJECT = Path(__file__).resolve().parents[2]

Appeared = Counter[tuple[int, tuple[str, ...]]]
"""Answers that appeared: when, and their terms."""


class AdapterError(Exception):
    """An adapter ended, or said something that is not in the protocol."""


class RefusedError(AdapterError):
    """An adapter says that its engine has no such queries."""


@dataclass(frozen=True, slots=True)
class Told:
    """What an adapter said of a stream."""

    appeared: Appeared
    """With numbers of batches in the place of times, where there are batches."""
    seconds: float
    batch_ms: int | None = None
    """Its answers are those at the ends of batches: what happens from one multiple of so many to the next is one change."""


def adapters() -> dict[str, list[str]]:
    """The commands of all adapters there are, by name; Pathway's own where it is installed."""
    found = {}
    if python := _pathway_python():
        found[PATHWAY] = [python, "-m", "benchmarks.peers.pathway_adapter"]
    for entry in filter(None, map(str.strip, os.environ.get(VARIABLE, "").split(";"))):
        name, sign, command = entry.partition("=")
        if not sign or not command.strip():
            raise AdapterError(f"{VARIABLE}: {entry!r} is not NAME=command")
        found[name.strip()] = shlex.split(command)
    return found


def _pathway_python() -> str | None:
    return os.environ.get(PATHWAY_PYTHON) or (sys.executable if importlib.util.find_spec("pathway") else None)


def pathway_version() -> str | None:
    """The version of Pathway in the Python that runs it, which need not be this one."""
    python, ask = _pathway_python(), "from importlib.metadata import version; print(version('pathway'))"
    try:
        done = subprocess.run([python, "-c", ask], capture_output=True, text=True, check=False) if python else None
    except OSError:
        return None
    return done.stdout.strip() or None if done else None


def absent() -> list[str]:
    """What a report says of Pathway where it is not there."""
    there = PATHWAY in adapters()
    how = f"pip install 'millstream[bench-pathway]', or {PATHWAY_PYTHON}=a Python that has it"
    return [] if there else [f"{PATHWAY}: not installed ({how})"]


def messages(query: str, stream: str, elements: Iterable[Element]) -> Iterator[str]:
    """Everything that is written to an adapter of a query over a stream."""
    yield _query(query)
    yield from _elements(stream, elements)
    yield "end\n"


def edit_messages(query: str, edits: Iterable[tuple[bool, Sequence[str]]]) -> Iterator[str]:
    """The same of a query over a graph: inserts and deletes of lines of N-Triples, one a millisecond from 0."""
    yield _query(query)
    for at_ms, (insert, lines) in enumerate(edits):
        yield f"{'insert' if insert else 'delete'} {at_ms} {len(lines)}\n"
        yield from lines
    yield "end\n"


def linked_messages(
    query: str, graphs: Mapping[str | None, Sequence[str]], stream: str, elements: Iterable[Element]
) -> Iterator[str]:
    """The same of a query over a stream and graphs at rest: an insert a graph, of lines of N-Quads where it has a name."""
    yield _query(query)
    for name, lines in graphs.items():
        yield f"insert 0 {len(lines)}\n"
        yield from (line if name is None else f"{line.rstrip().removesuffix('.')}<{name}> .\n" for line in lines)
    yield from _elements(stream, elements)
    yield "end\n"


def _elements(stream: str, elements: Iterable[Element]) -> Iterator[str]:
    for element in elements:
        yield f"element {element.at_ms} {len(element.triples)}\n"
        yield from (f"{s} {p} {o} <{stream}> .\n" for s, p, o in element.triples)


def _query(query: str) -> str:
    return f"query {len(query.encode())}\n{query}\n"


def tell(command: Sequence[str], variables: Sequence[str], written: Iterable[str], limit_s: float) -> Told | None:
    """Leads an adapter through all messages; None if that took longer than the limit of the clock."""
    try:
        done = subprocess.run(
            command,
            input="".join(written),
            capture_output=True,
            text=True,
            timeout=limit_s,
            cwd=PROJECT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return None
    except OSError as error:
        raise AdapterError(f"cannot be run: {error.strerror}") from error
    if done.returncode:
        raise AdapterError(f"ended with code {done.returncode}: {_reason(done.stderr)}")
    return heard(done.stdout.splitlines(), variables)


def _reason(complaints: str) -> str:
    """The last line that tells of an error, or the last of all."""
    lines = [line for line in map(str.strip, complaints.splitlines()) if line]
    errors = [line for line in lines if re.match(r"[\w.]*(Error|Exception)\b", line)]
    return (errors or lines or ["no message"])[-1][:300]


def heard(lines: Iterable[str], variables: Sequence[str]) -> Told:
    """What an adapter wrote: its variables, answers with weights, and nanoseconds."""
    places: list[int] | None = None
    appeared: Appeared = Counter()
    nanoseconds, timed, batch_ms = 0, False, None
    for number, line in enumerate(lines, 1):
        word, _, rest = line.partition(" ")
        try:
            if word == "ready":
                names = [name.lstrip("?") for name in rest.split()]
                places = [names.index(name) for name in variables]
            elif word == "batch" and not appeared:
                batch_ms = int(rest)
            elif word == "answer" and places is not None:
                at_ms, weight, terms = rest.split(" ", 2)
                found = terms.split("\t")
                if int(weight) > 0:
                    when = int(at_ms) // (batch_ms or 1)
                    appeared[when, tuple(found[place] for place in places)] += int(weight)
            elif word == "refuse":
                raise RefusedError(f"does not take this query: {rest[:200]}")
            elif word == "took":
                nanoseconds, timed = nanoseconds + int(rest), True
            else:
                raise ValueError("not a message, or an answer before ready")
        except (ValueError, IndexError) as error:
            raise AdapterError(f"line {number} of an adapter: {line[:200]!r}: {error}") from error
    if places is None or not timed:
        raise AdapterError("an adapter ended without ready and took")
    return Told(appeared, nanoseconds / 1e9, batch_ms)
