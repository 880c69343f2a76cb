"""A query is written, mended, run, watched, paused, found again: in a real browser, at a real server."""

from __future__ import annotations

import pytest
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
    expect(page.get_by_test_id("size")).to_have_text("1 answer")

    page.get_by_role("tab", name="Changes").click()
    log = page.get_by_role("table", name="Changes of the answers")
    expect(log.get_by_role("row")).to_have_count(4)
    expect(log.locator(".sign.plus")).to_have_count(2)
    expect(log.locator(".sign.minus")).to_have_count(1)

    page.reload()
    expect(page.get_by_role("heading", name="hot")).to_be_visible()
    expect(page.get_by_role("row", name=":ben 2")).to_be_visible()
    expect(page.locator(".cm-content")).to_contain_text("SELECT CHANGES ?x ?y")


def test_typing_over_a_selection_breaks_no_policy(page: Page, server: ConsoleServer) -> None:
    page.get_by_role("textbox", name="Query", exact=True).click()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("ASK")
    expect(page.locator(".verdict")).to_contain_text("found the end of the query")


def test_a_suggestion_is_taken_with_one_click(page: Page, server: ConsoleServer) -> None:
    write(page, HOT.replace("RANGE", "RNGE"))
    page.locator(".cm-lintRange-error").hover()
    page.get_by_role("button", name="Write RANGE").click()
    expect(page.locator(".verdict")).to_have_text("SELECT CHANGES ?x ?y")


def test_known_names_and_words_are_completed(page: Page, server: ConsoleServer) -> None:
    server.register(SEEN, "seen")
    page.reload()
    write(page, "PREFIX : <http://e/>\nSELECT CHANGES ?x WHERE { STR")
    page.keyboard.press("Control+Space")
    options = page.get_by_role("listbox").get_by_role("option")
    expect(options.get_by_text("STREAM", exact=True)).to_be_visible()
    page.keyboard.type("EAM :")
    page.keyboard.press("Control+Space")
    expect(options.get_by_text(":a", exact=True)).to_be_visible()


def test_paused_answers_stand_still_and_go_on(page: Page, server: ConsoleServer) -> None:
    watch(page, server)
    server.push(triple("ann", 1), 1000)
    expect(page.get_by_role("row", name=":ann 1")).to_be_visible()
    page.get_by_role("button", name="Pause").click()
    server.push(triple("ben", 2), 1100)
    page.wait_for_timeout(600)
    expect(page.get_by_role("row", name=":ben 2")).to_have_count(0)
    page.get_by_role("button", name="Resume").click()
    expect(page.get_by_role("row", name=":ben 2")).to_be_visible()


def test_answers_are_sorted_and_filtered(page: Page, server: ConsoleServer) -> None:
    watch(page, server)
    for name, value in (("b", 9), ("a", 10), ("c", 1)):
        integer = f'"{value}"^^<http://www.w3.org/2001/XMLSchema#integer>'
        server.push(f"<http://e/{name}> <http://e/p> {integer} .", 1000)
    cells = page.locator(".space .number")
    expect(cells).to_have_text(["1", "10", "9"])
    header = page.get_by_role("button", name="y")
    header.click()
    expect(cells).to_have_text(["1", "9", "10"])
    header.click()
    expect(cells).to_have_text(["10", "9", "1"])
    expect(page.get_by_role("columnheader", name="y")).to_have_attribute("aria-sort", "descending")
    page.get_by_label("Filter the answers").fill(":b")
    expect(cells).to_have_text(["9"])


def test_answers_are_text_whatever_they_look_like(page: Page, server: ConsoleServer) -> None:
    watch(page, server)
    server.push('<http://e/x> <http://e/p> "<img src=x onerror=alert(1)>" .', 1000)
    expect(page.get_by_role("cell", name="<img src=x onerror=alert(1)>")).to_be_visible()
    assert page.locator("#app img").count() == 0


def test_answers_are_exported(page: Page, server: ConsoleServer) -> None:
    watch(page, server)
    server.push(triple("ann", 1), 1000)
    expect(page.get_by_role("row", name=":ann 1")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_label("Export the answers").select_option("csv")
    assert download.value.suggested_filename == "seen.csv"
    assert download.value.path().read_text() == "x,y\nhttp://e/ann,1\n"


def test_one_can_do_without_a_mouse(page: Page, server: ConsoleServer) -> None:
    write(page, HOT)
    expect(page.locator(".verdict")).to_have_text("SELECT CHANGES ?x ?y")
    # Tab leaves the editor, and so does not hold anybody in it.
    page.keyboard.press("Tab")
    assert not page.evaluate("document.activeElement.closest('.editor') !== null")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Control+Enter")
    expect(page.locator("footer")).to_contain_text("live")
    page.get_by_role("tab", name="Table").focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("tab", name="Changes")).to_be_focused()
    expect(page.get_by_role("table", name="Changes of the answers")).to_be_visible()


@pytest.mark.parametrize(("output", "shown"), [("istream", [":b", ":a"]), ("rstream", [":b"]), ("dstream", [":a"])])
def test_each_output_is_shown_as_what_it_is(page: Page, server: ConsoleServer, output: str, shown: list[str]) -> None:
    watch(page, server, SEEN.replace("CHANGES", output.upper()))
    server.push(triple("a", 1), 1000)
    server.push(triple("b", 1), 2500)
    expect(page.locator(".space .row:not(.leaving) .uri")).to_have_text(shown)


def test_a_query_that_is_changed_runs_anew_under_its_name(page: Page, server: ConsoleServer) -> None:
    watch(page, server)
    expect(page.get_by_role("button", name="Run anew")).to_be_disabled()
    write(page, HOT.replace("?x ?y", "?y"))
    page.get_by_role("button", name="Run anew").click()
    expect(page.locator(".row.head")).to_have_text("y")
    server.push(triple("ann", 1), 1000)
    expect(page.get_by_role("row", name="1")).to_be_visible()
    assert [query["name"] for query in server.http.get("/queries").json()["queries"]] == ["seen"]


def test_an_example_is_one_click_away_and_stops(page: Page, server: ConsoleServer) -> None:
    page.get_by_role("button", name="Averages by room").click()
    expect(page.get_by_role("heading", name="averages")).to_be_visible()
    expect(page.locator(".space .row")).not_to_have_count(0)
    page.get_by_role("tab", name="Chart").click()
    expect(page.locator(".plot canvas")).to_be_visible()
    expect(page.locator(".u-legend").get_by_text(":kitchen")).to_be_visible()
    page.get_by_role("button", name="Stop pushing").click()
    expect(page.locator(".feed")).to_have_count(0)
    pushed = server.http.get("/streams").json()["streams"][0]["elements"]
    page.wait_for_timeout(500)
    assert server.http.get("/streams").json()["streams"][0]["elements"] - pushed <= 1


def test_triples_are_shown_as_a_graph(page: Page, server: ConsoleServer) -> None:
    watch(page, server, SEEN.replace("SELECT CHANGES ?x ?y", "CONSTRUCT CHANGES { ?x :to ?y }"))
    server.push("<http://e/a> <http://e/p> <http://e/b> .", 1000)
    page.get_by_role("tab", name="Graph").click()
    network = page.get_by_role("img", name="A graph of 2 nodes and 1 edges")
    expect(network).to_be_visible()
    expect(network.locator(".node text")).to_have_text([":a", ":b"])
    expect(network.locator(".edge text")).to_have_text(":to")
