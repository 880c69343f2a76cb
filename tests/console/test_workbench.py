"""A query is written, mended, run, watched, paused, found again: in a real browser, at a real server."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.console.server import SEEN, ConsoleServer
from tests.server.serving import triple

HOT = """PREFIX : <http://e/>
SELECT CHANGES ?x ?y WHERE { STREAM :a [RANGE 1s] { ?x :p ?y } }"""


def write(page: Page, text: str) -> None:
    editor = page.get_by_role("textbox", name="Query", exact=True)
    editor.click()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.press("Delete")
    # Typed in one go: brackets that the editor closes by itself would be there twice.
    page.keyboard.insert_text(text)


def watch(page: Page, server: ConsoleServer, text: str = SEEN, name: str = "seen") -> None:
    """Registers a query and shows it."""
    server.register(text, name)
    page.goto(f"{server.url}/#/q/{name}")
    expect(page.locator("footer")).to_contain_text("live")


def test_the_token_leaves_the_address_bar(page: Page, server: ConsoleServer) -> None:
    expect(page.get_by_role("textbox", name="Query", exact=True)).to_be_visible()
    assert page.url == f"{server.url}/"


def test_an_error_is_underlined_mended_and_run_and_rows_come_and_go(page: Page, server: ConsoleServer) -> None:
    write(page, HOT.replace("RANGE 1s", "RANGE 1s STEPP 1s"))
    expect(page.locator(".cm-lintRange-error")).to_have_text("STEPP")
    expect(page.locator(".verdict")).to_have_text("line 2, column 50: found `STEPP`; did you mean STEP?")
    expect(page.get_by_role("button", name="Run")).to_be_disabled()

    write(page, HOT)
    expect(page.locator(".cm-lintRange-error")).to_have_count(0)
    expect(page.locator(".verdict")).to_have_text("SELECT CHANGES ?x ?y")
    expect(page.locator(".explain")).to_contain_text("match in window :a [RANGE 1s]")
    page.get_by_label("Name of the query").fill("hot")
    page.get_by_role("button", name="Run").click()

    expect(page.locator("footer")).to_contain_text("live")
    server.push(triple("ann", 1), 1000)
    row = page.get_by_role("row", name=":ann 1")
    expect(row).to_have_class("row new")
    server.push(triple("ben", 2), 2000)
    expect(row).to_have_class("row leaving")
    expect(row).to_have_count(0)
    expect(page.get_by_role("row", name=":ben 2")).to_be_visible()
    expect(page.get_by_test_id("size")).to_have_text("1 answers")

    page.get_by_role("tab", name="Changes").click()
    log = page.get_by_role("table", name="Changes of the answers")
    expect(log.get_by_role("row")).to_have_count(4)
    expect(log.locator(".sign.plus")).to_have_count(2)
    expect(log.locator(".sign.minus")).to_have_count(1)

    page.reload()
    expect(page.get_by_role("heading", name="hot")).to_be_visible()
    expect(page.get_by_role("row", name=":ben 2")).to_be_visible()
    expect(page.locator(".cm-content")).to_contain_text("SELECT CHANGES ?x ?y")
