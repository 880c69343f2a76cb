"""Templates that turn rows into stream elements: a small TOML file, read once and compiled to format strings.

    columns = ["id", "seen", "room", "degrees"]      # only for CSV without a header line

    [prefixes]
    "" = "http://example.org/"

    [element]
    time = "seen"                                    # the column with the element's time
    graph = ":reading/{id}"                          # its graph; named by the number of the row unless given
    triples = '''
    :sensor/{id}  :in     :{room}
    :sensor/{id}  :shows  "{degrees}"^^xsd:decimal
    '''

    [times]
    seen = "%d.%m.%Y %H:%M"                          # ms, s, iso (default) or a pattern of strptime, in UTC

Placeholders in IRIs are percent-encoded, `{+column}` puts in an IRI as it is; `{#}` is the number of the row. A triple
with a placeholder whose column is empty is left out.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

from pyoxigraph import RdfFormat, parse

from millstream.errors import OptionError
from millstream.rdf.mapping.cells import ENCODERS, Encoder, datatype_encoder, time_reader

ROW = "#"
_XSD = "http://www.w3.org/2001/XMLSchema#"
_KNOWN_PREFIXES = {
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "xsd": _XSD,
}
_DEFAULT_GRAPH = "<urn:millstream:element:{#}>"
_PLACEHOLDER = re.compile(r"\{(\+?)([^{}]+)\}")
# A placeholder may hold any name, so it comes before what ends a term.
_INSIDE = r"(?:\{[^{}]*\}|[^{}\s<>\"'])"
_TERM = re.compile(
    rf"""(?P<iri><(?:\{{[^{{}}]*\}}|[^{{}}<>"\s])*>)
       | (?P<literal>"(?:\{{[^{{}}]*\}}|\\.|[^"\\{{}}])*")
         (?:@(?P<language>[A-Za-z]+(?:-[A-Za-z0-9]+)*)|\^\^(?P<datatype>{_INSIDE}+|<[^<>\s]*>))?
       | (?P<blank>_:{_INSIDE}+)
       | (?P<name>{_INSIDE}+)""",
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Slot:
    """A place in the text of an element that a cell is put into."""

    column: str
    encode: Encoder


@dataclass(frozen=True, slots=True)
class Pattern:
    """A piece of N-Triples text with places for cells: `%s`, in order."""

    format: str
    slots: tuple[Slot, ...]


@dataclass(frozen=True, slots=True)
class Template:
    """What a row becomes."""

    name: str
    columns: tuple[str, ...] | None
    delimiter: str
    triples: tuple[Pattern, ...]
    graph: Pattern
    time: str | None
    read_time: Callable[[str], int]
    required: tuple[str, ...]
    times: dict[str, str]

    @property
    def used(self) -> frozenset[str]:
        """The columns that rows must have."""
        found = {slot.column for pattern in (*self.triples, self.graph) for slot in pattern.slots} - {ROW}
        return frozenset(found | set(self.required) | ({self.time} if self.time else set()))


def read_template(text: str, name: str = "template") -> Template:
    """A template from its text; OptionError says what is wrong with it."""
    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise OptionError(f"{name}: not TOML: {error}") from None
    return _Compiler(found, name).template()


class _Compiler:
    def __init__(self, found: dict[str, Any], name: str) -> None:
        self._found = found
        self._name = name
        self._check(found, {"columns", "delimiter", "required", "prefixes", "element", "times"}, "")
        self._prefixes = {**_KNOWN_PREFIXES, **self._table("prefixes")}
        self._times = self._table("times")

    def template(self) -> Template:
        found = self._found
        element = self._table("element")
        self._check(element, {"time", "graph", "triples"}, "element.")
        columns = self._names("columns")
        triples = self._triples()
        time = element.get("time")
        try:
            read_time = time_reader(self._times.get(time, "iso") if time else "iso")
        except ValueError as error:
            self._refuse(f"times.{time}: {error}")
        template = Template(
            name=self._name,
            columns=columns,
            delimiter=str(found.get("delimiter", ",")),
            triples=triples,
            graph=self._graph(element.get("graph", _DEFAULT_GRAPH)),
            time=time,
            read_time=read_time,
            required=self._names("required") or (),
            times=self._times,
        )
        if len(template.delimiter) != 1:
            self._refuse(f"delimiter must be one character, got {template.delimiter!r}")
        if columns is not None and (unknown := sorted(template.used - set(columns))):
            self._refuse(f"there is no column {unknown[0]!r} among its columns")
        return template

    def _graph(self, text: str) -> Pattern:
        match = _TERM.fullmatch(text.strip())
        if match is None or match["literal"]:
            self._refuse(f"element.graph: must be one IRI, got {text!r}")
        graph = self._term(match, "element.graph")
        self._try_out(Pattern(f"{graph.format} <x:1> <x:1>", graph.slots), "element.graph", "an IRI")
        return graph

    def _triples(self) -> tuple[Pattern, ...]:
        text = self._table("element").get("triples")
        if text is None:
            self._refuse("element.triples is missing: text with a triple a line")
        found = []
        for number, line in enumerate(text.splitlines(), 1):
            stripped = line.strip().removesuffix(" .")
            if not stripped or stripped.startswith("#"):
                continue
            where = f"triples, line {number}"
            terms = [self._term(match, where) for match in self._split(stripped, where)]
            pattern = Pattern(" ".join(t.format for t in terms), tuple(slot for t in terms for slot in t.slots))
            self._try_out(pattern, where)
            found.append(pattern)
        if not found:
            self._refuse("element.triples has no triple")
        return tuple(found)

    def _split(self, line: str, where: str) -> list[re.Match[str]]:
        found, place = [], 0
        while place < len(line):
            match = _TERM.match(line, place)
            if match is None or not match[0]:
                self._refuse(f"{where}: cannot read {line[place:]!r}")
            found.append(match)
            place = match.end()
            rest = line[place:]
            place += len(rest) - len(rest.lstrip())
        if len(found) != 3:
            self._refuse(f"{where}: a triple has three terms, this has {len(found)}: {line}")
        return found

    def _term(self, match: re.Match[str], where: str) -> Pattern:
        if match["iri"]:
            return _pattern(match["iri"], ENCODERS["iri"])
        if match["blank"]:
            return _pattern(match["blank"], ENCODERS["label"])
        if match["literal"]:
            return self._literal(match, where)
        if match["name"] == "a":
            return Pattern(f"<{_KNOWN_PREFIXES['rdf']}type>", ())
        return _pattern(self._expanded(match["name"], where), ENCODERS["iri"])

    def _literal(self, match: re.Match[str], where: str) -> Pattern:
        body, suffix, encode = match["literal"], "", ENCODERS["literal"]
        if match["language"]:
            suffix = f"@{match['language']}"
        elif match["datatype"]:
            iri = self._expanded(match["datatype"], where)
            suffix = f"^^{iri}"
            # Only a whole value can be checked, or read as a time.
            if _PLACEHOLDER.fullmatch(body[1:-1]):
                encode = datatype_encoder(iri[1:-1].removeprefix(_XSD), self._times.get(body[2:-2]))
        found = _pattern(body, encode)
        return Pattern(found.format + suffix.replace("%", "%%"), found.slots)

    def _expanded(self, name: str, where: str) -> str:
        if name.startswith("<"):
            return name
        prefix, colon, local = name.partition(":")
        if not colon or prefix not in self._prefixes:
            self._refuse(f"{where}: {name!r} is neither an IRI in <> nor a name with one of the prefixes")
        return f"<{self._prefixes[prefix]}{local}>"

    def _try_out(self, pattern: Pattern, where: str, what: str = "a triple") -> None:
        """A triple must be one whatever the cells hold: so it is with some."""
        text = pattern.format % tuple("x:1" if slot.encode is ENCODERS["whole"] else "1" for slot in pattern.slots)
        try:
            list(parse(input=f"{text} .".encode(), format=RdfFormat.N_TRIPLES))
        except (SyntaxError, ValueError) as error:
            self._refuse(f"{where}: not {what}: {error}")

    def _table(self, name: str) -> dict[str, str]:
        found = self._found.get(name, {})
        if not isinstance(found, dict) or not all(isinstance(value, str) for value in found.values()):
            self._refuse(f"{name} must be a table of texts")
        return found

    def _names(self, name: str) -> tuple[str, ...] | None:
        found = self._found.get(name)
        if found is None:
            return None
        if not isinstance(found, list) or not all(isinstance(value, str) for value in found):
            self._refuse(f"{name} must be a list of names")
        return tuple(found)

    def _check(self, found: dict[str, Any], known: set[str], where: str) -> None:
        for name in found:
            if name not in known:
                self._refuse(f"{where}{name} is not known; known are {', '.join(sorted(known))}")

    def _refuse(self, reason: str) -> NoReturn:
        raise OptionError(f"{self._name}: {reason}")


def _pattern(text: str, encode: Encoder) -> Pattern:
    slots: list[Slot] = []

    def slot(match: re.Match[str]) -> str:
        as_it_is = ENCODERS["whole" if text.startswith("<{+") and not slots else "raw"]
        slots.append(Slot(match[2].strip(), as_it_is if match[1] else encode))
        return "%s"

    return Pattern(_PLACEHOLDER.sub(slot, text.replace("%", "%%")), tuple(slots))
