"""Universities after the profile of the Lehigh University Benchmark (LUBM), and seven queries over them.

What a department has, who teaches, studies, advises and publishes there, in the numbers that its specification gives.
"""

from __future__ import annotations

import gzip
import random
from collections.abc import Iterator

from benchmarks.workloads.patterns import TYPE, Patterns, Triple
from benchmarks.workloads.suites import suites

DEPARTMENT, UNIVERSITY = "<http://www.Department0.University0.edu>", "<http://www.University0.edu>"
_DEGREES = ("undergraduateDegreeFrom", "mastersDegreeFrom", "doctoralDegreeFrom")
# Kind, how many a department has, how many publications each has.
_FACULTY = (
    ("FullProfessor", (7, 10), (15, 20)),
    ("AssociateProfessor", (10, 14), (10, 18)),
    ("AssistantProfessor", (8, 11), (5, 10)),
    ("Lecturer", (5, 7), (0, 5)),
)


def ub(name: str) -> str:
    """A term of LUBM's ontology."""
    return f"<http://swat.cse.lehigh.edu/onto/univ-bench.owl#{name}>"


_DEGREE = [
    ("?z", TYPE, ub("Department")),
    ("?x", ub("memberOf"), "?z"),
    ("?z", ub("subOrganizationOf"), "?y"),
    ("?x", ub("undergraduateDegreeFrom"), "?y"),
    ("?y", TYPE, ub("University")),
]
QUERIES: dict[str, Patterns] = {
    "Q1": [("?x", TYPE, ub("GraduateStudent")), *_DEGREE],
    "Q2": [("?x", TYPE, ub("Course")), ("?x", ub("name"), "?y")],
    "Q3": [("?x", TYPE, ub("UndergraduateStudent")), *_DEGREE],
    "Q4": [
        ("?x", ub("worksFor"), DEPARTMENT),
        ("?x", TYPE, ub("FullProfessor")),
        ("?x", ub("name"), "?a"),
        ("?x", ub("emailAddress"), "?b"),
        ("?x", ub("telephone"), "?c"),
    ],
    "Q5": [("?x", ub("subOrganizationOf"), DEPARTMENT), ("?x", TYPE, ub("ResearchGroup"))],
    "Q6": [
        ("?y", ub("subOrganizationOf"), UNIVERSITY),
        ("?y", TYPE, ub("Department")),
        ("?x", ub("worksFor"), "?y"),
        ("?x", TYPE, ub("FullProfessor")),
    ],
    "Q7": [
        ("?y", TYPE, ub("FullProfessor")),
        ("?z", TYPE, ub("Course")),
        ("?x", ub("advisor"), "?y"),
        ("?x", ub("takesCourse"), "?z"),
        ("?y", ub("teacherOf"), "?z"),
        ("?x", TYPE, ub("UndergraduateStudent")),
    ],
}


def universities(count: int, seed: int = 42) -> Iterator[Triple]:
    """All triples of some universities, department after department."""
    draw = random.Random(seed)
    for number in range(count):
        university = f"<http://www.University{number}.edu>"
        yield university, TYPE, ub("University")
        yield university, ub("name"), f'"University{number}"'
        for place in range(draw.randint(15, 25)):
            yield from _Department(draw, place, number, count).triples


def real_university() -> Iterator[Triple]:
    """The one that LUBM's own generator made, where the suite `lubm` is at hand."""
    text = gzip.decompress((suites() / "lubm" / "lubm1.nt.gz").read_bytes()).decode()
    for line in text.splitlines():
        s, p, o = line.removesuffix(".").rstrip().split(" ", 2)
        yield s, p, o


class _Department:
    """One department, its triples in the order in which its members are made."""

    def __init__(self, draw: random.Random, place: int, university: int, universities: int) -> None:
        self.triples: list[Triple] = []
        self._draw = draw
        self._universities = universities
        self._host = f"Department{place}.University{university}.edu"
        self._iri = f"<http://www.{self._host}>"
        self._add(self._iri, TYPE, ub("Department"))
        self._add(self._iri, ub("name"), f'"Department{place}"')
        self._add(self._iri, ub("subOrganizationOf"), f"<http://www.University{university}.edu>")
        self._courses: dict[str, list[str]] = {"Course": [], "GraduateCourse": []}
        self._professors: list[str] = []
        self._faculty()
        self._students()
        for i in range(draw.randint(10, 20)):
            group = self._name("ResearchGroup", i)
            self._add(group, TYPE, ub("ResearchGroup"))
            self._add(group, ub("subOrganizationOf"), self._iri)

    def _add(self, s: str, p: str, o: str) -> None:
        self.triples.append((s, p, o))

    def _name(self, kind: str, i: int) -> str:
        return f"<http://www.{self._host}/{kind}{i}>"

    def _person(self, kind: str, i: int) -> str:
        person = self._name(kind, i)
        self._add(person, TYPE, ub(kind))
        self._add(person, ub("name"), f'"{kind}{i}"')
        self._add(person, ub("emailAddress"), f'"{kind}{i}@{self._host}"')
        self._add(person, ub("telephone"), '"xxx-xxx-xxxx"')
        return person

    def _degree(self, person: str, degree: str) -> None:
        # LUBM states the type of a university wherever it is mentioned: the triple that comes again and again.
        university = f"<http://www.University{self._draw.randrange(self._universities)}.edu>"
        self._add(person, ub(degree), university)
        self._add(university, TYPE, ub("University"))

    def _faculty(self) -> None:
        draw, self._size = self._draw, 0
        for kind, members, publications in _FACULTY:
            for i in range(draw.randint(*members)):
                self._size += 1
                person = self._person(kind, i)
                self._add(person, ub("worksFor"), self._iri)
                for degree in _DEGREES:
                    self._degree(person, degree)
                for course_kind, courses in self._courses.items():
                    for _ in range(draw.randint(1, 2)):
                        course = self._name(course_kind, len(courses))
                        self._add(person, ub("teacherOf"), course)
                        self._add(course, TYPE, ub(course_kind))
                        self._add(course, ub("name"), f'"{course_kind}{len(courses)}"')
                        courses.append(course)
                if kind != "Lecturer":
                    self._professors.append(person)
                    self._add(person, ub("researchInterest"), f'"Research{draw.randrange(30)}"')
                if kind == "FullProfessor" and i == 0:
                    self._add(person, ub("headOf"), self._iri)
                for k in range(draw.randint(*publications)):
                    publication = f"{person[:-1]}/Publication{k}>"
                    self._add(publication, TYPE, ub("Publication"))
                    self._add(publication, ub("name"), f'"Publication{k}"')
                    self._add(publication, ub("publicationAuthor"), person)

    def _students(self) -> None:
        draw = self._draw
        for i in range(self._size * draw.randint(8, 14)):
            student = self._person("UndergraduateStudent", i)
            self._add(student, ub("memberOf"), self._iri)
            self._takes(student, "Course", draw.randint(2, 4))
            if draw.randrange(5) == 0:
                self._add(student, ub("advisor"), draw.choice(self._professors))
        for i in range(self._size * draw.randint(3, 4)):
            student = self._person("GraduateStudent", i)
            self._add(student, ub("memberOf"), self._iri)
            self._degree(student, "undergraduateDegreeFrom")
            self._takes(student, "GraduateCourse", draw.randint(1, 3))
            self._add(student, ub("advisor"), draw.choice(self._professors))

    def _takes(self, student: str, kind: str, count: int) -> None:
        for course in self._draw.sample(self._courses[kind], count):
            self._add(student, ub("takesCourse"), course)
