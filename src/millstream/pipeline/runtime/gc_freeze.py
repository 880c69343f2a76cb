"""Freezes what a worker has imported, so that Python's garbage collector does not walk it.

Spark has a Python worker collect garbage after every task. Going through everything that was imported takes it up to a
tenth of a second, which on a machine with few cores is time that the same trigger needs elsewhere.
"""

from __future__ import annotations

import gc
import sys

_seen = 0


def freeze_imports() -> None:
    """Sets aside for good what there is, if modules were imported since the last time; to be called in workers only."""
    global _seen
    if len(sys.modules) > _seen:
        gc.freeze()
        _seen = len(sys.modules)
