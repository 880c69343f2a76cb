"""What the console asks of a server: texts are checked, streams listed, words given to complete, the page served."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from millstream.server.routes import page
from tests.server.serving import SEEN, STREAM, Serving, serving, triple


@pytest.fixture(scope="module")
def server() -> Iterator[Serving]:
    with serving() as found:
        found.register(SEEN, "seen")
        yield found


def test_a_text_that_is_a_query_is_explained_and_not_registered(server: Serving) -> None:
    found = server.http.post("/check", content=SEEN).json()
    assert found["ok"]
    assert (found["form"], found["output"], found["variables"]) == ("SELECT", "changes", ["x", "y"])
    assert found["streams"] == [STREAM]
    assert "match in window :a [RANGE 1s]" in found["explain"]
    assert [query["name"] for query in server.http.get("/queries").json()["queries"]] == ["seen"]


def test_an_error_has_its_place_and_what_was_meant(server: Serving) -> None:
    found = server.http.post("/check", content="SELECT * {\n STREAM <http://e/ä> [RANGE 10s STEPP 5s] { ?x a ?y } }")
    assert found.status_code == 200
    error = found.json()["error"]
    assert (error["line"], error["column"], error["length"]) == (2, 33, 5)
    assert error["suggestion"] == "did you mean STEP?"


def test_what_cannot_run_is_an_error_too(server: Serving) -> None:
    found = server.http.post("/check", content="SELECT * { STREAM ?s [NOW] { ?x ?p ?y } }").json()
    assert not found["ok"]
    assert "one block a stream" in found["error"]["message"]


def test_what_is_accepted_leniently_is_a_warning_with_its_place(server: Serving) -> None:
    found = server.http.post("/check", content="SELECT ?x WHERE { STREAM <s> [RANGE 5 sec] { ?x <p> ?y } }").json()
    [warning] = found["warnings"]
    assert (warning["line"], warning["column"], warning["suggestion"]) == (1, 37, "RANGE 5s")


@pytest.mark.parametrize("body", [b"\xff\xfe", b"", b"\x00", b"{" * 20_000])
def test_any_bytes_can_be_checked(server: Serving, body: bytes) -> None:
    found = server.http.post("/check", content=body)
    assert found.status_code == 400 or not found.json()["ok"]


def test_a_text_that_is_too_long_is_refused() -> None:
    with serving({"query_bytes": 100}) as server:
        assert server.http.post("/check", content="#" * 101).status_code == 413


def test_streams_are_listed_with_what_was_set_aside() -> None:
    with serving() as server:
        server.register(SEEN, "seen")
        assert server.http.get("/streams").json()["streams"][0]["elements"] == 0
        server.push(triple("a", 1), 1000)
        server.push(triple("a", 2), 500)
        server.push(triple("b", 3), 2000, "http://e/other")
        found = server.http.get("/streams").json()
        assert (found["watermark_ms"], found["lateness_ms"]) == (2000, 0)
        ours, other = found["streams"]
        assert (ours["iri"], ours["queries"], ours["elements"], ours["late"]) == (STREAM, ["seen"], 1, 1)
        assert ours["reasons"][0]["reason"].startswith("late: its time is 500 ms")
        assert ours["elements_per_second"] > 0
        assert (other["queries"], other["elements"], other["reasons"]) == ([], 1, [])


def test_words_and_iris_are_there_to_complete() -> None:
    with serving() as server:
        server.register(SEEN, "seen")
        server.update("INSERT DATA { <http://e/x> a <http://e/Room> ; <http://e/floor> 5 }")
        server.update('INSERT DATA { GRAPH <http://e/g> { <a:b> <a:c> "d" } }')
        found = server.http.get("/vocabulary").json()
        assert {"STREAM", "TUMBLING", "WHERE"} <= set(found["keywords"])
        assert "STRLEN" in found["functions"]
        assert "MEDIAN" in found["aggregates"]
        assert {STREAM, "http://e/Room", "http://e/floor", "http://e/g", "a:c"} <= set(found["iris"])
        assert not {"http://e/x", "a:b"} & set(found["iris"])


BROWSER = {"Accept": "text/html,application/xhtml+xml"}


def test_browsers_get_the_page_under_a_strict_policy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "FOLDER", tmp_path)
    (tmp_path / "index.html").write_text('<script nonce="NONCE"></script>')
    (tmp_path / "console-1.js").write_text("run()")
    (tmp_path / "secret.txt").write_text("secret")
    with serving() as server:
        first, second = (httpx.get(server.url, headers=BROWSER) for _ in range(2))
        policy = first.headers["Content-Security-Policy"]
        nonce = policy.partition("nonce-")[2].partition("'")[0]
        assert first.text == f'<script nonce="{nonce}"></script>'
        assert first.text != second.text
        assert "default-src 'none'" in policy
        assert "script-src 'self';" in policy
        script = httpx.get(f"{server.url}/page/console-1.js")
        assert (script.text, script.headers["Content-Type"]) == ("run()", "text/javascript; charset=utf-8")
        assert "immutable" in script.headers["Cache-Control"]
        for path in ("secret.txt", "index.html", "none.js", "..%2Fpage.py", "%2e%2e", "..%5Cx.js"):
            assert httpx.get(f"{server.url}/page/{path}").status_code == 404


def test_without_a_page_browsers_are_told_how_to_build_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "FOLDER", tmp_path)
    with serving() as server:
        found = httpx.get(server.url, headers=BROWSER)
        assert "make console" in found.text
        assert "/queries/{name}/events" in found.text
