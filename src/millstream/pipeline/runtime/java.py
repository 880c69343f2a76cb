"""The Java that Spark runs on, looked for before Spark starts: Spark's own complaints about it are hard to read.

Spark takes `JAVA_HOME` if it is set, and else `java` from the path; so does this.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from millstream.errors import JavaMissingError

LEAST = 17
_VERSION = re.compile(r'version "(?:1\.)?(\d+)')
_ADVICE = (
    f"Install Java {LEAST} or newer (Debian, Ubuntu: apt-get install openjdk-17-jre-headless; Fedora: dnf install "
    "java-17-openjdk-headless; macOS: brew install openjdk@17), or set JAVA_HOME to where it is."
)


def find_java(environment: Mapping[str, str] | None = None) -> Path:
    """The `java` that Spark will start; raises JavaMissingError if there is none or it is too old."""
    variables = os.environ if environment is None else environment
    home = variables.get("JAVA_HOME")
    if home:
        java = Path(home) / "bin" / "java"
        if not os.access(java, os.X_OK):
            raise JavaMissingError(f"Spark needs Java, and JAVA_HOME is {home}, which has no bin/java. {_ADVICE}")
        where = f"JAVA_HOME, {home},"
    else:
        found = shutil.which("java", path=variables.get("PATH", ""))
        if found is None:
            raise JavaMissingError(f"Spark needs Java, and none was found: JAVA_HOME is not set, no java in PATH. {_ADVICE}")
        java = Path(found)
        where = str(java)
    version = _major_version(java)
    if version is None:
        raise JavaMissingError(f"Spark needs Java, and {where} does not run. {_ADVICE}")
    if version < LEAST:
        raise JavaMissingError(f"Spark needs Java {LEAST} or newer, and {where} is Java {version}. {_ADVICE}")
    return java


def _major_version(java: Path) -> int | None:
    try:
        said = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.SubprocessError):
        return None
    match = _VERSION.search(said.stderr + said.stdout)
    return int(match[1]) if match else None
