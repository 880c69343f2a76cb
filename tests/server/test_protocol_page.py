"""What the page of the protocol types into a shell gives what is shown."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import httpx
import pytest

from millstream.server.http.openapi import described
from millstream.server.limits import ServerLimits
from millstream.server.settings import _PLAIN
from tests.server.serving import serving
from tests.test_documentation import ROOT, blocks_of

PROTOCOL, OPERATE = ROOT / "docs" / "protocol.md", ROOT / "docs" / "operate.md"


def typed(page: Path) -> Iterator[tuple[str, str]]:
    """Commands with what they print; lines after the first begin with `> `."""
    for block in blocks_of(page):
        if block.kind == "shell":
            for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
                lines = part.split("\n")
                more = next((place for place, line in enumerate(lines[1:], 1) if not line.startswith("> ")), len(lines))
                yield "\n".join([lines[0], *(line[2:] for line in lines[1:more])]), "\n".join(lines[more:])


def test_the_commands_of_the_page_give_what_is_shown(tmp_path: Path) -> None:
    if shutil.which("curl") is None:
        pytest.skip("curl is not installed")
    with serving({"one_offs": 1}) as server:
        env = {**os.environ, "URL": server.url, "AUTH": f"Authorization: {server.headers['Authorization']}"}
        for command, shown in typed(PROTOCOL):
            # curl ends with 28 when it was told to stop listening.
            found = subprocess.run(
                ["bash", "-c", command], env=env, cwd=tmp_path, capture_output=True, text=True, timeout=60
            )
            assert found.returncode in (0, 28), found.stderr
            assert found.stdout == shown, command


def test_all_limits_and_settings_are_documented() -> None:
    page = OPERATE.read_text("utf-8")
    for name in (*(field.name for field in fields(ServerLimits)), *_PLAIN):
        assert f"`{name}`" in page, name


def test_the_settings_that_are_shown_are_read() -> None:
    [shown] = [block for block in blocks_of(OPERATE) if block.kind == "toml"]
    assert set(tomllib.loads(shown.text)) - {"streams", "datasets", "queries", "limits"} <= set(_PLAIN)


def test_the_description_has_every_path_and_method_of_the_server() -> None:
    with serving() as server:
        routes = server.server._uvicorn.config.app.routes  # type: ignore[union-attr]
        served = {(route.path, method.lower()) for route in routes for method in route.methods - {"HEAD"}}
        paths = {(path, method) for path, methods in described()["paths"].items() for method in methods}
        assert served - paths == {("/", "get"), ("/page/{file}", "get"), ("/sparql/", "get"), ("/sparql/", "post")}
        assert paths <= served
        assert server.http.get("/openapi.json").json() == described()
        # The link that is printed leads somewhere.
        assert "/queries/{name}/events" in httpx.get(server.server.url).text


def test_the_table_of_paths_is_that_of_the_description() -> None:
    page = PROTOCOL.read_text("utf-8")
    for path in described()["paths"]:
        assert path.replace("{name}", "NAME") in page
