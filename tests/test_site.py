"""Links of pages, as the project has them, become links of the site."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from docs.making.site import DOCS, OUTSIDE, ROOT, relinked

PAGES = {"index.md", "engine.md", "how-to/README.md", "how-to/csv-in.md", *OUTSIDE.values()}


@pytest.mark.parametrize(
    ("page", "uri", "text", "becomes"),
    [
        ("README.md", "index.md", "[e](docs/engine.md#x)", "[e](engine.md#x)"),
        ("README.md", "index.md", "[![t](../../actions/a.svg)](../../actions/a)", ""),
        ("README.md", "index.md", "[Apache](LICENSE)", "Apache"),
        ("docs/engine.md", "engine.md", "[how](../ARCHITECTURE.md)", "[how](project/architecture.md)"),
        ("docs/how-to/csv-in.md", "how-to/csv-in.md", "[start](../../README.md)", "[start](../index.md)"),
        ("docs/how-to/csv-in.md", "how-to/csv-in.md", "[all](README.md), [here](#a)", "[all](README.md), [here](#a)"),
        ("ARCHITECTURE.md", "project/architecture.md", "[e](docs/engine.md)", "[e](../engine.md)"),
        ("docs/engine.md", "engine.md", "[`ms.x`](https://example.org/#a)", "[`ms.x`](https://example.org/#a)"),
        ("docs/engine.md", "engine.md", r"| `a \| b` | [c \| d](#e) |", r"| `a | b` | [c \| d](#e) |"),
        ("docs/engine.md", "engine.md", "```sparql refused\n[a](b.md)\n```", "```sparql\n[a](b.md)\n```"),
    ],
)
def test_a_link_is_that_of_the_site(page: str, uri: str, text: str, becomes: str) -> None:
    assert relinked(text, ROOT / page, uri, PAGES.__contains__) == becomes


def test_pages_from_elsewhere_are_there() -> None:
    assert [name for name in OUTSIDE if not (ROOT / name).exists()] == []
    assert [uri for uri in OUTSIDE.values() if (DOCS / uri).exists()] == []


def test_the_site_is_built_without_a_warning_and_loads_nothing_from_elsewhere(tmp_path: Path) -> None:
    pytest.importorskip("material", reason="the extra docs is not installed")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, env=environment)
    assert (done.returncode, done.stderr) == (0, "")
    loaded = re.compile(r'<(?:script|img|iframe)[^>]* src="(?:https?:)?//|<link[^>]*stylesheet[^>]* href="(?:https?:)?//')
    pages = list(tmp_path.rglob("*.html"))
    assert len(pages) > 80
    assert [page.name for page in pages if loaded.search(page.read_text("utf-8"))] == []
