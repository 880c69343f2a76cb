"""The commands and their options. Each imports what it needs only when it runs, so that `--help` waits for nothing."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from millstream.cli.terminal import INTERRUPTED, tolerate_any_encoding

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


def _option(metavar: str, help: str) -> Any:
    return typer.Option(metavar=metavar, help=help)


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
def run(
    queries: Annotated[
        list[str], typer.Argument(metavar="QUERY.rq", help="Files with a query each; - reads standard input.")
    ],
    stream: Annotated[
        list[str] | None,
        _option("IRI=PATH", "Elements of a stream: a file, folder, glob, - or kafka://host/topic. Repeatable."),
    ] = None,
    dataset: Annotated[
        list[str] | None, _option("[GRAPH=]PATH", "RDF loaded first, into the default graph or a named one. Repeatable.")
    ] = None,
    changes: Annotated[
        list[str] | None, _option("[GRAPH=]PATH", "Changes of a dataset: RDF Patch or SPARQL Update data. Repeatable.")
    ] = None,
    time: Annotated[
        str | None, _option("TIME", "When elements happened: prov, predicate:IRI, column, arrival or rate:N.")
    ] = None,
    changes_time: Annotated[
        str | None, _option("TIME", "When changes happened: rate:N or arrival. Default: as --time, else at once.")
    ] = None,
    element: Annotated[str | None, _option("WHAT", "What an element is: graph, line, subject or file.")] = None,
    input_format: Annotated[
        str | None, _option("FORMAT", "Format of the streams, where names do not tell. Default for -: nquads.")
    ] = None,
    engine: Annotated[
        str | None, _option("ENGINE", "spark, or embedded for this process alone. Default: spark if it is installed.")
    ] = None,
    master: Annotated[str, _option("URL", "The Spark master.")] = "local[2]",
    cells: Annotated[int | None, typer.Option(metavar="N", min=1, help="How many parts Spark cuts the work into.")] = None,
    checkpoint: Annotated[
        str | None, _option("DIR", "Keep the state there, and go on from it if it is there already.")
    ] = None,
    checkpoint_every: Annotated[str, _option("DURATION", "How often the state is kept.")] = "10s",
    follow: Annotated[
        bool, typer.Option("--follow/--once", help="Wait for more files or input until interrupted, or end with the input.")
    ] = False,
    idle: Annotated[str, _option("DURATION", "With --follow: how long a silent source holds the others back.")] = "10s",
    lateness: Annotated[str, _option("DURATION", "How far behind its own source's newest element one may come.")] = "0s",
    max_jump: Annotated[
        str | None, _option("DURATION", "How far ahead of all before it an element may be; beyond, it is set aside.")
    ] = None,
    output: Annotated[str | None, _option("PATH", "Where answers go; a folder for several queries.")] = None,
    format: Annotated[
        str | None,
        _option(
            "FORMAT",
            "table, csv, tsv, json, ndjson, nquads or parquet. Default: by --output; a table on a terminal, else csv.",
        ),
    ] = None,
    dead_letter: Annotated[str | None, _option("PATH", "Where malformed and late input goes, as JSON lines.")] = None,
    strict: Annotated[bool, typer.Option("--strict", help="End with code 1 at the first malformed or late input.")] = False,
    limit: Annotated[
        list[str] | None, _option("NAME=VALUE", "A limit on input or values, see docs/security.md. Repeatable.")
    ] = None,
) -> None:
    """Run queries over streams; each answers as its input comes.

    Answers go to standard output, everything else to standard error. Exit codes: 0; 1 for bad data with --strict;
    2 for a wrong command or query; 3 when something cannot be written, as on a full disk; 130 when interrupted.

    millstream run hot.rq --engine embedded --stream http://example.org/readings=readings.nq --dataset rooms.ttl
    """
    from millstream.cli.engines import choose_engine
    from millstream.cli.run import arguments
    from millstream.cli.run import checkpoint as checkpoints
    from millstream.cli.run import options as asked
    from millstream.cli.run.run import execute
    from millstream.cli.terminal import fail
    from millstream.errors import OptionError

    chosen = choose_engine(engine)
    if chosen == "spark" and max_jump is not None:
        fail("--max-jump: Spark does not know it; use --engine embedded")
    try:
        options = asked.check(
            asked.RunOptions(
                queries=asked.read_queries(queries),
                streams=tuple(map(arguments.stream_source, stream or ())),
                datasets=tuple(arguments.graph_source(text, "--dataset") for text in dataset or ()),
                changes=tuple(arguments.graph_source(text, "--changes") for text in changes or ()),
                time=time,
                changes_time=changes_time,
                element=element,
                input_format=input_format,
                follow=follow,
                idle_ms=arguments.duration_ms(idle, "--idle"),
                lateness_ms=arguments.duration_ms(lateness, "--lateness"),
                max_jump_ms=None if max_jump is None else arguments.duration_ms(max_jump, "--max-jump"),
                checkpoint=None if checkpoint is None else checkpoints.checkpoint_folder(checkpoint),
                checkpoint_every_ms=arguments.duration_ms(checkpoint_every, "--checkpoint-every"),
                output=output,
                format=asked.choose_format(format, output),
                dead_letter=dead_letter,
                strict=strict,
                cells=cells,
                master=master,
                limits=arguments.limits(limit or ()),
            )
        )
    except OptionError as error:
        fail(str(error))
    execute(options, chosen)


@app.command()
def explain(
    query: Annotated[str, typer.Argument(metavar="QUERY.rq", help="A file with one query; - reads standard input.")],
    cells: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Also show how Spark would cut the work into N cells.")
    ] = None,
) -> None:
    """Show what a query reads, when it answers, its algebra as a tree, and how it runs."""
    from millstream.cli.explain import explain_file

    explain_file(query, cells)


@app.command("map")
def map_rows(
    rows: Annotated[str, typer.Argument(metavar="INPUT.csv", help="CSV or JSON lines: a file, folder, glob or -.")],
    template: Annotated[str | None, _option("TEMPLATE.toml", "What a row becomes; see docs/mapping.md.")] = None,
    suggest: Annotated[
        bool, typer.Option("--suggest", help="Write a template to begin with, made from the first rows.")
    ] = False,
    output: Annotated[str, _option("PATH", "Where elements go.")] = "-",
    format: Annotated[str, _option("FORMAT", "nquads, with a graph and a time an element, or ntriples.")] = "nquads",
    input_format: Annotated[str | None, _option("FORMAT", "csv or jsonl. Default: as the input is named, else csv.")] = None,
    dead_letter: Annotated[str | None, _option("PATH", "Where malformed rows go, as JSON lines.")] = None,
    strict: Annotated[bool, typer.Option("--strict", help="End with code 1 at the first malformed row.")] = False,
) -> None:
    """Turn rows into stream elements, which run reads.

    millstream map trips.csv --template taxi.toml | millstream run routes.rq --stream http://example.org/taxi=-
    """
    from millstream.cli.map import map_files, suggest_template
    from millstream.cli.terminal import fail

    if suggest:
        if template is not None:
            fail("--suggest and --template: a template is made, or used")
        suggest_template(rows, output, input_format)
        return
    if template is None:
        fail(
            "--template is missing: it says what a row becomes; "
            f"`millstream map {rows} --suggest` writes one to begin with, `millstream map --help` says more"
        )
    map_files(rows, template, output, format, input_format, dead_letter, strict)


@app.command()
def check(
    specs: Annotated[
        list[str], typer.Argument(metavar="SPEC", help="Timelines with expected answers: files, or folders of *.check.")
    ],
    engine: Annotated[str, _option("ENGINE", "embedded, or spark.")] = "embedded",
    show: Annotated[bool, typer.Option("--show", help="Draw the timelines that pass as well.")] = False,
) -> None:
    """Check that queries give the answers expected of them, at their times; what fails is drawn. See docs/testing.md.

    Exit codes: 0; 1 when an expectation failed; 2 for a wrong command, SPEC or query; 130 when interrupted.

    millstream check hot.check
    """
    from millstream.cli.check import check_specs

    check_specs(specs, engine, show)


@app.command()
def demo(
    engine: Annotated[str | None, _option("ENGINE", "spark, or embedded: a smaller demo in this process alone.")] = None,
) -> None:
    """Show a query answered live: taxis warned of jams, by Spark on this machine, a worker of which is killed."""
    from millstream.cli.demo import doors, taxis
    from millstream.cli.engines import choose_engine
    from millstream.cli.terminal import fail
    from millstream.errors import MillstreamError

    try:
        (taxis if choose_engine(engine) == "spark" else doors).show()
    except MillstreamError as error:
        fail(str(error))


@app.command()
def serve(
    config: Annotated[str | None, typer.Argument(metavar="CONFIG.toml", help="Settings; flags add to them.")] = None,
    stream: Annotated[
        list[str] | None, _option("IRI=PATH", "A stream that is read by itself: a folder or glob, followed. Repeatable.")
    ] = None,
    dataset: Annotated[
        list[str] | None, _option("[GRAPH=]PATH", "RDF loaded when there is no state yet. Repeatable.")
    ] = None,
    query: Annotated[list[str] | None, _option("NAME=FILE", "A query registered from the beginning. Repeatable.")] = None,
    state: Annotated[str | None, _option("DIR", "Where everything is kept, so that nothing acknowledged is lost.")] = None,
    host: Annotated[str | None, _option("ADDRESS", "Where to listen. Default: 127.0.0.1, this machine alone.")] = None,
    port: Annotated[int | None, _option("PORT", "Default: 7077; 0 chooses one that is free.")] = None,
    token_file: Annotated[
        str | None, _option("FILE", "Tokens and their rights. Default: one is generated, and its link printed.")
    ] = None,
    time: Annotated[str | None, _option("TIME", "When elements of --stream happened, as for run.")] = None,
    lateness: Annotated[str | None, _option("DURATION", "How far behind the newest element one may come.")] = None,
    clock: Annotated[
        str | None, _option("DURATION", "Let event time follow the clock, so often; for streams timed by arrival.")
    ] = None,
) -> None:
    """Serve one engine over HTTP: register, push, ask and subscribe. See docs/protocol.md and docs/operate.md.

    Exit codes: 0 when stopped; 2 for wrong settings or a damaged state; 3 when the log cannot be written.

    millstream serve --state state --dataset rooms.ttl --query hot=hot.rq
    """
    from millstream.cli.serve import serve_settings

    serve_settings(
        config,
        streams=stream or [],
        datasets=dataset or [],
        queries=query or [],
        flags={"state": state, "host": host, "port": port, "token_file": token_file},
        durations={"lateness": lateness, "clock": clock},
        time=time,
    )


@app.command()
def watch(
    url: Annotated[str, typer.Argument(metavar="URL", help="Where the server is; the link that it printed will do.")],
    query: Annotated[str, typer.Argument(metavar="QUERY.rq", help="A file with a query, or the name of one at the server.")],
    token: Annotated[
        str | None, typer.Option(metavar="TOKEN", envvar="MILLSTREAM_TOKEN", help="Unless it is in the URL.")
    ] = None,
) -> None:
    """Show the answers of a query at a server as a live table; in a pipe, a line a change.

    millstream watch http://127.0.0.1:7077/?token=... hot.rq
    """
    from millstream.cli.watch import watch_query

    watch_query(url, query, token)


@app.command()
def bench(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="NAME", help="Benchmarks or groups of them; default: papers.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Small sizes, about a minute each.")] = False,
    huge: Annotated[
        bool, typer.Option("--huge", help="Sizes of the papers, as far as memory allows; a quarter of an hour each.")
    ] = False,
    output: Annotated[
        str | None, _option("DIR", "Where reports go. Default: docs/benchmarks for all of a group, else build/bench.")
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="Say what there is and exit.")] = False,
    suites: Annotated[
        str | None, _option("PATH", "Real data to run on as well; default: MILLSTREAM_SUITES, or beside the clone.")
    ] = None,
) -> None:
    """Measure millstream beside its peers, from a clone: tables, charts and a report each.

    Exit codes: 0; 1 when a benchmark failed; 2 for a wrong command; 130 when interrupted.

    millstream bench windows --quick
    """
    from millstream.cli.bench import list_benchmarks, run_benchmarks
    from millstream.cli.terminal import fail

    if listed:
        list_benchmarks()
        return
    if quick and huge:
        fail("--quick and --huge: only one of them")
    run_benchmarks(names or [], "quick" if quick else "huge" if huge else "full", output, suites)
