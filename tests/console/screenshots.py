"""Makes the pictures of docs/console: every view of the console, dark and light, at three widths.

    make screenshots

They show the examples of the page itself, at a server that is started for them.
"""

from __future__ import annotations

import io
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, expect

from tests.console.browser import ROOT, chromium, visit
from tests.console.server import ConsoleServer

FOLDER = ROOT / "docs" / "console"
SIZES = {400: 820, 900: 760, 1440: 860}
COLOURS = 128
WRONG = "PREFIX : <http://example.org/>\nSELECT ?room\nWHERE {\n  STREAM :readings [RNGE 10s] { ?room :shows ?degrees }\n}"


def start(page: Page, server: ConsoleServer) -> None:
    page.goto(server.link)
    expect(page.locator(".verdict")).to_have_text("SELECT CHANGES ?sensor ?degrees")


def error(page: Page, server: ConsoleServer) -> None:
    page.get_by_role("textbox", name="Query", exact=True).click()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.insert_text(WRONG)
    page.locator(".cm-lintRange-error").hover()
    expect(page.get_by_role("button", name="Write RANGE")).to_be_visible()


def example(title: str, tab: str, wait_s: float = 5.0) -> Callable[[Page, ConsoleServer], None]:
    def show(page: Page, server: ConsoleServer) -> None:
        page.goto(f"{server.url}/#/")
        page.get_by_role("button", name=title).click()
        page.get_by_role("tab", name=tab).click()
        page.wait_for_timeout(1000 * wait_s)
        page.evaluate("document.querySelector('.watch').scrollIntoView({block: 'nearest'})")

    return show


def inside(page: Page, server: ConsoleServer) -> None:
    page.wait_for_timeout(2500)
    page.locator(".plan").scroll_into_view_if_needed()


def place(name: str, wait_s: float = 1.0) -> Callable[[Page, ConsoleServer], None]:
    def show(page: Page, server: ConsoleServer) -> None:
        page.goto(f"{server.url}/#/{name}")
        page.wait_for_timeout(1000 * wait_s)

    return show


def token(page: Page, server: ConsoleServer) -> None:
    page.evaluate("sessionStorage.clear()")
    page.goto(f"{server.url}/?token=not-the-right-one")
    expect(page.get_by_role("heading", name="This token is not known here")).to_be_visible()


VIEWS: dict[str, Callable[[Page, ConsoleServer], None]] = {
    "start": start,
    "error": error,
    "table": example("Hot rooms", "Table"),
    "changes": example("Next door", "Changes"),
    "graph": example("Meetings", "Graph"),
    "chart": example("Averages by room", "Chart", 10.0),
    "inside": inside,
    "queries": place("queries"),
    "streams": place("streams", 6.0),
    "datasets": place("datasets"),
    "token": token,
}


def keep(png: bytes, path: Path) -> None:
    # A palette, and then without loss: a fifth of what the browser gives, and letters stay sharp.
    image = Image.open(io.BytesIO(png)).convert("RGB")
    image = image.quantize(COLOURS, Image.Quantize.MAXCOVERAGE, kmeans=1, dither=Image.Dither.NONE)
    image.convert("RGB").save(path, lossless=True, quality=50, method=4)


def main(only: list[str]) -> None:
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        server = ConsoleServer(Path(folder))
        try:
            for theme in ("light", "dark"):
                for width, height in SIZES.items():
                    with visit(browser, width, height, theme) as page:
                        for view, show in VIEWS.items():
                            if not only or view in only or view == "start":
                                show(page, server)
                                keep(page.screenshot(caret="initial"), FOLDER / f"{view}-{theme}-{width}.webp")
                    print(theme, width, flush=True)
        finally:
            server.stop()


if __name__ == "__main__":
    main(sys.argv[1:])
