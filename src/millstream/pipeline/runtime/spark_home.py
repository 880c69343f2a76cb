"""A home for Spark on this machine whose Python processes import PySpark as it is installed.

Spark puts a zip of PySpark's sources first on their path, and each of the ten or so processes of a job compiles it anew,
which takes half a second. A home that links to all of Spark but the zips has none of that.
"""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path

import pyspark

_LINKED = ("bin", "jars", "conf")


def find_home() -> None:
    """Sets SPARK_HOME, unless somebody chose a Spark or a Python, or links cannot be made here."""
    if "SPARK_HOME" in os.environ or os.environ.get("PYSPARK_PYTHON", sys.executable) != sys.executable:
        return
    installed = Path(pyspark.__path__[0])
    if not (installed / "jars").is_dir():
        return
    named = hashlib.blake2b(os.fsencode(installed), digest_size=8).hexdigest()
    try:
        # The same folder every time, since archives of Java's classes are only good for the path they were made with.
        home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "millstream", f"spark-{named}")
        home.mkdir(parents=True, exist_ok=True)
        for name in _LINKED:
            if (installed / name).exists() and not (home / name).exists():
                (home / name).symlink_to(installed / name)
    except (OSError, RuntimeError):
        return
    os.environ["SPARK_HOME"] = str(home)
