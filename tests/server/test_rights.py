"""Who may do what: tokens and their rights, and pages of other origins."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from millstream.errors import OptionError
from millstream.server.http.tokens import Tokens, UnauthorizedError, read_tokens
from tests.server.serving import Serving, serving

READER, WRITER, ADMIN = "reader-0123456789", "writer-0123456789", "admin-0123456789ab"
PATHS = [
    ("GET", "/queries", "read"),
    ("POST", "/queries", "admin"),
    ("GET", "/queries/x", "read"),
    ("DELETE", "/queries/x", "admin"),
    ("GET", "/queries/x/answers", "read"),
    ("GET", "/queries/x/operators", "read"),
    ("GET", "/queries/x/events", "read"),
    ("POST", "/streams?iri=http://e/a", "write"),
    ("GET", "/streams", "read"),
    ("POST", "/check", "read"),
    ("GET", "/vocabulary", "read"),
    ("GET", "/datasets?default", "read"),
    ("PUT", "/datasets?default", "write"),
    ("POST", "/datasets?default", "write"),
    ("DELETE", "/datasets?default", "write"),
    ("POST", "/update", "write"),
    ("GET", "/sparql?query=ASK%7B%7D", "read"),
    ("POST", "/sparql", "read"),
    ("GET", "/metrics", "read"),
]


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    path = tmp_path_factory.mktemp("tokens") / "tokens"
    path.write_text(f"# who\nread {READER}\nwrite {WRITER}\n\nadmin {ADMIN}\n")
    with serving(token_file=path) as found:
        yield found


@pytest.mark.parametrize(("method", "path", "right"), PATHS)
def test_each_path_asks_for_its_right(guarded: Serving, method: str, path: str, right: str) -> None:
    def status(token: str | None) -> int:
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        return httpx.request(method, guarded.url + path, headers=headers).status_code

    assert status(None) == 401
    assert status("nobody-0123456789") == 401
    for token, rights in ((READER, {"read"}), (WRITER, {"write"}), (ADMIN, {"read", "write", "admin"})):
        assert (status(token) == 403) == (right not in rights)


def test_health_needs_no_token_and_tells_nothing(guarded: Serving) -> None:
    assert httpx.get(f"{guarded.url}/health").json() == {"status": "ok"}


def test_a_token_in_the_link_is_for_reading_alone(guarded: Serving) -> None:
    assert httpx.get(f"{guarded.url}/queries?token={READER}").status_code == 200
    assert httpx.delete(f"{guarded.url}/queries/x?token={ADMIN}").status_code == 401


def test_tokens_are_compared_whole() -> None:
    tokens = Tokens([(ADMIN, frozenset({"admin"}))])
    for given in (None, "", ADMIN[:-1], ADMIN + "x", ADMIN.upper(), "\ud800"):
        with pytest.raises(UnauthorizedError):
            tokens.check(given, "read")
    tokens.check(ADMIN, "write")


@pytest.mark.parametrize("text", ["", "read\n", "reed 0123456789abcdef\n", "read short\n", "read 0123456789abcdef more\n"])
def test_a_token_file_that_means_nothing_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "tokens").write_text(text)
    with pytest.raises(OptionError, match="--token-file"):
        read_tokens(tmp_path / "tokens")


def test_pages_of_other_origins_are_not_allowed_in_unless_configured(guarded: Serving) -> None:
    found = httpx.get(f"{guarded.url}/health", headers={"Origin": "https://elsewhere.example"})
    assert "access-control-allow-origin" not in found.headers
    with serving(origins=("https://friend.example",)) as other:
        for origin, allowed in (("https://friend.example", True), ("https://elsewhere.example", False)):
            found = other.http.get("/queries", headers={"Origin": origin})
            assert ("access-control-allow-origin" in found.headers) is allowed
