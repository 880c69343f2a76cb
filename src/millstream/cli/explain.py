"""`millstream explain`: what a query reads, when it answers, its algebra drawn as a tree, and how it runs."""

from __future__ import annotations

from dataclasses import replace

from rich.text import Text

from millstream.cli.queries import read_query
from millstream.cli.terminal import note, output
from millstream.engine import Engine
from millstream.errors import UnsupportedQueryError
from millstream.plan.explain.query import explain


def explain_file(path: str, cells: int | None = None) -> None:
    """Prints the explanation; warnings, and whether the engine runs the query, go to standard error.

    With a number of cells, how Spark would cut the work into them comes last.
    """
    file = read_query(path)
    query = file.query
    refused: UnsupportedQueryError | None = None
    try:
        # What the engine adds to the explanation is how it runs the query.
        run = Engine().register(file.text).explain().removeprefix(explain(query))
    except UnsupportedQueryError as error:
        run, refused = "", error
    if cells is not None and refused is None:
        from millstream.plan.explain.cells import explain_cells

        run += f"\n\n{explain_cells(query, cells)}"
    output().print(Text(explain(replace(query, warnings=())) + run))
    for warning in query.warnings:
        note("warning", str(warning))
    if refused is not None:
        note("not run yet", f"{file.name}: {refused}")
