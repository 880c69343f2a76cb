"""`query.live()`: the widget follows the answers of a query, and its page shows them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from playwright.sync_api import Page, expect

import millstream as ms
from tests.console.browser import set_up
from tests.console.server import SEEN, ConsoleServer
from tests.server.serving import STREAM, triple, until


@pytest.fixture(autouse=True, scope="module")
def _built() -> None:
    set_up()


def values(widget: Any) -> list[str]:
    found = json.loads(widget.notification)["addedResults"]["results"]["bindings"]
    return [row["y"]["value"] for row in found]


def test_the_widget_follows_the_answer_set_and_takes_nothing() -> None:
    engine = ms.Engine()
    query = engine.register(SEEN)
    widget = query.live()
    assert values(widget) == []
    engine.push(STREAM, triple("a", 1), 1000)
    until(lambda: values(widget) == ["1"])
    engine.push(STREAM, triple("a", 2), 2500)
    until(lambda: values(widget) == ["2"])
    assert [answer.weight for answer in query.take()] == [1, -1, 1]
    query.close()
    until(lambda: widget.ended)


def test_triples_and_truths_are_shown_too() -> None:
    engine = ms.Engine()
    made = engine.register(SEEN.replace("SELECT CHANGES ?x ?y", "CONSTRUCT CHANGES { ?x :to ?y }")).live()
    asked = engine.register(SEEN.replace("SELECT CHANGES ?x ?y", "ASK CHANGES")).live()
    assert json.loads(made.notification)["addedResults"]["head"]["vars"] == ["subject", "predicate", "object"]
    assert json.loads(asked.notification)["addedResults"]["results"]["bindings"][0]["boolean"]["value"] == "false"


def test_the_page_of_the_widget_shows_what_comes_and_goes(page: Page, server: ConsoleServer) -> None:
    engine = ms.Engine()
    query = engine.register(SEEN)
    widget = query.live()
    page.evaluate(
        """async ([prefixes, notification]) => {
            const { default: widget } = await import("/page/live.js");
            const state = window.state = { prefixes, notification, ended: false };
            const heard = window.heard = {};
            const on = (event, told) => { heard[event] = told; };
            const model = { get: name => state[name], on, off: event => delete heard[event] };
            const el = document.createElement("div");
            el.id = "widget";
            document.body.append(el);
            window.end = widget.render({ model, el });
        }""",
        [widget.prefixes, widget.notification],
    )
    shown = page.locator("#widget")
    expect(shown.get_by_text("No answers yet.")).to_be_visible()

    def tell() -> None:
        page.evaluate("text => { state.notification = text; heard['change:notification'](); }", widget.notification)

    engine.push(STREAM, triple("a", 1), 1000)
    until(lambda: values(widget) == ["1"])
    tell()
    expect(shown.get_by_role("row", name=":a 1")).to_have_class("row new")
    engine.push(STREAM, triple("b", 2), 2500)
    until(lambda: values(widget) == ["2"])
    tell()
    expect(shown.get_by_role("row", name=":a 1")).to_have_class("row leaving")
    expect(shown.get_by_role("row", name=":b 2")).to_be_visible()
    page.evaluate("state.ended = true; heard['change:ended']()")
    expect(shown.get_by_text("The query is closed.")).to_be_visible()
    page.evaluate("end()")
    expect(shown.get_by_role("table")).to_have_count(0)
