"""What Java and its helpers say, kept from the terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def said_to(path: Path) -> Iterator[None]:
    """Whoever is started meanwhile, as Java is with a session, has a file for standard error."""
    sys.stderr.flush()
    ours = os.dup(2)
    with path.open("ab") as log:
        os.dup2(log.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(ours, 2)
        os.close(ours)
