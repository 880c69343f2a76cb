"""Queries over HTTP: registered, pushed to, looked at, subscribed to, closed."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from millstream.client import Change, Progress
from tests.server.serving import ROOMS, SEEN, STREAM, Serving, serving, triple, until, values


@pytest.fixture(scope="module")
def server() -> Iterator[Serving]:
    with serving() as found:
        yield found


@pytest.fixture
def fresh() -> Iterator[Serving]:
    with serving() as found:
        yield found


def test_a_query_answers_what_is_pushed(fresh: Serving) -> None:
    described = fresh.register(SEEN, "seen")
    assert described["variables"] == ["x", "y"]
    assert fresh.push(triple("a", 1), 5) == {"elements": 1, "late": 0, "rejected": 0, "reasons": []}
    found = fresh.http.get("/queries/seen/answers").json()
    assert values(found["results"]["bindings"]) == [("a", "1")]
    fresh.push(triple("b", 2), 1005)
    assert fresh.http.get("/queries/seen/answers", headers={"Accept": "text/csv"}).text == "x,y\r\nhttp://e/b,2\r\n"


def test_a_subscription_begins_with_a_snapshot_and_goes_on_with_changes(fresh: Serving) -> None:
    fresh.register(SEEN, "seen")
    fresh.push(triple("a", 1), 5)
    with fresh.client() as client:
        changes = client.subscribe("seen")
        first = next(changes)
        assert (first.sequence, first.is_snapshot, first.missed, values(first.added)) == (0, True, False, [("a", "1")])
        fresh.push(triple("b", 2), 500)
        second = next(changes)
        assert (second.sequence, second.at_ms, values(second.added), second.removed) == (1, 500, [("b", "2")], [])
        fresh.push(triple("b", 2), 1200)
        third = next(changes)
        assert (third.at_ms, third.added, values(third.removed)) == (1005, [], [("a", "1")])
        changes.close()


def test_a_subscription_resumes_behind_the_last_event_without_loss_or_repeat(fresh: Serving) -> None:
    fresh.register(SEEN, "seen")
    with fresh.client() as client:
        changes = client.subscribe("seen")
        next(changes)
        fresh.push(triple("a", 1), 5)
        last = next(changes)
        changes.close()
        fresh.push(triple("b", 2), 6)
        fresh.push(triple("c", 3), 7)
        again = client.subscribe("seen", last.id)
        found = [next(again), next(again)]
        assert [(change.sequence, values(change.added)) for change in found] == [(1, [("b", "2")]), (2, [("c", "3")])]
        assert not any(change.is_snapshot for change in found)
        again.close()


def test_operators_are_counted_and_measured_while_somebody_asks(fresh: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    fresh.register(SEEN, "seen")
    fresh.push(triple("a", 1), 5)
    before = fresh.http.get("/queries/seen/operators").json()
    assert before["operators"] == {
        "label": "conjunction 1: ?x ?y",
        "detail": "1 pattern",
        "changes": 1,
        "stored": 1,
        "micros": 0.0,
        "inputs": [
            {
                "label": "?x :p ?y",
                "detail": "pairs in window :a [RANGE 1s]",
                "changes": 1,
                "stored": 1,
                "micros": None,
                "inputs": [],
            }
        ],
    }
    fresh.push(triple("b", 2), 6)
    after = fresh.http.get("/queries/seen/operators").json()
    assert after["at_ms"] >= before["at_ms"]
    assert after["operators"]["changes"] == 2
    assert after["operators"]["micros"] > 0
    service = fresh.server._uvicorn.config.app.state.service  # type: ignore[union-attr]
    (query,) = service.worker._state.engine.queries
    monkeypatch.setattr("millstream.server.watching.KEPT_ON_S", 0.05)
    assert fresh.http.get("/queries/seen/operators").json()["operators"]["micros"] > 0
    until(lambda: query.operators().micros is None)
    assert fresh.http.get("/queries/other/operators").status_code == 404


def test_beyond_the_horizon_a_subscription_gets_a_snapshot_that_says_so() -> None:
    with serving({"horizon_events": 2}) as server, server.client() as client:
        server.register(SEEN, "seen")
        changes = client.subscribe("seen")
        first = next(changes)
        changes.close()
        for number in range(4):
            server.push(triple("a", number), number)
        again = client.subscribe("seen", first.id)
        found = next(again)
        assert (found.is_snapshot, found.missed, found.sequence, len(found.added)) == (True, True, 0, 4)
        again.close()


def test_an_id_of_a_query_that_was_closed_means_nothing_to_the_next_of_that_name(fresh: Serving) -> None:
    old = fresh.register(SEEN, "seen")["id"]
    assert fresh.http.delete("/queries/seen").status_code == 204
    fresh.register(SEEN, "seen")
    with fresh.client() as client:
        changes = client.subscribe("seen", old)
        found = next(changes)
        assert found.is_snapshot
        assert found.missed
        changes.close()


def test_the_clock_is_told_to_those_who_wait_for_nothing_else(fresh: Serving) -> None:
    fresh.register(SEEN, "seen")
    with fresh.client() as client:
        changes = client.subscribe("seen", progress=True)
        assert isinstance(next(changes), Change)
        fresh.push(triple("a", 1), 100, stream="http://e/elsewhere")
        assert until(lambda: isinstance(found := next(changes), Progress) and found.at_ms == 100)
        changes.close()


def test_a_subscription_ends_when_its_query_is_closed(fresh: Serving) -> None:
    fresh.register(SEEN, "seen")
    with fresh.client() as client:
        changes = client.subscribe("seen")
        next(changes)
        fresh.http.delete("/queries/seen")
        assert list(changes) == []


def test_who_cannot_keep_up_gets_a_fresh_snapshot_and_holds_nobody_up() -> None:
    with serving({"subscriber_events": 3, "horizon_events": 5}) as server:
        server.register(SEEN.replace("RANGE 1s", "ALL"), "seen")
        with server.http.stream("GET", "/queries/seen/events") as slow:
            lines = slow.iter_lines()
            while not next(lines).startswith("data:"):
                pass
            # Kernels buffer a lot before a connection is full: large events fill it.
            large = "x" * 400_000
            for number in range(40):
                server.push(triple("a", f"{number}{large}"), number)
            notifications = (json.loads(line[6:])["notification"] for line in lines if line.startswith('data: {"noti'))
            found = next(told for told in notifications if told.get("missed"))
            assert found["sequence"] == 0
            assert len(found["addedResults"]["results"]["bindings"]) <= 40
    assert server.server.failed is False


def test_changes_of_datasets_are_events_too(fresh: Serving) -> None:
    fresh.update("INSERT DATA { <http://e/ann> <http://e/in> <http://e/lab> }")
    fresh.register(ROOMS, "rooms")
    with fresh.client() as client:
        changes = client.subscribe("rooms")
        assert values(next(changes).added) == [("ann", "lab")]
        fresh.update(
            "DELETE DATA { <http://e/ann> <http://e/in> <http://e/lab> };"
            "INSERT DATA { <http://e/ann> <http://e/in> <http://e/hall> }"
        )
        found = next(changes)
        assert (values(found.added), values(found.removed)) == ([("ann", "hall")], [("ann", "lab")])
        changes.close()


@pytest.mark.parametrize(
    ("text", "added"),
    [
        ("CONSTRUCT { ?x <http://e/q> ?y } WHERE { STREAM <http://e/a> [ALL] { ?x <http://e/p> ?y } }", [("b", "q", "2")]),
        ("ASK { STREAM <http://e/a> [ALL] { <http://e/b> <http://e/p> ?y } }", [("true",)]),
    ],
    ids=["CONSTRUCT", "ASK"],
)
def test_other_forms_are_told_as_solutions(fresh: Serving, text: str, added: list[tuple[str, ...]]) -> None:
    fresh.register(text, "other", output="changes")
    with fresh.client() as client:
        changes = client.subscribe("other")
        next(changes)
        fresh.push(triple("b", 2), 2)
        assert values(next(changes).added) == added
        changes.close()


def test_the_answers_of_construct_and_ask_are_documents_of_their_kind(fresh: Serving) -> None:
    pattern = "STREAM <http://e/a> [ALL] { ?x <http://e/p> ?y }"
    fresh.register(f"CONSTRUCT {{ ?x <http://e/q> ?y }} WHERE {{ {pattern} }}", "made")
    fresh.register(f"ASK {{ {pattern} }}", "asked")
    fresh.push(triple("a", 1), 1)
    turtle = fresh.http.get("/queries/made/answers", headers={"Accept": "application/n-triples"})
    assert turtle.text == '<http://e/a> <http://e/q> "1" .\n'
    assert fresh.http.get("/queries/asked/answers").json()["boolean"] is True
    xml = fresh.http.get("/queries/asked/answers?format=xml")
    assert "<boolean>true</boolean>" in xml.text
    assert fresh.http.get("/queries/asked/answers", headers={"Accept": "image/png"}).status_code == 406


def test_the_list_tells_of_each_query_how_it_fares(fresh: Serving) -> None:
    fresh.register(SEEN, "seen")
    fresh.push(triple("a", 1), 5)
    [found] = fresh.http.get("/queries").json()["queries"]
    assert (found["name"], found["elements"], found["answers"], found["stored"]) == ("seen", 1, 1, 1)
    assert found["latency_ms"]["p50"] > 0
    assert found["events_per_second"] > 0
    assert "RANGE 1s" in found["explain"]


def test_queries_without_a_name_get_one(server: Serving) -> None:
    found = server.http.post("/queries", content=SEEN, headers={"Content-Type": "application/sparql-query"})
    assert found.status_code == 201
    assert found.headers["Location"] == f"/queries/{found.json()['name']}"
    assert server.http.get(found.headers["Location"]).status_code == 200


@pytest.mark.parametrize(
    ("given", "status", "said"),
    [
        ({"name": "x", "text": "SELECT * {"}, 400, "line 1"),
        ({"name": "a/b", "text": SEEN}, 400, "letters"),
        ({"name": "..", "text": SEEN}, 400, "letters"),
        ({"text": SEEN, "output": "sideways"}, 400, "output"),
        ({"text": 7}, 400, "body"),
        ({"text": SEEN, "nmae": "x"}, 400, "body"),
        ([], 400, "body"),
        ({"text": "SELECT * { SERVICE <http://e/> { ?s ?p ?o } }"}, 400, "SERVICE"),
    ],
)
def test_what_cannot_be_registered_is_refused_with_a_reason(server: Serving, given: object, status: int, said: str) -> None:
    found = server.http.post("/queries", json=given)
    assert found.status_code == status
    assert said in found.json()["error"]


def test_a_name_that_is_taken_or_unknown(server: Serving) -> None:
    server.register(SEEN, "mine")
    assert server.http.post("/queries", json={"name": "mine", "text": SEEN}).status_code == 409
    for path in ("/queries/other", "/queries/other/answers", "/queries/other/events"):
        assert server.http.get(path).status_code == 404
    assert server.http.delete("/queries/other").status_code == 404


def test_late_and_malformed_elements_are_told_with_reasons(fresh: Serving) -> None:
    fresh.push(triple("a", 1), 100)
    late = fresh.push(triple("a", 1), 50)
    assert (late["elements"], late["late"], late["reasons"][0]["reason"].startswith("late")) == (0, 1, True)
    mixed = fresh.push(f"{triple('a', 1)}\nnonsense\n{triple('b', 1)}", 100, element="line")
    assert (mixed["elements"], mixed["rejected"], mixed["reasons"][0]["line"]) == (2, 1, 2)
    nothing = fresh.http.post("/streams", params={"iri": STREAM, "at_ms": 100}, content="nonsense")
    assert nothing.status_code == 400
    assert nothing.json()["rejected"] == 1
