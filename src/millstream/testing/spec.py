"""Reads a SPEC, the text form of a timeline.

A statement is a line and the indented lines behind it; `#` begins a comment. First what there is:

    prefix : <http://example.org/>
    query hot.rq                      # or the text of the query in indented lines
    dataset rooms.ttl                 # or `dataset :graph`, a file or indented Turtle behind it
    lateness 5s                       # as t0 and output, if they are not the engine's own

Then what comes, in the order it comes in, and what is expected, anywhere:

    at 0s push :readings  :s1 :shows 35 .
    at 3s insert :s3 :in :lab .       # `insert into :graph`, `delete from :graph` for a named graph
    at 9s advance
    expect at 0s +1 ?room=:lab ?degrees=35
    expect nothing until 9s
    expect late 1
    finish
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from millstream.errors import DataError, QueryError
from millstream.language.algebra import Form
from millstream.testing.notation import given_text, iri_of, time_ms
from millstream.testing.statements import Statement, Text, bindings, statements
from millstream.testing.timeline import Timeline, checked_output

_WEIGHT = re.compile(r"([+-][0-9]{1,9})(?=\s|$)\s*")
_HEADER = ("prefix", "query", "dataset", "lateness", "t0", "output")


def read_spec(source: str | os.PathLike[str]) -> Timeline:
    """The timeline that a SPEC means, a file or its text; what is wrong with it is a DataError with line and column.

    Files that it names are looked for beside it.
    """
    text, path = given_text(source)
    return _Reader(text, "<spec>" if path is None else str(path), Path() if path is None else path.parent).timeline


def check(spec: str | os.PathLike[str], engine: str = "embedded") -> None:
    """Raises AssertionError, with the timeline drawn, unless exactly the answers come that a SPEC expects.

    It is a file or its text; a string of one word is a file.
    """
    read_spec(spec).check(engine)


class _Reader:
    def __init__(self, text: str, name: str, folder: Path) -> None:
        self.timeline = Timeline(name=name)
        self._folder = folder
        self._expects = False
        for statement in statements(text, name):
            self._read(statement)
        if self.timeline.query is None:
            raise DataError("there is no query: write `query hot.rq`, or `query` and its text, indented", source=name)
        if not self._expects:
            raise DataError("nothing is expected: write `expect at 5s +1 ...`, or `expect nothing`", source=name)

    def _read(self, statement: Statement) -> None:
        keyword = statement.word("a statement")
        word = keyword.text.lower().removeprefix("@")
        if word in _HEADER and (self.timeline.events or self._expects):
            statement.complain(f"`{word}` stands before everything that comes and is expected", keyword)
        if word not in ("prefix", "query", "lateness", "t0", "output") and word in _KNOWN and self.timeline.query is None:
            statement.complain(f"`{word}` before the query; write `query hot.rq` first", keyword)
        match word:
            case "prefix":
                self._prefix(statement)
            case "query":
                self._query(statement)
            case "dataset":
                self._dataset(statement)
            case "lateness" | "t0":
                at = statement.word("a duration such as 5s")
                with statement.placed(at):
                    setattr(self.timeline, f"{word}_ms", _duration_ms(at.text) if word == "lateness" else time_ms(at.text))
                statement.end()
            case "output":
                at = statement.word("changes, istream, dstream or rstream")
                with statement.placed(at):
                    self.timeline.output = checked_output(at.text)
                statement.end()
            case "at":
                self._comes(statement)
            case "expect":
                self._expect(statement)
                self._expects = True
            case "finish":
                statement.end()
                self.timeline.finish()
            case _:
                statement.complain(f"found `{keyword.text}`, expected one of {', '.join(_KNOWN)}", keyword)

    # What there is ----------------------------------------------------------------------------------------------------

    def _prefix(self, statement: Statement) -> None:
        name = statement.word("a prefix such as ex:")
        if not name.text.endswith(":"):
            statement.complain(f"found `{name.text}`, expected a prefix with a colon behind it, such as ex:", name)
        iri = statement.word("an IRI in angle brackets")
        if not re.fullmatch(r"<[^<>\"{}|^`\\\s]*>", iri.text):
            statement.complain(f"found `{iri.text}`, expected an IRI in angle brackets", iri)
        statement.takes(".")
        statement.end()
        self.timeline.prefixes[name.text[:-1]] = iri.text[1:-1]

    def _query(self, statement: Statement) -> None:
        at = self._file(statement) if statement.has_more() else statement.indented()
        if at.text.strip() == "":
            statement.complain("found no query, expected a file, or the text in indented lines", statement.here)
        with statement.placed(at):
            if at.line == statement.line:
                path = self._folder / at.text
                try:
                    self.timeline.add_query(given_text(path)[0])
                except QueryError as error:
                    raise DataError(f"{path}: {error}") from None
            else:
                self.timeline.add_query(at.text)

    def _dataset(self, statement: Statement) -> None:
        graph: str | None = None
        file: Text | None = None
        if statement.has_more():
            first = self._file(statement, ends=False)
            if first.text.startswith("<") or ":" in first.text:
                with statement.placed(first):
                    graph = iri_of(first.padded, self.timeline.prefixes)
                file = self._file(statement) if statement.has_more() else None
            else:
                file = first
                statement.end()
        if file is not None:
            with statement.placed(file):
                path = self._folder / file.text
                if not path.is_file():
                    raise DataError("no such file", source=str(path))
                self.timeline.dataset(path, None if graph is None else f"<{graph}>")
            return
        at = statement.indented()
        if not at.text.strip():
            statement.complain("found no triples, expected a file, or Turtle in indented lines", statement.here)
        with statement.placed(at):
            self.timeline.dataset(at.text, None if graph is None else f"<{graph}>")

    def _file(self, statement: Statement, *, ends: bool = True) -> Text:
        found = statement.word("a file")
        if ends:
            statement.end()
        return Text(found.text.strip('"'), found.line, found.column)

    # What comes -------------------------------------------------------------------------------------------------------

    def _comes(self, statement: Statement) -> None:
        at = statement.word("a time such as 5s")
        with statement.placed(at):
            at_ms = time_ms(at.text)
        call = statement.word("push, insert, delete or advance")
        match call.text.lower():
            case "push":
                stream = statement.word("a stream such as :readings")
                with statement.placed(stream):
                    iri = f"<{iri_of(stream.padded, self.timeline.prefixes)}>"
                triples = statement.rest()
                with statement.placed(triples):
                    self.timeline.push(at_ms, iri, triples.padded)
            case "insert" | "delete" as word:
                graph: str | None = None
                if statement.takes("into" if word == "insert" else "from"):
                    name = statement.word("a graph such as :floorplan")
                    with statement.placed(name):
                        graph = f"<{iri_of(name.padded, self.timeline.prefixes)}>"
                triples = statement.rest()
                if not triples.text.strip():
                    statement.complain("found no triples, expected some in Turtle, as in :s1 :in :lab .", statement.here)
                with statement.placed(triples):
                    (self.timeline.insert if word == "insert" else self.timeline.delete)(at_ms, triples.padded, graph)
            case "advance":
                statement.end()
                with statement.placed(at):
                    self.timeline.advance(at_ms)
            case _:
                statement.complain(f"found `{call.text}`, expected push, insert, delete or advance", call)

    # What is expected -------------------------------------------------------------------------------------------------

    def _expect(self, statement: Statement) -> None:
        what = statement.word("at, nothing or late")
        match what.text.lower():
            case "at":
                at = statement.word("a time such as 5s")
                with statement.placed(at):
                    at_ms = time_ms(at.text)
                found = list(statement.answers())
                if not found:
                    statement.complain("found no answer, expected one such as +1 ?room=:lab", statement.here)
                for answer in found:
                    self._answer(statement, at_ms, answer)
            case "nothing":
                until: int | None = None
                if statement.has_more():
                    if not statement.takes("until"):
                        found_word = statement.word("until")
                        statement.complain(f"found `{found_word.text}`, expected `until`", found_word)
                    at = statement.word("a time such as 9s")
                    with statement.placed(at):
                        until = time_ms(at.text)
                statement.end()
                with statement.placed(what):
                    self.timeline.expect_nothing(until)
            case "late":
                count = statement.word("a number")
                if not re.fullmatch(r"[0-9]{1,9}", count.text):
                    statement.complain(f"found `{count.text}`, expected how many come too late", count)
                statement.end()
                self.timeline.expect_late(int(count.text))
            case _:
                statement.complain(f"found `{what.text}`, expected at, nothing or late", what)

    def _answer(self, statement: Statement, at_ms: int, answer: Text) -> None:
        weight = _WEIGHT.match(answer.text)
        if weight is None or int(weight[1]) == 0:
            statement.complain(f"found `{answer.text.split()[0]}`, expected +1, or -1 where an answer is taken back", answer)
        rest = Text(answer.text[weight.end() :], answer.line, answer.column + weight.end())
        timeline = self.timeline
        match timeline.checked.form:
            case Form.SELECT:
                values = {}
                for name, value in bindings(rest):
                    if not name.text:
                        statement.complain(f"found `{value.text.split()[0]}`, expected ?name=value", value)
                    if name.text in values:
                        statement.complain(f"?{name.text} has a value already", name)
                    with statement.placed(name):
                        timeline.check_variables([name.text])
                    with statement.placed(value):
                        values[name.text] = timeline.term(value.padded)
                with statement.placed(answer):
                    timeline.expect(at_ms, int(weight[1]), **values)
            case Form.ASK:
                word = rest.text.partition("#")[0].strip()
                if word not in ("true", "false"):
                    statement.complain(f"found `{word}`, expected true or false: the query is ASK", rest)
                with statement.placed(answer):
                    timeline.expect(at_ms, int(weight[1]), word == "true")
            case _:
                with statement.placed(rest):
                    timeline.expect(at_ms, int(weight[1]), rest.padded)


def _duration_ms(text: str) -> int:
    if (found := time_ms(text)) < 0:
        raise DataError(f"{text}: it cannot be below 0")
    return found


_KNOWN = (*_HEADER, "at", "expect", "finish")
