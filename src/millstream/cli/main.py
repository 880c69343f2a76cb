"""The commands and their options. Each imports what it needs only when it runs, so that `--help` waits for nothing."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from millstream.cli.terminal import tolerate_any_encoding

INTERRUPTED = 130

app = typer.Typer(
    name="millstream",
    help="Continuous SPARQL queries over streams of knowledge graphs.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def main() -> None:
    """What the command `millstream` runs."""
    tolerate_any_encoding()
    try:
        app(prog_name="millstream")
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


def _print_version(asked: bool) -> None:
    if asked:
        from millstream import __version__

        typer.echo(f"millstream {__version__}")
        raise typer.Exit


@app.callback()
def millstream(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Continuous SPARQL queries over streams of knowledge graphs."""


@app.command()
def explain(
    query: Annotated[str, typer.Argument(metavar="QUERY.rq", help="A file with one query; - reads standard input.")],
) -> None:
    """Show what a query reads, when it answers, its algebra as a tree, and how it runs."""
    from millstream.cli.explain import explain_file

    explain_file(query)


@app.command()
def demo() -> None:
    """Explain a small query and show it answered live on hand-made data."""
    from millstream.cli.demo import show

    show()
