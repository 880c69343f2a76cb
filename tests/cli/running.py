"""The installed command as people type it, in a process of its own, and small inputs for it."""

from __future__ import annotations

import csv
import io
import os
import re
import subprocess
import sys
from pathlib import Path

PROGRAM = str(Path(sys.executable).with_name("millstream"))
XSD_INTEGER = "http://www.w3.org/2001/XMLSchema#integer"

PAIRS = """
PREFIX : <http://e/>
SELECT CHANGES ?x ?z WHERE { STREAM :a [RANGE 100ms] { ?x :p ?y } STREAM :b [RANGE 200ms] { ?y :q ?z } }
"""
SEEN = "PREFIX : <http://e/> SELECT ?x ?y WHERE { STREAM :a [RANGE 1s] { ?x :p ?y } }"


def millstream(
    *arguments: str | Path, stdin: str = "", cwd: Path | None = None, code: int = 0
) -> subprocess.CompletedProcess[str]:
    """Runs the command in a pipe; it must end with the code, and never with a traceback."""
    found = subprocess.run(
        [PROGRAM, *map(str, arguments)],
        input=stdin,
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=120,
        cwd=cwd,
        env=os.environ,
    )
    assert "Traceback" not in found.stderr
    assert found.returncode == code, found.stderr
    return found


def run(*arguments: str | Path, stdin: str = "", cwd: Path | None = None, code: int = 0) -> subprocess.CompletedProcess[str]:
    return millstream("run", "--engine", "embedded", *arguments, stdin=stdin, cwd=cwd, code=code)


def element(graph: str, at_ms: int, *triples: str) -> str:
    """A named graph with its time, as N-Quads; triples are three local names."""
    quads = [" ".join(f"<http://e/{name}>" for name in triple.split()) + f" <http://g/{graph}> .\n" for triple in triples]
    return f'{"".join(quads)}<http://g/{graph}> <http://www.w3.org/ns/prov#generatedAtTime> "{at_ms}"^^<{XSD_INTEGER}> .\n'


def rows(text: str) -> list[list[str]]:
    """The rows of CSV without the header."""
    return list(csv.reader(io.StringIO(text)))[1:]


def summary(stderr: str) -> str:
    """The last line, without how long it took, which is told of longer runs and slow machines."""
    return re.sub(r" in [0-9.]+ s \([0-9,]+ elements/s\)", "", stderr.rstrip("\n").splitlines()[-1])
