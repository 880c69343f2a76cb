"""One browser for all tests of the console, which therefore stay in one process; a server for each of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.console.server import ConsoleServer

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.parent.name == "console":
            item.add_marker(pytest.mark.xdist_group("console"))


# Not for the session: while it is there, so is an event loop, which tests elsewhere have of their own.
@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    from tests.console.browser import chromium

    with chromium() as found:
        yield found


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ConsoleServer]:
    found = ConsoleServer(tmp_path)
    yield found
    found.stop()


@pytest.fixture
def page(browser: Browser, server: ConsoleServer) -> Iterator[Page]:
    """The console, as the link that the server prints opens it."""
    from tests.console.browser import visit

    with visit(browser) as found:
        found.goto(server.link)
        yield found
