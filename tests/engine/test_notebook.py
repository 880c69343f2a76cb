"""What notebooks show: every fact is there, nothing that data says is markup, and nothing is loaded or run."""

from __future__ import annotations

import pickle
import re
from html.parser import HTMLParser
from typing import Any

from pyoxigraph import Literal

from millstream import Engine
from tests.engine.notation import NAMESPACE, S, nt, over


class Shown(HTMLParser):
    """The texts of a page, and its tags with their attributes; fails if tags do not close in order."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.texts: list[str] = []
        self.rows: list[list[str]] = []
        self._open: list[str] = []
        self.feed(html)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}
        self._open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)
        if self._open and self._open[-1] in ("td", "th"):
            self.rows[-1][-1] += data


def shown(thing: Any) -> Shown:
    html = thing._repr_html_()
    found = Shown(html)
    assert set(found.tags) <= {"div", "b", "pre", "table", "thead", "tbody", "tr", "th", "td"}
    assert found.attributes <= {"style", "title"}
    # Colours of text are the page's own.
    assert not re.search(r"(?<![-\w])color:(?!inherit)", html)
    assert "url(" not in html
    return found


def test_answers_are_a_table_with_what_came_and_went() -> None:
    engine = Engine()
    query = engine.register(over("RANGE 5"), output="changes")
    engine.push(S, nt("a p b"), at_ms=1)
    engine.advance_to(10)
    answers = query.take()
    assert shown(answers).rows == [
        ["at_ms", "", "x", "y"],
        ["1", "+1", f"{NAMESPACE}a", f"{NAMESPACE}b"],
        ["6", "−1", f"{NAMESPACE}a", f"{NAMESPACE}b"],
    ]
    assert shown(query.take()).texts == ["no answers"]


def test_answers_are_still_a_list() -> None:
    engine = Engine()
    query = engine.register(over("ALL"))
    assert query.take() == []
    engine.push(S, nt("a p b"), at_ms=1)
    answers = query.take()
    assert isinstance(answers, list)
    assert answers == [answers[0]]
    assert repr(answers) == f"[{answers[0]!r}]"
    assert pickle.loads(pickle.dumps(answers)) == answers
    engine.push(S, nt("c p d"), at_ms=2)
    query.close()
    assert len(shown(query.take()).rows) == 2


def test_what_data_says_is_text() -> None:
    engine = Engine()
    query = engine.register(over("ALL"))
    nasty = '<script>alert("1")</script>&amp;'
    engine.push(S, [(f"<{NAMESPACE}a>", f"<{NAMESPACE}p>", Literal(nasty))], at_ms=1)
    engine.insert(nt("a p b"), graph="http://example.org/?a=1&lt=2")
    answers = query.take()
    assert shown(answers).rows[1][3] == nasty
    assert "<script" not in answers._repr_html_()
    assert "http://example.org/?a=1&lt=2" in " ".join(shown(engine).texts)
    odd = engine.register(f'PREFIX : <{NAMESPACE}> SELECT * {{ STREAM :s [ALL] {{ ?x :p "<b>&" }} }}')
    assert "<b>&" in "".join(shown(odd).texts)
    assert '"<b>' not in odd._repr_html_()


def test_an_unbound_variable_leaves_its_cell_empty() -> None:
    engine = Engine()
    query = engine.register(over("ALL", more="OPTIONAL { ?y :q ?z }"))
    engine.insert(nt("b q c"))
    engine.push(S, nt("a p b"), at_ms=1)
    engine.push(S, nt("a p d"), at_ms=2)
    assert [row[4] for row in shown(query.take()).rows] == ["z", f"{NAMESPACE}c", ""]


def test_of_many_answers_the_first_are_shown() -> None:
    engine = Engine()
    query = engine.register(over("ALL"))
    for number in range(1234):
        engine.push(S, nt(f"a{number} p b"), at_ms=number)
    found = shown(query.take())
    assert len(found.rows) == 51
    assert found.texts[-1] == "and 1,184 more"


def test_a_query_shows_its_operators_with_their_counts() -> None:
    engine = Engine()
    query = engine.register(over("RANGE 10s", more="FILTER NOT EXISTS { ?y :q ?z }"), output="changes")
    engine.push(S, nt("a p b"), at_ms=1)
    found = shown(query)
    assert found.texts[0] == "SELECT, changes"
    assert found.texts[1] == "elements 1 · kept 1 · stored 1 · answers 1 · pending 1"
    text = query.explain(counts=True)
    assert found.texts[2] == text[text.index("runs as") : text.index("\nconjunction 1\n")]
    query.close()
    assert shown(query).texts == ["SELECT, closed", "answers 1 · pending 1"]


def test_an_engine_shows_streams_datasets_and_queries() -> None:
    engine = Engine()
    assert shown(engine).texts[1:] == ["no streams", "datasets", "triples", "the default graph", "0", "no queries"]
    engine.register(over("ALL"), output="changes")
    engine.insert(nt("a p b", "a p c"), graph=f"{NAMESPACE}g")
    engine.push(S, nt("a p b", "a q c"), at_ms=5)
    engine.push(S, nt("a p b"), at_ms=4)
    found = shown(engine)
    assert found.texts[0] == "engine at 5 ms · late 1 · rejected 0"
    assert [S, "1", "2", "1"] in found.rows
    assert [f"{NAMESPACE}g", "2"] in found.rows
    assert found.rows[-1][1:] == ["changes", "1", "1"]
