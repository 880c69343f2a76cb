"""What goes on in a server: streams, datasets and queries, seen and changed by hand; without a token nobody gets in."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.console.browser import MODULES, visit
from tests.console.server import SEEN, ConsoleServer
from tests.server.serving import STREAM, triple

PLACES = ("#/", "#/q/seen", "#/queries", "#/streams", "#/datasets")


@pytest.fixture
def busy(server: ConsoleServer) -> ConsoleServer:
    """A server at which something goes on."""
    server.register(SEEN, "seen")
    server.push(triple("ann", 1), 1000)
    server.push(triple("ben", 2), 500)
    return server


def test_streams_show_what_was_set_aside_and_why(page: Page, busy: ConsoleServer) -> None:
    page.goto(f"{busy.url}/#/streams")
    row = page.get_by_role("row", name=STREAM)
    expect(row.get_by_role("cell")).to_contain_text(["0", "", "1", "1", "0", "seen"])
    expect(page.locator(".reasons")).to_contain_text("late: its time is 500 ms, when only 1000 ms and later was still taken")
    expect(page.locator("dl")).to_contain_text("watermark1.000 s")


def test_an_element_is_pushed_by_hand(page: Page, busy: ConsoleServer) -> None:
    page.goto(f"{busy.url}/#/streams")
    page.get_by_label("Stream", exact=True).fill(STREAM)
    page.get_by_label("Time in ms").fill("1500")
    page.get_by_role("textbox", name="Triples").fill("<http://e/cleo> <http://e/p> 3 .")
    page.get_by_role("button", name="Push", exact=True).click()
    expect(page.locator("output")).to_have_text("1 taken, 0 late, 0 set aside.")
    page.get_by_role("textbox", name="Triples").fill("nonsense")
    page.get_by_role("button", name="Push", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("nothing of the body could be read")
    page.goto(f"{busy.url}/#/q/seen")
    expect(page.get_by_role("row", name=":cleo 3")).to_be_visible()


def test_a_graph_is_inserted_into_shown_and_emptied(page: Page, server: ConsoleServer) -> None:
    page.goto(f"{server.url}/#/datasets")
    page.get_by_label("Graph", exact=True).fill("http://e/g")
    page.get_by_label("Turtle").fill("<http://e/x> <http://e/in> <http://e/y> , <http://e/z> .")
    page.get_by_role("button", name="Insert").click()
    row = page.get_by_role("row", name="http://e/g")
    expect(row).to_contain_text("2")
    page.get_by_role("button", name="Show http://e/g").click()
    expect(page.locator(".sheet pre")).to_contain_text("<http://e/x> <http://e/in>")
    page.on("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Empty http://e/g").click()
    expect(row).to_have_count(0)


def test_queries_are_listed_opened_and_closed(page: Page, busy: ConsoleServer) -> None:
    page.goto(f"{busy.url}/#/queries")
    page.get_by_role("link", name="seen").click()
    expect(page.get_by_role("row", name=":ann 1")).to_be_visible()
    page.get_by_role("link", name="Queries").click()
    page.on("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Close seen").click()
    expect(page.get_by_text("No query runs.")).to_be_visible()


def test_a_query_that_is_not_there_is_said_to_be_gone(page: Page, server: ConsoleServer) -> None:
    page.goto(f"{server.url}/#/q/nothing")
    expect(page.get_by_role("alert")).to_contain_text("there is no query 'nothing'")


def test_a_wrong_token_is_asked_for_again(browser: Browser, server: ConsoleServer) -> None:
    with visit(browser) as page:
        page.goto(f"{server.url}/?token=wrong-wrong-wrong-wrong")
        expect(page.get_by_role("heading", name="This token is not known here")).to_be_visible()
        assert "wrong" not in page.url
        page.get_by_label("Token").fill(server.token)
        page.get_by_role("button", name="Enter").click()
        expect(page.locator(".verdict")).to_have_text("SELECT CHANGES ?sensor ?degrees")


def test_without_a_token_there_is_nothing_to_see(browser: Browser, server: ConsoleServer) -> None:
    with visit(browser) as page:
        page.goto(f"{server.url}/#/streams")
        expect(page.get_by_role("heading", name="A token, please")).to_be_visible()
        expect(page.locator(".view")).to_have_count(0)


def test_hints_are_shown_until_they_are_read_and_on_demand(page: Page, server: ConsoleServer) -> None:
    hints = page.get_by_role("heading", name="How this works")
    expect(page.locator(".hints li")).to_have_count(3)
    page.get_by_role("button", name="Got it").click()
    expect(hints).to_have_count(0)
    page.reload()
    expect(page.get_by_role("heading", name="Begin with an example")).to_be_visible()
    expect(hints).to_have_count(0)
    page.get_by_role("button", name="Show the hints").click()
    expect(hints).to_be_visible()


def test_the_theme_is_the_systems_until_one_is_chosen(browser: Browser, server: ConsoleServer) -> None:
    with visit(browser, theme="dark") as page:
        page.goto(server.link)
        html = page.locator("html")
        expect(html).to_have_attribute("data-theme", "dark")
        page.get_by_role("button", name="Use light colours").click()
        expect(html).to_have_attribute("data-theme", "light")
        page.reload()
        expect(html).to_have_attribute("data-theme", "light")


def test_nothing_is_wider_than_a_phone(browser: Browser, busy: ConsoleServer) -> None:
    with visit(browser, 400, 800) as page:
        page.goto(busy.link)
        for place in PLACES:
            page.goto(f"{busy.url}/{place}")
            page.wait_for_timeout(400)
            assert page.evaluate("document.documentElement.scrollWidth") <= 400, place


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_serious(browser: Browser, busy: ConsoleServer, theme: str) -> None:
    axe = Path(MODULES / "axe-core" / "axe.min.js").read_text("utf-8")
    with visit(browser, theme=theme) as page:
        page.goto(busy.link)
        for place in PLACES:
            page.goto(f"{busy.url}/{place}")
            page.wait_for_timeout(500)
            found = []
            for tab in ("Table", "Changes", "Chart", "Graph") if place == "#/q/seen" else ("",):
                if tab:
                    page.get_by_role("tab", name=tab).click()
                # As a value: the policy of the page allows no script that was not served with it.
                page.evaluate(axe)
                ran = page.evaluate("axe.run({resultTypes: ['violations']})")
                found += [
                    f"{place} {tab}: {rule['id']}: {node['html']} {node['failureSummary']}"
                    for rule in ran["violations"]
                    if rule["impact"] in ("serious", "critical")
                    for node in rule["nodes"]
                ]
            assert not found, "\n".join(found)
