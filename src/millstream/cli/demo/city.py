"""The city of the demo: rides of taxis and reports of jams as streams, a street map that changes, and what is asked of them.

Time begins at 0, which stands for seven in the morning. Everything is made up, the same every time, and written as files:
one of each kind for every three minutes, as they would come into a folder.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

CITY = "http://example.org/city/"
RIDES, JAMS = CITY + "rides", CITY + "jams"
PROV, XSD = "http://www.w3.org/ns/prov#", "http://www.w3.org/2001/XMLSchema#"
FILES, FILE_S = 6, 180
LATENESS, LATENESS_S = "2m", 120
CHANGE_EVERY_S = 20
CHANGES_TIME = f"rate:{1 / CHANGE_EVERY_S:g}"
PLACES = (
    "Airport", "Castle", "Docks", "East End", "Fair Ground", "Harbour", "Hill Top", "Market", "Museum", "Old Town",
    "Station", "Zoo",
)  # fmt: skip
STREETS = (
    "Abbey Road", "Bridge Street", "Canal Walk", "Dean Street", "Elm Street", "Ferry Road", "Gate Street", "High Street",
    "Inn Lane", "Joiners Yard", "King Street", "Long Acre", "Mill Lane", "North Bridge", "Orchard Road", "Park Lane",
)  # fmt: skip
QUERY = """\
PREFIX : <http://example.org/city/>

SELECT CHANGES ?taxi ?place ?street WHERE {
  STREAM :rides [RANGE 5m] { ?taxi :headsFor ?place }
  STREAM :jams  [RANGE 3m] { ?street :reported :jam }
  ?street :leadsTo ?place
}"""


@dataclass(frozen=True, slots=True)
class Report:
    """A jam that is reported in a file, though not at the time of that file."""

    file: int
    at_s: int
    street: str

    @property
    def at_ms(self) -> int:
        return 1000 * self.at_s


@dataclass(frozen=True, slots=True)
class MapChange:
    """A street that is closed or opened."""

    at_ms: int
    opens: bool
    street: str
    place: str

    @property
    def line(self) -> str:
        """It in an RDF Patch."""
        return f"{'A' if self.opens else 'D'} {_leads(self.street, self.place)}"

    @property
    def update(self) -> str:
        """It as a SPARQL Update."""
        return f"{'INSERT' if self.opens else 'DELETE'} DATA {{ {_leads(self.street, self.place)} }}"


SLOW = Report(1, 2 * FILE_S - 100, "Abbey Road")
"""Comes after later ones, within the lateness."""
TOO_LATE = Report(3, FILE_S + 30, "North Bridge")
"""Comes after that: its time has passed."""


def clock(at_ms: int) -> str:
    """A time of the city."""
    return f"{datetime.fromtimestamp(7 * 3600 + at_ms / 1000, UTC):%H:%M:%S}"


def write(folder: Path, seed: int = 9) -> None:
    """The files of both streams, the map as it is at seven, the changes of it, and the query."""
    chance = random.Random(seed)
    for name in ("rides", "jams", "changes"):
        (folder / name).mkdir(parents=True)
    (folder / "map.nt").write_text("".join(f"{line}\n" for line in map_lines()))
    (folder / "jams.rq").write_text(QUERY + "\n")
    changes = map_changes()
    a_file = len(changes) // FILES
    for file in range(FILES):
        (folder / "rides" / f"{file:03d}.nq").write_text(_rides(file, chance))
        (folder / "jams" / f"{file:03d}.nq").write_text(_jams(file, chance))
        lines = [change.line for change in changes[file * a_file : (file + 1) * a_file]]
        (folder / "changes" / f"{file:03d}.rdfp").write_text("\n".join(lines) + "\n")


def first_map() -> dict[str, str]:
    """To which place each street leads at seven."""
    return {street: PLACES[number % len(PLACES)] for number, street in enumerate(STREETS)}


def map_lines() -> list[str]:
    """The same in N-Triples."""
    return [_leads(street, place) for street, place in first_map().items()]


def map_changes(seed: int = 4) -> list[MapChange]:
    """Streets are closed and opened again, then perhaps to another place."""
    chance, street_map, found = random.Random(seed), first_map(), []
    for number in range(FILES * FILE_S // CHANGE_EVERY_S):
        at_ms = 1000 * CHANGE_EVERY_S * number
        closed = [street for street in STREETS if street not in street_map]
        if closed and (len(closed) > 3 or chance.random() < 0.5):
            street = chance.choice(closed)
            street_map[street] = chance.choice(PLACES)
            found.append(MapChange(at_ms, True, street, street_map[street]))
        else:
            street = chance.choice([street for street in STREETS if street in street_map])
            found.append(MapChange(at_ms, False, street, street_map.pop(street)))
    return found


def _rides(file: int, chance: random.Random) -> str:
    """Four rides a second."""
    found = []
    for number in range(4 * FILE_S):
        at_ms = 1000 * FILE_S * file + 250 * number
        found.append(element(f"ride/{file}/{number}", ride(chance), at_ms))
    return "".join(found)


def _jams(file: int, chance: random.Random) -> str:
    """A report every fifteen seconds, and those that come late at the end of their file."""
    reports = [(FILE_S * file + s, chance.choice(STREETS)) for s in range(0, FILE_S, 15)]
    reports += [(late.at_s, late.street) for late in (SLOW, TOO_LATE) if late.file == file]
    return "".join(element(f"jam/{file}/{n}", jam(street), 1000 * at_s) for n, (at_s, street) in enumerate(reports))


def ride(chance: random.Random) -> str:
    """A taxi heads for a place."""
    return f"<{CITY}taxi/{chance.randrange(300)}> <{CITY}headsFor> {named(chance.choice(PLACES))} ."


def jam(street: str) -> str:
    """A jam is reported."""
    return f"{named(street)} <{CITY}reported> <{CITY}jam> ."


def named(name: str) -> str:
    """The IRI of a street or place, as a term."""
    return f"<{CITY}{name.replace(' ', '_')}>"


def name_of(term: str) -> str:
    """What a term names, for people."""
    return term.strip("<>").removeprefix(CITY).replace("taxi/", "taxi ").replace("_", " ")


def _leads(street: str, place: str) -> str:
    return f"{named(street)} <{CITY}leadsTo> {named(place)} ."


def element(name: str, triple: str, at_ms: int) -> str:
    """A named graph of one triple, with the time it was generated at."""
    graph = f"<{CITY}{name}>"
    at = (datetime.fromtimestamp(0, UTC) + timedelta(milliseconds=at_ms)).isoformat(timespec="milliseconds")
    when = f'"{at.replace("+00:00", "Z")}"^^<{XSD}dateTime>'
    return f"{triple.removesuffix('.')}{graph} .\n{graph} <{PROV}generatedAtTime> {when} .\n"
