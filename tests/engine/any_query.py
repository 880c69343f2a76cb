"""Random queries of the whole language: algebra trees of bounded depth, as text.

What the outside engine and the recommendation see differently is left out, see `tests/reference.py`: terms are IRIs and
numbers of one lexical form each, an order is only asked of numbers, paths of length zero have no constant end, and inside
of EXISTS there is no MINUS, no aggregation and no variable assigned that is outside as well, whose meaning section 18.6
leaves open. Timelines may have literals of other kinds as well, but no times, of which the outside engine knows differences.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from hypothesis import strategies as st

from tests.engine.scenarios import (
    BLANKS,
    GRAPHS,
    NAMESPACE,
    NODES,
    NUMBERS,
    PREDICATES,
    STREAMS,
    VARIABLES,
    Close,
    Register,
    Scenario,
    Session,
    Step,
)

CONSTANTS = [*NODES[:2], "0", "1"]
NAMED = [GRAPHS[1], f"{NAMESPACE}g1"]
USUAL = [*NODES[:2], *NUMBERS[:2]]
ODD = [NODES[2], NUMBERS[2], f"<{NAMED[1]}>"]
"""Terms that come seldom: where there are few, more meet."""
XSD = "http://www.w3.org/2001/XMLSchema#"
TEXTS = ['"n"', '"m"', '""']
BLANK_NODES = [f"_:{label}" for label in BLANKS]
OTHERS = [
    TEXTS,
    ['"n"', '"n"@en', '"n"@de'],
    [f'"{value}"^^<{XSD}double>' for value in ("0.5", "1", "1.5")],
    [f'"{value}"^^<{XSD}decimal>' for value in ("0.5", "1.5")],
    [f'"1.5"^^<{XSD}float>', f'"0"^^<{XSD}double>'],
    [f'"{value}"^^<{XSD}boolean>' for value in ("true", "false")],
    [f'"n"^^<{NAMESPACE}type>', f'"n"^^<{XSD}integer>'],
    BLANK_NODES,
]
"""Terms of other kinds, of which a timeline may have some."""
AGGREGATES = ["COUNT", "COUNT", "SUM", "AVG", "MIN", "MAX", "SAMPLE", "GROUP_CONCAT", "MEDIAN"]
T = TypeVar("T")
OUTPUTS = ["changes", "changes", "istream", "dstream", "rstream", None]

Choose = Callable[[int], int]
"""One of so many, counted from 0; 0 is the simplest."""


class Writer:
    """Whoever makes something up by choosing."""

    def __init__(self, choose: Choose) -> None:
        self.choose = choose

    def one(self, *choices: T) -> T:
        return choices[self.choose(len(choices))]

    def chance(self, one_in: int) -> bool:
        return self.choose(one_in) == one_in - 1

    def size(self, least: int, most: int) -> int:
        return least + self.choose(most - least + 1)

    def some(self, choices: list[T], least: int, most: int) -> list[T]:
        """Different ones of several."""
        places = dict.fromkeys(self.choose(len(choices)) for _ in range(self.size(least, most)))
        return [choices[place] for place in places]


@dataclass(frozen=True)
class Place:
    """What may stand at a place of a query."""

    depth: int
    """How much deeper it may get."""
    graphs: bool = True
    """Whether GRAPH, STREAM and WINDOW may stand there: not inside of one another."""
    exists: bool = False
    """Whether it is inside of EXISTS."""
    every_graph: bool = False
    """Whether it is inside of GRAPH ?g."""

    @property
    def deeper(self) -> Place:
        return replace(self, depth=self.depth - 1)

    @property
    def slices(self) -> bool:
        """Whether LIMIT may stand there, which the engine refuses in the others, and MINUS, which is disputed there."""
        return not self.exists and not self.every_graph


class Author(Writer):
    """Writes one query."""

    streams: Sequence[str] = STREAMS
    """What it may read."""
    slice_one_in = 4
    """How many SELECTs there are to one with LIMIT or OFFSET."""

    def __init__(self, choose: Choose) -> None:
        super().__init__(choose)
        self.number = 0
        self.dialect = self.one("dataset", "cqels", "cqels", "cqels", "csparql", "rspql")
        self.steps_only = self.chance(4)
        self.clauses: list[str] = []

    def fresh(self) -> int:
        self.number += 1
        return self.number

    def window(self) -> str:
        length = self.one(6, 3, 12, 1)
        kinds = ("ALL", "RANGE", "RANGE", "STEP", "SLIDE", "N", "E", "NOW", "EVENT", "LANDMARK", "SESSION")
        match "STEP" if self.steps_only else self.one(*kinds):
            case "RANGE" | "LANDMARK" | "SESSION" as word:
                return f"{word} {length}"
            case "SLIDE":
                return f"RANGE {length} SLIDE {self.size(1, 4)}"
            case "STEP":
                return f"RANGE {length} {self.one('TUMBLING', f'STEP {self.size(1, 4)}')}"
            case "N":
                return f"TRIPLES {self.size(1, 8)}"
            case "E":
                return f"ELEMENTS {self.size(1, 4)}"
            case word:
                return word

    def unused(self, text: str, place: Place) -> str:
        """A variable that is nowhere in a text; inside of EXISTS, nowhere at all."""
        free = [] if place.exists else [v for v in VARIABLES if v not in text]
        return self.one(*free) if free and self.chance(2) else f"?v{self.fresh()}"

    def variables(self, text: str) -> list[str]:
        """Variables to ask for: mostly those in a text."""
        return sorted(set(re.findall(r"\?\w+", text))) or VARIABLES[:1]

    # Terms and expressions --------------------------------------------------------------------------------------------

    def triple(self, blank: str) -> str:
        subject = self.one(*["?a", "?a", "?b"] * 6, *VARIABLES, NODES[0], NODES[1], blank)
        predicate = self.one(*PREDICATES * 16, "?p", "?p", "?a")
        object_ = self.one(*["?d", "?c", "?c", "?b"] * 6, *VARIABLES, NODES[0], "0", blank)
        if subject == object_ and not self.chance(6):
            object_ = "?d"
        return f"{subject} {predicate} {object_}"

    def path(self, depth: int = 2) -> str:
        if depth == 0:
            return self.one(*PREDICATES, *PREDICATES, f"!{PREDICATES[0]}", f"!({PREDICATES[1]}|^{PREDICATES[0]})")
        inner = self.path(depth - 1)
        match self.one("?", "*", "+", "+", "^", "/", "|", "link"):
            case "^":
                return f"^({inner})"
            case "/" | "|" as operator:
                return f"({inner}){operator}({self.path(depth - 1)})"
            case "link":
                return inner
            case sign:
                return f"({inner}){sign}"

    def value(self, names: list[str]) -> str:
        """An expression with any value."""
        one, other = self.one(*names), self.one(*names, "1", "2")
        match self.size(0, 11):
            case 0 | 1:
                return one
            case 2:
                return self.one(*CONSTANTS, TEXTS[0], OTHERS[2][0])
            case 3 | 4:
                return f"({one} {self.one('+', '-', '*')} {other})"
            case 5:
                return f"COALESCE({one}, {other})"
            case 6:
                return f"IF({self.condition(names)}, {one}, {other})"
            case 7:
                return f"BOUND({one})"
            case 8:
                return f"(isNumeric({one}) && isNumeric({other}) && {one} < {other})"
            case 9:
                return f"CONCAT(STR({one}), {self.one('LANG', 'STR')}({other}))"
            case 10:
                return f"{self.one('DATATYPE', 'ABS', 'isLiteral', 'isBlank', 'UCASE')}({one})"
            case _:
                return f"STRLEN(STR({one}))"

    def condition(self, names: list[str]) -> str:
        one = self.one(*names)
        other = self.one(*(n for n in names if n != one)) if {*names} != {one} else one
        match self.size(0, 9):
            case 0 | 1:
                return f"{one} {self.one('!=', '=')} {other}"
            case 2 | 3:
                return f"{self.one('!', '')}(isNumeric({one}) && isNumeric({other}) && {one} {self.one('<', '<=')} {other})"
            case 4:
                return f"{one} {self.one('=', '!=', '<', '>=')} {self.one('1', '2')}"
            case 5:
                return f"{self.one('', '!')}BOUND({one})"
            case 6:
                return f"isIRI({one}) || {self.condition(names)}"
            case 7:
                return f"!({self.condition(names)})"
            case 8:
                return f"{one} {self.one('IN', 'NOT IN')} ({self.one(*CONSTANTS, TEXTS[0])}, {other})"
            case _:
                return f"sameTerm({one}, {self.one(*names, *CONSTANTS)})"

    def test(self, before: str, place: Place) -> str:
        """What FILTER takes."""
        names = self.around(before)
        if place.depth > 0 and self.chance(3):
            word = self.one("EXISTS", "NOT EXISTS")
            inner = replace(place.deeper, exists=True)
            # The outside engine may apply it where another group has bound more: what is not in its own is renamed.
            local, number = set(re.findall(r"\?\w+", before)), self.fresh()
            body = re.sub(r"\?\w+", lambda v: v[0] if v[0] in local else f"{v[0]}_{number}", self.group(inner))
            exists = f"{word} {{ {body} }}"
            match self.size(0, 4):
                case 0:
                    return f"({self.condition(names)} || {exists})"
                case 1:
                    return f"({self.condition(names)} && {exists})"
                case _:
                    return exists
        return f"({self.condition(names)})"

    def aggregate(self, names: list[str], where: str) -> str:
        function = self.one(*AGGREGATES)
        distinct = self.one("", "", "DISTINCT ")
        if function == "COUNT" and self.chance(2):
            # The outside engine tells solutions apart by blank nodes, and the middle of paths, as well.
            return f"COUNT({'' if '_:' in where or ')/(' in where else distinct}*)"
        operand = self.one(*names) if self.chance(2) else self.value(names)
        if function == "COUNT":
            # An error anywhere makes the outside engine give no count.
            operand = f"COALESCE({operand}, 7)"
        elif function in ("MIN", "MAX"):
            # It has an order of its own for literals that no operator compares.
            others = f"IF(isLiteral({operand}) && !isNumeric({operand}), 7, {operand})"
            operand = f"STR({operand})" if self.chance(3) else others
        separator = '; SEPARATOR = "|"' if function == "GROUP_CONCAT" and self.chance(2) else ""
        return f"{function}({distinct}{operand}{separator})"

    # Patterns ---------------------------------------------------------------------------------------------------------

    def triples(self) -> str:
        blank = f"_:x{self.fresh()}"
        return " . ".join(self.triple(blank) for _ in range(self.one(1, 1, 1, 1, 1, 2, 2, 3))) + " ."

    def path_pattern(self, place: Place) -> str:
        path = self.path()
        if "|" in path and place.every_graph:
            path = self.one(*PREDICATES) + "+"
        # The outside engine knows no path of length zero from a term that is not in the graph.
        constants = [] if "?" in path or "*" in path else NODES[:2]
        end = self.one(*VARIABLES, *constants)
        if "|" not in path:
            start = self.one(*VARIABLES, *constants)
            # Between two terms it has one for each last step, where it looks in every graph.
            if place.every_graph and start in constants and end in constants:
                start = self.one(*VARIABLES)
            return f"{start} {path} {end} ."
        # It also drops repeats among alternatives, which DISTINCT does for both; that needs a variable.
        return f"{{ SELECT DISTINCT * {{ {self.one(*VARIABLES)} {path} {end} . }} }}"

    def values(self) -> str:
        names = self.some(VARIABLES, 1, 2)
        terms = [*CONSTANTS, NODES[0], NODES[1], "UNDEF"]
        rows = " ".join(f"({' '.join(self.one(*terms) for _ in names)})" for _ in range(self.one(2, 3, 1, 1, 2, 3, 0)))
        return f"VALUES ({' '.join(names)}) {{ {rows} }}"

    def block(self, place: Place) -> str:
        """GRAPH, STREAM or WINDOW."""
        kind = self.one("window", "window", "window", "graph", "any graph")
        if self.dialect == "dataset" and kind == "window":
            kind = "graph"
        inside = replace(place.deeper, graphs=False, every_graph=kind == "any graph")
        # The outside engine takes no notice of whether a graph is there once something needs no triple of it.
        first = [self.triples()] if "graph" in kind else []
        body = f"{{ {self.group(inside, first)} }}"
        match kind, self.dialect:
            case "graph", _:
                return f"GRAPH <{NAMED[0]}> {body}"
            case "any graph", _:
                # The outside engine gives the variable its value inside at once, where section 18.6 joins with it outside.
                plain = not any(word in body for word in ("OPTIONAL", "MINUS", "FILTER", "BIND", "SELECT", "UNION"))
                return f"GRAPH {self.one(*['?g'] * 6, *(VARIABLES if plain else ()))} {body}"
            case _, "rspql":
                window = f"<{NAMESPACE}w{self.fresh()}>"
                self.clauses.append(f"FROM NAMED WINDOW {window} ON <{self.one(*self.streams)}> [{self.window()}]")
                return f"WINDOW {window} {body}"
            case _:
                return f"STREAM <{self.one(*self.streams)}> [{self.window()}] {body}"

    def element(self, place: Place, before: list[str]) -> str:
        """One part of a group, after others."""
        simple = ["triples", "path", "values", "filter", "bind", "again"]
        nested = ["optional", "optional", "union", "minus", "select", "group", "filter", *["block"] * (2 * place.graphs)]
        inside, text = place.deeper, " ".join(before)
        match self.one(*simple, *(nested * 2 if place.depth > 0 else ())):
            case "again" if before:
                # The same once more, with blank nodes of its own and without what may be bound only once.
                part = self.one(*before)
                number = self.fresh()
                return "" if "AS ?" in part else re.sub(r"_:x(\d+)", rf"_:x\1_{number}", part)
            case "path":
                return self.path_pattern(place)
            case "values":
                return self.values()
            case "filter":
                return f"FILTER {self.test(text, place)}"
            case "bind":
                return f"BIND({self.value(self.around(text))} AS {self.unused(text, place)})"
            case "optional":
                return f"OPTIONAL {{ {self.group(inside)} }}"
            case "union":
                return f"{{ {self.group(inside)} }} UNION {{ {self.group(inside)} }}"
            case "minus" if place.slices:
                return f"MINUS {{ {self.group(inside)} }}"
            case "select" if not place.every_graph:
                # The outside engine forgets which graph it is in.
                return f"{{ {self.select(inside)} }}"
            case "block":
                return self.block(place)
            case "group":
                return f"{{ {self.group(inside)} }}"
            case _:
                return self.triples()

    def around(self, text: str) -> list[str]:
        return [*self.variables(text), *self.variables(text), *VARIABLES]

    def group(self, place: Place, first: Sequence[str] = ()) -> str:
        parts = list(first)
        if not self.chance(12):
            in_block = place.graphs and place.depth > 0 and self.dialect != "csparql" and self.chance(2)
            parts.append(self.block(place) if in_block else self.triples())
        for _ in range(self.size(0, 1) if place.depth == 0 else self.one(1, 1, 2, 2, 3)):
            parts.append(self.element(place, parts))
        return " ".join(parts)

    # Queries ----------------------------------------------------------------------------------------------------------

    def select(self, place: Place, *, outermost: bool = False) -> str:
        where = self.group(place)
        inside = self.variables(where)
        clauses = f"{' '.join(self.clauses)} " if outermost else ""
        if self.chance(3) and not place.exists:
            head, tail, names = self.grouped(where, inside, place)
        else:
            head, tail, names = self.projected(where, inside, place)
        word = self.one("", "", "", "DISTINCT ", "REDUCED ")
        order = ""
        if (outermost or place.slices) and self.chance(self.slice_one_in):
            if self.chance(2) and names:
                order = f" ORDER BY {self.one('ASC', 'DESC')}({self.one(*names)})"
            order += self.one(" LIMIT 1", " LIMIT 2", " LIMIT 3", " OFFSET 1", " LIMIT 2 OFFSET 1")
        return f"SELECT {word}{head} {clauses}WHERE {{ {where} }}{tail}{order}"

    def projected(self, where: str, inside: list[str], place: Place) -> tuple[str, str, list[str]]:
        if self.chance(3):
            return "*", "", [v for v in inside if v in VARIABLES]
        names = self.some(inside, 1, 3)
        items = list(names)
        if self.chance(4):
            items.append(f"({self.value(inside)} AS {self.unused(where + ' '.join(items), place)})")
        return " ".join(items), "", names

    def grouped(self, where: str, inside: list[str], place: Place) -> tuple[str, str, list[str]]:
        keys: list[str] = []
        named: list[str] = []
        for _ in range(self.size(0, 2)):
            if self.chance(4):
                name = self.unused(where + " ".join(keys), place)
                # The outside engine refuses a bare variable under another name.
                keys.append(f"(COALESCE({self.value(inside)}) AS {name})")
            else:
                name = self.one(*inside)
                keys.append(name)
            named.append(name)
        named = sorted(set(named))
        items = list(named)
        for _ in range(self.size(1, 2)):
            taken = " ".join([where, *inside, *items, *keys])
            items.append(f"({self.aggregate(inside, where)} AS {self.unused(taken, place)})")
        tail = f" GROUP BY {' '.join(keys)}" if keys else ""
        if self.chance(3):
            tail += f" HAVING (COUNT({self.one(*inside)}) {self.one('>', '<=', '!=')} {self.size(0, 2)})"
        return " ".join(items), tail, named

    def query(self, depth: int) -> str:
        self.read()
        return self.form(Place(depth))

    def read(self) -> None:
        """Chooses what is read by the whole query."""
        if self.dialect == "csparql":
            for _ in range(self.size(1, 2)):
                self.clauses.append(f"FROM STREAM <{self.one(*self.streams)}> [{self.window()}]")
        elif self.dialect == "rspql" and self.chance(2):
            for _ in range(self.size(1, 2)):
                self.clauses.append(f"FROM WINDOW ON <{self.one(*self.streams)}> [{self.window()}]")
        elif self.dialect in ("dataset", "cqels") and self.chance(8):
            self.clauses.append(self.one(f"FROM <{NAMED[0]}>", f"FROM NAMED <{NAMED[0]}>"))

    def form(self, place: Place) -> str:
        match self.size(0, 7):
            case 0:
                body = self.group(place)
                return f"ASK {' '.join(self.clauses)} {{ {body} }}"
            case 1:
                return self.construct(place)
            case _:
                return self.select(place, outermost=True)

    def construct(self, place: Place) -> str:
        body = self.group(place)
        template = " . ".join(self.triple(self.one("_:t", "_:u")) for _ in range(self.size(1, 2)))
        return f"CONSTRUCT {{ {template} }} {' '.join(self.clauses)} WHERE {{ {body} }}"


# Timelines --------------------------------------------------------------------------------------------------------------


class Chronicler(Writer):
    """Makes up what happens, with terms of its own choice."""

    def __init__(self, choose: Choose, *, blanks: bool = False) -> None:
        """With `blanks` some triples have blank nodes, which keep their identity where they come as objects only."""
        super().__init__(choose)
        kinds = OTHERS if blanks else [some for some in OTHERS if some is not BLANK_NODES]
        others = [] if self.chance(2) else [term for some in self.some(kinds, 1, 3) for term in some]
        self.subjects = [*NODES[:2] * 4, NODES[2], *(BLANK_NODES[:1] if BLANK_NODES[0] in others else [])]
        self.objects = [*USUAL * 4, *ODD, *others * 3]

    def triple(self) -> str:
        return f"{self.one(*self.subjects)} {self.one(*PREDICATES)} {self.one(*self.objects)} ."

    def triples(self, least: int, most: int) -> tuple[str, ...]:
        return tuple(self.triple() for _ in range(self.size(least, most)))

    def without_blanks(self, least: int, most: int) -> tuple[str, ...]:
        """Triples for files: a label in one of them is another node than in the next."""
        return tuple(triple for triple in self.triples(least, most) if "_:" not in triple)

    def steps(self, most: int, lateness_ms: int) -> list[Step]:
        now = self.size(0, 2)
        steps = []
        for _ in range(self.size(1, most)):
            now += self.one(0, 0, 1, 1, 2, 5)
            at_ms = now - self.one(*([0] * 9 if not lateness_ms else [0]), *range(lateness_ms + 2))
            match self.one(*["push"] * 8, *["insert"] * 4, *["delete"] * 4, "advance", "advance", "load", "patch", "update"):
                case "push":
                    steps.append(Step("push", self.one(*STREAMS), self.triples(0 if self.chance(9) else 2, 10), at_ms))
                case "advance":
                    steps.append(Step("advance", None, (), now))
                case "insert" | "delete" as call:
                    timed = None if self.chance(5) else at_ms
                    steps.append(Step(call, self.one(None, *NAMED), self.triples(1, 8), timed))
                case "load":
                    steps.append(Step("load", self.one(None, *NAMED), self.without_blanks(1, 8), None))
                case call:
                    changes = tuple(f"{self.one('A', 'D')} {triple}" for triple in self.without_blanks(1, 6))
                    steps.append(Step(call, self.one(None, *NAMED), changes, None))
        return steps

    def loaded(self) -> list[Step]:
        """What is there first: inserts long before anything else."""
        return [Step("insert", graph, self.triples(3, 12), -10) for graph in (None, *NAMED)]


def write_scenario(choose: Choose, depth: int = 2, most: int = 10) -> Scenario:
    chronicler = Chronicler(choose, blanks=True)
    text = Author(choose).query(depth)
    lateness_ms, t0_ms = chronicler.one(0, 0, 0, 2), chronicler.one(0, 0, 1)
    steps = chronicler.loaded() + chronicler.steps(most, lateness_ms)
    return Scenario(text, chronicler.one(*OUTPUTS), lateness_ms, t0_ms, tuple(steps))


def write_session(choose: Choose, depth: int = 2, most: int = 8) -> Session:
    chronicler = Chronicler(choose, blanks=True)
    lateness_ms, t0_ms = chronicler.one(0, 0, 0, 2), chronicler.one(0, 0, 1)
    loaded = tuple((graph, chronicler.without_blanks(3, 12)) for graph in (None, *NAMED))
    steps: list[Step | Register | Close] = []
    registered = 0
    for step in chronicler.steps(most, lateness_ms):
        if not registered or chronicler.chance(4):
            steps.append(Register(Author(choose).query(depth), chronicler.one(*OUTPUTS)))
            registered += 1
        if chronicler.chance(9):
            steps.append(Close(chronicler.choose(registered)))
        steps.append(step)
    return Session(lateness_ms, t0_ms, loaded, tuple(steps))


class ConstantAuthor(Author):
    """Writes queries full of constants."""

    def triple(self, blank: str) -> str:
        subject = self.one("?a", "?a", "?b", "?c", NODES[0], NODES[1], blank)
        predicate = self.one(*PREDICATES * 8, "?p")
        object_ = self.one("?d", "?c", "?b", NODES[0], NODES[1], "0", "1", blank)
        return f"{subject} {predicate} {'?d' if subject == object_ else object_}"

    def condition(self, names: list[str]) -> str:
        one = self.one(*names)
        if self.chance(2):
            # The outside engine knows an order of IRIs.
            operator, number = self.one("=", "!=", "<", ">="), self.one("0", "1")
            test = f"{one} {operator} {number}"
            return f"(isNumeric({one}) && {test})" if operator in ("<", ">=") else test
        return super().condition(names)


def with_other_constants(choose: Choose, text: str) -> str:
    """A query of the same shape."""
    writer = Writer(choose)
    text = re.sub(rf"<{NAMESPACE}n\d>", lambda found: writer.one(found[0], *NODES[:3]), text)
    # Numbers that are compared or stand at the end of a triple, not those of LIMIT or of windows.
    return re.sub(r"(?<=[=<>] )\d|(?<=> )\d(?= \.)", lambda found: writer.one(found[0], "0", "1", "2"), text)


def write_families(choose: Choose, depth: int = 2, most: int = 8) -> Session:
    """A session in which queries come several at a time, each time of one shape."""
    chronicler = Chronicler(choose, blanks=True)
    lateness_ms, t0_ms = chronicler.one(0, 0, 0, 2), chronicler.one(0, 0, 1)
    loaded = tuple((graph, chronicler.without_blanks(3, 12)) for graph in (None, *NAMED))
    text, output = ConstantAuthor(choose).query(depth), chronicler.one(*OUTPUTS)
    steps: list[Step | Register | Close] = []
    registered = 0
    for step in chronicler.steps(most, lateness_ms):
        if not registered or chronicler.chance(4):
            for _ in range(chronicler.size(2, 5)):
                steps.append(Register(with_other_constants(choose, text), chronicler.one(output, output, *OUTPUTS)))
                registered += 1
        while chronicler.chance(5):
            steps.append(Close(chronicler.choose(registered)))
        steps.append(step)
    return Session(lateness_ms, t0_ms, loaded, tuple(steps))


class CommonAuthor(Author):
    """Writes a query around patterns that another author wrote."""

    def __init__(self, choose: Choose, other: Author, wheres: list[str]) -> None:
        super().__init__(choose)
        self.dialect, self.steps_only = other.dialect, other.steps_only
        self.clauses, self.number = list(other.clauses), other.number
        self._wheres = wheres

    def group(self, place: Place, first: Sequence[str] = ()) -> str:
        wheres, self._wheres = self._wheres, []
        if not wheres:
            return super().group(place, first)
        # What one of them binds, another may use.
        parts = [f"{{ {where} }}" for where in wheres] if len(wheres) > 1 or self.chance(3) else list(wheres)
        if self.chance(2):
            parts.append(self.element(place, parts))
        return " ".join(parts)


def write_sharing(choose: Choose, depth: int = 2, most: int = 8) -> Session:
    """A session in which queries come several at a time, different ones with patterns in common."""
    chronicler, author = Chronicler(choose, blanks=True), Author(choose)
    lateness_ms, t0_ms = chronicler.one(0, 0, 0, 2), chronicler.one(0, 0, 1)
    loaded = tuple((graph, chronicler.without_blanks(3, 12)) for graph in (None, *NAMED))
    author.read()
    wheres = [author.group(Place(depth)) for _ in range(chronicler.size(1, 2))]
    steps: list[Step | Register | Close] = []
    registered = 0
    for step in chronicler.steps(most, lateness_ms):
        if not registered or chronicler.chance(4):
            for _ in range(chronicler.size(2, 4)):
                text = CommonAuthor(choose, author, chronicler.some(wheres, 1, len(wheres))).form(Place(1))
                steps.append(Register(text, chronicler.one(*OUTPUTS)))
                registered += 1
        while chronicler.chance(5):
            steps.append(Close(chronicler.choose(registered)))
        steps.append(step)
    return Session(lateness_ms, t0_ms, loaded, tuple(steps))


def chooser(draw: st.DrawFn) -> Choose:
    return lambda size: draw(st.integers(0, size - 1))


@st.composite
def any_queries(draw: st.DrawFn, depth: int = 2) -> str:
    return Author(chooser(draw)).query(depth)


@st.composite
def any_scenarios(draw: st.DrawFn, depth: int = 2) -> Scenario:
    return write_scenario(chooser(draw), depth)


@st.composite
def any_sessions(draw: st.DrawFn, depth: int = 2) -> Session:
    return write_session(chooser(draw), depth)


@st.composite
def family_sessions(draw: st.DrawFn, depth: int = 2) -> Session:
    return write_families(chooser(draw), depth)


@st.composite
def sharing_sessions(draw: st.DrawFn, depth: int = 1) -> Session:
    return write_sharing(chooser(draw), depth)
