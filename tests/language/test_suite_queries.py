"""Every query of the outside suites is read; where one cannot be, its slip is named, and without it the query is read.

`SLIPS` is the whole list of exceptions: the complaints in the order they come, each with the edit that mends it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from millstream.errors import QueryError
from millstream.language import algebra as a
from millstream.language import parse_query
from tests.suites import has_suite, suites_root

EXAMPLE = "PREFIX : <http://example.org/>\n"
SRBENCH = "PREFIX srbench: <http://www.cwi.nl/SRBench/>\n"


@dataclass(frozen=True)
class Slip:
    """A complaint that a query must raise, and the edit (old, new) after which it is gone; None: no such edit."""

    complaint: str
    old: str
    new: str | None


def undeclared(prefix: str, declaration: str) -> Slip:
    return Slip(f"prefix `{prefix}:` is not declared", "", declaration)


SLIPS: dict[str, list[Slip]] = {
    "citybench/rspql/q12.rspql": [
        # It selects ?p, which is neither grouped by nor aggregated: no one value of a group (section 11.4).
        Slip(
            r"line 8, column 17: \?p is neither in GROUP BY nor inside an aggregate",
            "SELECT ?service ?p",
            "SELECT ?service",
        )
    ],
    "srbench-queries/md/Q1": [undeclared("", EXAMPLE)],
    "srbench-queries/md/Q4": [undeclared("", EXAMPLE), undeclared("srbench", SRBENCH)],
    "srbench-queries/md/Q5": [undeclared("", EXAMPLE), undeclared("srbench", SRBENCH)],
    "srbench-queries/md/Q10": [
        undeclared("", EXAMPLE),
        undeclared("srbench", SRBENCH),
        # The window is declared as :win and used as :w.
        Slip(
            r"window <http://example.org/w> is not declared; did you mean <http://example.org/win>\?",
            "WINDOW :w ",
            "WINDOW :win ",
        ),
    ],
    "debs2015/1": [
        undeclared("", EXAMPLE),
        # The window is declared as :wind and used as :win.
        Slip(
            r"window <http://example.org/win> is not declared; did you mean <http://example.org/wind>\?",
            "WINDOW :win ",
            "WINDOW :wind ",
        ),
    ],
    "debs2015/2": [
        Slip(r"found `FROM`; a `\)` is missing", "as ?taxinumber", "as ?taxinumber)"),
        # A prefix alone is no name: it lacks its colon.
        Slip("found `s`; expected an IRI or STREAM", "ON s ", "ON s: "),
        Slip("found `GROUPBY`; did you mean GROUP BY", "GROUPBY", "GROUP BY"),
        # GROUP BY and HAVING stand inside the pattern, not behind it.
        Slip("found `GROUP`; a `}` is missing, which ends the pattern before GROUP", "GROUP BY", "} GROUP BY"),
        Slip("found `}`; there is a `}` too many", ">= 20)\n}", ">= 20)"),
        undeclared("", EXAMPLE),
    ],
    "debs2015/3": [
        Slip("found `s`; expected an IRI or STREAM", "ON s ", "ON s: "),
        Slip(
            r"found `\?location`; is a `\.` missing before it\?",
            "?taxi debs:pickup ?location",
            "?taxi debs:pickup ?location .",
        ),
        Slip("found `GROUP`; a `}` is missing, which ends the pattern before GROUP", "GROUP BY", "} GROUP BY"),
        undeclared("", EXAMPLE),
    ],
    "debs2015/4": [
        undeclared("", EXAMPLE),
        undeclared("units", "PREFIX units: <http://www.opengis.net/def/uom/OGC/1.0/>\n"),
    ],
    "debs2015/5": [
        # The alias stands outside of the parentheses.
        Slip(r"found `\)`; an expression is selected under a name: \(\.\.\. AS \?name\)", ") AS ?profit", " AS ?profit)"),
        undeclared("", EXAMPLE),
    ],
    "debs2015/6": [undeclared("", EXAMPLE)],
    "debs2015/7": [
        Slip("found `GRAPH`; expected an IRI, NAMED, STREAM or WINDOW", "FROM GRAPH", "FROM"),
        Slip(r"found `\?newPickups`; is a `\.` missing before it\?", "?neighbourhood \n", "?neighbourhood .\n"),
        Slip(r"found `\?newPickups`; is a `\.` missing before it\?", "?nlat\n", "?nlat .\n"),
        Slip(r"found `\?oldPickups`; is a `\.` missing before it\?", "?olat\n", "?olat .\n"),
        undeclared("", EXAMPLE),
        # The hour before the last: no window here ends in the past.
        Slip(
            r"A window that ends in the past \(TO NOW - \.\.\.\) is not supported",
            "FROM NOW-PT2H TO NOW-PT1H STEP",
            "RANGE PT2H STEP",
        ),
        # A count with a variable beside it needs groups.
        Slip(
            r"\?neighbourhood is neither in GROUP BY nor inside an aggregate",
            "#increase by 20%\n\n}",
            "\n} GROUP BY ?neighbourhood",
        ),
    ],
    "debs2015/8": [
        # `?as` for AS, a dataset clause in a sub-query, CONSTRUCT as a pattern: the sub-query has to be written anew.
        Slip(r"found `\?as`; expected AS", "SUM(?total - ?tax - ?tips) ?as ?profit", "(SUM(?total) AS ?profit)"),
        Slip("found `FROM`; expected WHERE or `{`", "FROM NAMED WINDOW :spot ON tstream: [RANGE PT6H STEP PT6H]", "{"),
        Slip("found `CONSTRUCT`", "", None),
    ],
}


def conference() -> dict[str, str]:
    return _files("cqels-conference", "*.cqels")


def citybench() -> dict[str, str]:
    return _files("citybench", "rspql/*") | _files("citybench", "*_query/*")


def srbench() -> dict[str, str]:
    found = _files("srbench-queries", "*/*.sparql")
    for path in _paths("srbench-queries", "*.md"):
        for section in path.read_text("utf-8").split("\n##")[1:]:
            name = section.partition(".")[0]
            code = "\n".join(line for line in section.split("\n")[1:] if not line or line[0].isspace())
            found[f"srbench-queries/md/{name}"] = code
    return found


def csrbench() -> dict[str, str]:
    """The windows are in properties of their own; the queries are plain SPARQL."""
    found = {}
    for path in _paths("csrbench", "*.properties"):
        text = re.sub(r"\\[ \t]*\n", "\n", path.read_text("utf-8"))
        for number, query in re.findall(r"^srb\.query(\d+)\.booleanquery = (.*?)(?=^srb\.)", text, re.DOTALL | re.MULTILINE):
            found[f"csrbench/{number}"] = query
    return found


def debs() -> dict[str, str]:
    found = {}
    for path in _paths("debs2015", "RSP-QL*.md"):
        for section in path.read_text("utf-8").split("\n### Query ")[1:]:
            blocks = re.findall(r"^``` ?\n(.*?)^```", section, re.DOTALL | re.MULTILINE)
            (query,) = (b for b in blocks if "SELECT" in b)
            found[f"debs2015/{section[0]}"] = query
    return found


def _paths(suite: str, pattern: str) -> list[Path]:
    return sorted((suites_root() / suite).glob(pattern)) if has_suite(suite) else []


def _files(suite: str, pattern: str) -> dict[str, str]:
    return {p.relative_to(suites_root()).as_posix(): p.read_text("utf-8") for p in _paths(suite, pattern)}


QUERIES = conference() | citybench() | srbench() | csrbench() | debs()


def mended(name: str) -> str:
    text = QUERIES[name]
    for slip in SLIPS.get(name, []):
        assert slip.new is not None, f"{name} cannot be mended"
        text = text.replace(slip.old, slip.new, 1)
    return text


READ = [n for n in QUERIES if n != "debs2015/8"]


def test_the_suites_are_whole() -> None:
    if not QUERIES:
        pytest.skip(f"no suites at {suites_root()}; set MILLSTREAM_SUITES to the folder of suites")
    assert [len(found()) for found in (conference, citybench, srbench, csrbench, debs)] == [5, 48, 30, 7, 8]


@pytest.mark.parametrize("name", [n for n in QUERIES if n not in SLIPS])
def test_a_query_without_a_slip_is_read_as_it_is(name: str) -> None:
    parse_query(QUERIES[name])


@pytest.mark.parametrize("name", [n for n in SLIPS if n in QUERIES])
def test_each_slip_of_a_query_has_its_own_complaint_and_mending_it_helps(name: str) -> None:
    text = QUERIES[name]
    for slip in SLIPS[name]:
        with pytest.raises(QueryError, match=slip.complaint) as error:
            parse_query(text)
        assert error.value.line is not None
        if slip.new is None:
            return
        assert slip.old in text
        text = text.replace(slip.old, slip.new, 1)
    parse_query(text)


@pytest.mark.parametrize("name", [n for n in READ if "cqels" in n])
def test_queries_for_cqels_read_windows_in_blocks_and_emit_what_appears(name: str) -> None:
    query = parse_query(QUERIES[name])
    assert query.windows
    assert query.default_windows == ()
    assert query.output is a.Output.ISTREAM


@pytest.mark.parametrize("name", [n for n in READ if "csparql" in n])
def test_queries_for_csparql_merge_windows_that_close(name: str) -> None:
    query = parse_query(QUERIES[name])
    assert query.windows == query.default_windows
    assert query.closes_windows
    assert query.output is a.Output.RSTREAM


@pytest.mark.parametrize("name", [n for n in READ if n.startswith("citybench/rspql/")])
def test_queries_in_rspql_read_windows_by_name(name: str) -> None:
    query = parse_query(mended(name))
    assert query.windows
    assert query.default_windows == ()
    assert query.closes_windows
    assert query.name == f"http://millstream.local/{Path(name).stem}"


@pytest.mark.parametrize("name", [n for n in READ if n.startswith("csrbench/")])
def test_queries_with_windows_apart_are_plain_sparql(name: str) -> None:
    assert parse_query(QUERIES[name]).windows == ()


UNBOUND = {
    "citybench/rspql/q3.rspql": ["obId3", "v3"],
    "citybench/rspql/q5.rspql": ["obId1", "obId3", "v1", "v3"],
    "citybench/rspql/q7.rspql": ["obId2"],
    "srbench-queries/test/join-pattern-matching.sparql": ["sensor"],
    "srbench-queries/test/optional-pattern-matching.sparql": ["sensor"],
    "srbench-queries/test/variable-predicate.sparql": ["sensor"],
}
LENIENT = {"debs2015/1", "debs2015/2"}


@pytest.mark.parametrize("name", READ)
def test_variables_that_no_pattern_binds_are_warned_of_and_nothing_else(name: str) -> None:
    warnings = [w.message for w in parse_query(mended(name)).warnings]
    if name not in LENIENT:
        assert warnings == [f"?{v} is selected but nothing binds it." for v in UNBOUND.get(name, [])]


def test_forms_that_only_papers_use_are_read_with_their_legal_form() -> None:
    if "debs2015/1" not in QUERIES:
        pytest.skip("suite debs2015 is not there")
    assert [w.legal for name in sorted(LENIENT) for w in parse_query(mended(name)).warnings] == [
        "(COUNT(?ride) AS ?rideCount)",
        "HAVING (COUNT(DISTINCT ?taxi) >= 20)",
    ]
