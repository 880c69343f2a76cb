"""`millstream serve` and `millstream watch` as people type them."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

from millstream.cli.main import app
from millstream.client import Client
from millstream.errors import OptionError
from millstream.server.settings import read_settings
from tests.server.serving import PATIENCE_S, PROGRAM, ROOMS, SEEN, STREAM, Process, serving, triple, values

CONFIG = """
state = "state"
lateness = "1s"
[[datasets]]
path = "rooms.ttl"
[queries.rooms]
file = "rooms.rq"
output = "changes"
[limits]
one_offs = 0
"""


def failed(*arguments: str) -> str:
    """What a command says that ends with the code of wrong usage."""
    found = CliRunner().invoke(app, arguments)
    assert (found.exit_code, type(found.exception)) == (2, SystemExit), found.output
    return found.stderr


def configured(folder: Path) -> None:
    (folder / "serve.toml").write_text(CONFIG)
    (folder / "rooms.rq").write_text(ROOMS)
    (folder / "rooms.ttl").write_text("<http://e/ann> <http://e/in> <http://e/lab> .")


def test_a_server_begins_with_its_settings_and_goes_on_with_its_state(tmp_path: Path) -> None:
    configured(tmp_path)
    server = Process("serve.toml", cwd=tmp_path)
    with Client(server.url) as client:
        assert values(client.answers("rooms")) == [("ann", "lab")]
        client.update("INSERT DATA { <http://e/ben> <http://e/in> <http://e/hall> }")
    assert server.stop() == 0
    assert "stopped: everything acknowledged is kept" in "".join(server.said)
    # The data set is that of the state, and the link is the same.
    (tmp_path / "rooms.ttl").write_text("<http://e/cleo> <http://e/in> <http://e/lab> .")
    again = Process("serve.toml", cwd=tmp_path)
    assert again.url.partition("?")[2] == server.url.partition("?")[2]
    with Client(again.url) as client:
        assert values(client.answers("rooms")) == [("ann", "lab"), ("ben", "hall")]
    assert again.stop() == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["none.toml"], "cannot be read"),
        (["--port", "99999"], "port"),
        (["--host", "256.1.1.1"], "cannot listen"),
        (["--query", "hot"], "NAME=FILE"),
        (["--query", "a/b=rooms.rq"], "letters"),
        (["--stream", "http://e/a=-"], "standard input"),
        (["--dataset", "none.ttl"], "no such file"),
        (["--lateness", "soon"], "--lateness"),
        (["--token-file", "none"], "cannot be read"),
    ],
)
def test_settings_that_cannot_be_end_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], said: str
) -> None:
    configured(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert said in failed("serve", "--port", "0", *arguments)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("prot = 7", "prot"),
        ('port = "7"', "port is a int"),
        ("lateness = 'soon'", "duration"),
        ("[limits]\nquerys = 5", "querys"),
        ("[queries.x]\nfile = 'none.rq'", "none.rq"),
        ("[queries.x]", "file or a text"),
        ("[streams.'http://e/a']\ntime = 'prov'", "path"),
        ("not toml", "not TOML"),
    ],
)
def test_a_file_of_settings_that_means_nothing_is_refused_with_its_place(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "serve.toml").write_text(text)
    with pytest.raises(OptionError, match=r"serve\.toml") as found:
        read_settings(tmp_path / "serve.toml")
    assert said in str(found.value)


def test_a_damaged_state_is_told_with_its_place(tmp_path: Path) -> None:
    configured(tmp_path)
    with serving(state=tmp_path / "state"):
        pass
    [snapshot] = (tmp_path / "state").glob("snapshot-*")
    snapshot.write_bytes(snapshot.read_bytes()[:-10])
    assert snapshot.name in failed("serve", str(tmp_path / "serve.toml"), "--port", "0")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_watch_shows_answers_as_they_come_and_closes_its_query(tmp_path: Path, number: int) -> None:
    (tmp_path / "seen.rq").write_text(SEEN)
    with serving() as server:
        watching = subprocess.Popen(
            [PROGRAM, "watch", server.server.url, "seen.rq"], cwd=tmp_path, stdout=subprocess.PIPE, text=True, env=os.environ
        )
        assert watching.stdout is not None
        with server.client() as client:
            while not any(query["subscribers"] for query in client.queries()):
                pass
            client.push(STREAM, triple("a", 1), 5)
            assert watching.stdout.readline() == "5\t+1\thttp://e/a\t1\n"
            client.push(STREAM, triple("b", 1), 1500)
            assert watching.stdout.readline() == "1005\t-1\thttp://e/a\t1\n"
            watching.send_signal(number)
            assert watching.wait(PATIENCE_S) == 130
            watching.stdout.close()
            assert client.queries() == []


def test_watch_says_what_is_wrong() -> None:
    with serving() as server:
        assert "cannot be read" in failed("watch", server.server.url, "nothing")
        assert "token" in failed("watch", server.url, "nothing")
    assert "reached" in failed("watch", server.server.url, "nothing")
    assert "address" in failed("watch", "here", "nothing")
