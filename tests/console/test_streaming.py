"""A subscription survives its server, and thousands of changes a second do not freeze the page."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.console.browser import visit
from tests.console.server import SEEN, ConsoleServer
from tests.server.serving import triple

RATE, SECONDS, PUSHES = 10_000, 10, 10
"""Changes a second, how long, and in how many requests a second."""


def log(page: Page) -> list[tuple[str, str]]:
    """The changes that the page has seen, oldest first."""
    rows = page.locator(".space .row").evaluate_all(
        "rows => rows.map(row => [row.querySelector('.sign').textContent, row.querySelector('.literal').textContent])"
    )
    return [(sign, value) for sign, value in reversed(rows)]


def test_after_the_server_was_killed_it_goes_on_without_loss(browser: Browser, tmp_path: Path) -> None:
    server = ConsoleServer(tmp_path, "--state", "state")
    try:
        with visit(browser) as page:
            page.goto(server.link)
            server.register(SEEN, "seen")
            page.goto(f"{server.url}/#/q/seen")
            page.get_by_role("tab", name="Changes").click()
            expect(page.locator("footer")).to_contain_text("live")
            server.push(triple("a", 1), 1000)
            server.push(triple("a", 2), 1500)
            expect(page.locator(".space .row")).to_have_count(2)
            server.kill()
            expect(page.get_by_text("Trying again; nothing will be left out.")).to_be_visible()
            server.start_again()
            # It happens before the page is there again, or after: nobody knows, and it must not matter.
            for value in range(3, 8):
                server.push(triple("a", value), 500 * value + 500)
            expect(page.locator("footer")).to_contain_text("live")
            expect(page.locator(".space .row")).to_have_count(12)
            assert sorted(log(page)) == sorted([("+", str(n)) for n in range(1, 8)] + [("−", str(n)) for n in range(1, 6)])
            expect(page.get_by_test_id("size")).to_have_text("2 answers")
    finally:
        server.stop()


@pytest.mark.slow
def test_ten_thousand_changes_a_second_do_not_freeze_the_page(
    browser: Browser, server: ConsoleServer, capsys: pytest.CaptureFixture[str]
) -> None:
    each = RATE // PUSHES // 2
    total = each * PUSHES * SECONDS

    def feed() -> None:
        began = time.monotonic()
        for push in range(PUSHES * SECONDS):
            lines = "\n".join(triple(f"s{each * push + k}", k) for k in range(each))
            server.push(lines, 1000 + 1000 // PUSHES * push, element="line")
            time.sleep(max(0.0, began + (push + 1) / PUSHES - time.monotonic()))

    with visit(browser) as page:
        page.goto(server.link)
        server.register(SEEN, "seen")
        page.goto(f"{server.url}/#/q/seen")
        expect(page.locator("footer")).to_contain_text("live")
        page.evaluate(
            """() => {
                window.tasks = [];
                const seen = list => tasks.push(...list.getEntries().map(task => task.duration));
                const observer = new PerformanceObserver(seen);
                observer.observe({type: "longtask"});
            }"""
        )
        pushing = threading.Thread(target=feed)
        pushing.start()
        # One can go on working meanwhile.
        for tab in ("Changes", "Chart", "Table", "Changes", "Table"):
            page.wait_for_timeout(1000 * SECONDS / 6)
            page.get_by_role("tab", name=tab).click()
            expect(page.get_by_role("tab", name=tab)).to_have_attribute("aria-selected", "true")
        page.get_by_label("Filter the answers").fill(f":s{total - 1}")
        pushing.join(120)
        expect(page.get_by_role("row", name=f":s{total - 1}")).to_be_visible()
        # Those of the last second, whose time has not come.
        expect(page.get_by_test_id("size")).to_have_text(f"{each * PUSHES:,} answers")
        tasks = page.evaluate("tasks.slice()")
        # The measure measures: a long task is seen.
        page.evaluate("setTimeout(() => { const ends = performance.now() + 100; while (performance.now() < ends); })")
        page.wait_for_function(f"tasks.length > {len(tasks)}")
    with capsys.disabled():
        rate, longest = 2 * each * PUSHES, max(tasks, default=0)
        print(f"\nconsole, {rate} changes/s for {SECONDS} s: longest task {longest:.0f} ms, {len(tasks)} above 50 ms")
