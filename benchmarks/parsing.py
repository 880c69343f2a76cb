"""Query text to algebra, beside rdflib's `prepareQuery`: the groups of `benchmarks.parse`."""

from __future__ import annotations

import statistics
import warnings

from rdflib.plugins.sparql import prepareQuery

from benchmarks import parse
from benchmarks.report import Cell, Part, Progress, Table
from benchmarks.timing import Effort
from millstream.language import parse_query

ABOUT = "Query text to algebra; median CPU milliseconds a query."
SIZES: dict[Effort, tuple[int, int]] = {"smoke": (1, 1), "quick": (4, 5), "full": (20, 1000)}
"""Repeats, and how many queries of a group at most."""


def run(effort: Effort, progress: Progress) -> Part:
    repeats, most = SIZES[effort]
    part = Part("parse", ABOUT)
    rows: list[list[Cell]] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        groups = parse.groups()
        if len(groups) == 1:
            part.missing.append("most queries: the suites are not at hand; set MILLSTREAM_SUITES to their folder")
        for name, texts in groups.items():
            progress(name)
            pairs = [pair for pair in map(parse.both, texts[:most]) if pair is not None]
            if not pairs:
                continue
            ours = [parse.milliseconds(parse_query, text, repeats) for text, _ in pairs]
            theirs = [parse.milliseconds(prepareQuery, text, max(1, repeats // 4)) for _, text in pairs]
            size = statistics.median(len(text) for text, _ in pairs)
            a, b = statistics.median(ours), statistics.median(theirs)
            rows.append([name, len(pairs), int(size), a, b, b / a])
        columns = ("group", "queries", "characters", "millstream", "rdflib", "times")
        part.tables.append(Table("queries that both read", columns, rows))
        if effort == "full":
            progress("first queries of processes")
            first: list[list[Cell]] = [[name, *parse.first_query(*how)] for name, how in parse.FIRST.items()]
            part.tables.append(Table("the first query of a process, CPU ms", ("parser", "imports", "query"), first))
    return part
