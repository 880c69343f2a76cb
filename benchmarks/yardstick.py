"""The prototype kernels, where they are at hand: built once into build/yardstick and imported from there.

They are looked for in $MILLSTREAM_YARDSTICK, then in ../shared/yardstick beside the project. They are no part of it, so
every benchmark runs without them and says what it left out.
"""

from __future__ import annotations

import hashlib
import importlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.report import PROJECT
from benchmarks.timing import Effort

ABSENT = "the prototype kernels are not at hand; set MILLSTREAM_YARDSTICK to their folder"
SOURCES = ("kernel.pyx", "rows.pyx", "setup.py", "universities.py", "measure.py", "measure_labelled.py")
Triples = list[tuple[str, str, str]]


def folder() -> Path | None:
    """Where their sources are."""
    path = Path(os.environ.get("MILLSTREAM_YARDSTICK") or PROJECT.parent / "shared" / "yardstick")
    return path if all((path / name).is_file() for name in SOURCES) else None


def build(effort: Effort = "full", progress: Callable[[str], None] = lambda _: None) -> bool:
    """Puts the built prototypes and their workloads on the import path; False if there are none.

    To see that a benchmark works, they are used if they are built already.
    """
    source = folder()
    if source is None:
        return False
    contents = b"".join((source / name).read_bytes() for name in SOURCES)
    tag = f"{sys.implementation.cache_tag}-{np.__version__}".encode()
    built = PROJECT / "build" / "yardstick" / hashlib.sha256(tag + contents).hexdigest()[:16]
    if not (built / "done").exists():
        if effort == "smoke":
            return False
        progress("building the prototypes, half a minute the first time")
        built.mkdir(parents=True, exist_ok=True)
        for name in SOURCES:
            # Two of them run when imported; here only their queries and graphs are wanted.
            (built / name).write_text((source / name).read_text().replace("\nmain()\n", "\n"))
        command = [sys.executable, "setup.py", "-q", "build_ext", "--inplace"]
        subprocess.run(command, cwd=built, check=True, capture_output=True)
        shutil.rmtree(built / "build", ignore_errors=True)
        (built / "done").touch()
    if str(built) not in sys.path:
        sys.path.insert(0, str(built))
    return True


def kernel() -> Any:
    """The prototype with hash chains; `build` must have found it."""
    return importlib.import_module("kernel")


def join(patterns: Triples, ids: dict[str, int]) -> Any:
    """A prototype join of patterns over encoded triples."""
    return kernel().Join(*importlib.import_module("measure").plan(patterns, ids))
