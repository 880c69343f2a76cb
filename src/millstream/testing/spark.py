"""Runs a timeline as a streaming job on Spark: elements as files of named graphs, answers as they were written.

Sources are read side by side there, so a timeline may only have what does not depend on the order between them: elements
and datasets, up to where input ends.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from pyoxigraph import Triple

from millstream.errors import OptionError
from millstream.kernels.emission.terms import term_of
from millstream.testing.comparison import Came, Ran
from millstream.testing.notation import Term
from millstream.testing.timeline import Event, Timeline

_TIME = "<http://www.w3.org/ns/prov#generatedAtTime>"
_INTEGER = "<http://www.w3.org/2001/XMLSchema#integer>"


def run_on_spark(timeline: Timeline) -> Ran:
    """The answers of the job; what is late is set aside there, and not counted."""
    _check(timeline)
    from millstream import pipeline

    query = timeline.checked
    with tempfile.TemporaryDirectory(prefix="millstream-check-") as name:
        folder = Path(name)
        spark = pipeline.session()
        streams = {
            iri: pipeline.files(str(_write_elements(folder / f"stream{number}", iri, timeline.events)), time="prov")
            for number, iri in enumerate(dict.fromkeys(window.stream.value for window in query.windows))
        }
        datasets: dict[str | None, object] = {
            graph: source if isinstance(source, str) else _write_triples(folder / f"dataset{number}.nt", source)
            for number, (graph, source) in enumerate(timeline.datasets)
        }
        answers = pipeline.continuous(
            timeline.queries[-1],
            streams,
            datasets or None,
            output=timeline.output,
            lateness=timeline.lateness_ms,
            t0_ms=timeline.t0_ms,
            once=True,
            spark=spark,
        )
        writer = answers.writeStream.format("parquet").option("checkpointLocation", str(folder / "checkpoint"))
        writer.trigger(availableNow=True).start(str(folder / "answers")).awaitTermination()
        rows = [row.asDict() for row in spark.read.parquet(str(folder / "answers")).collect()]
    return Ran([Came(row.pop("at_ms"), row.pop("weight"), _terms(row)) for row in rows], timeline.late)


def _check(timeline: Timeline) -> None:
    if len(timeline.queries) > 1:
        raise OptionError("on Spark each query is a job of its own: a timeline with several runs with the engine embedded")
    calls = sorted({event.call for event in timeline.events} - {"push"})
    if calls:
        told = f"on Spark sources are read side by side: a timeline with `{calls[0]}`"
        raise OptionError(f"{told} runs with the engine embedded")
    if not timeline.is_finished:
        raise OptionError("on Spark a timeline runs until input ends: write `finish`, or take the engine embedded")
    graphs = [graph for graph, _ in timeline.datasets]
    if len(set(graphs)) < len(graphs):
        raise OptionError("on Spark a graph has one dataset: write it as one, or take the engine embedded")
    if not timeline.checked.windows:
        raise OptionError("on Spark a query reads a stream: one without runs with the engine embedded")


def _write_elements(folder: Path, stream: str, events: list[Event]) -> Path:
    """A file of named graphs that say when they were, in the order they come."""
    lines = []
    for place, event in enumerate(events):
        if event.target == stream:
            graph = f"<urn:element:{place}>"
            lines += [f"{triple.subject} {triple.predicate} {triple.object} {graph} ." for triple in event.triples]
            lines.append(f'{graph} {_TIME} "{event.at_ms}"^^{_INTEGER} .')
    folder.mkdir()
    (folder / "elements.nq").write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return folder


def _write_triples(path: Path, triples: object) -> str:
    assert isinstance(triples, tuple)
    given: tuple[Triple, ...] = triples
    path.write_text("".join(f"{t.subject} {t.predicate} {t.object} .\n" for t in given), "utf-8")
    return str(path)


def _terms(row: dict[str, str | None]) -> dict[str, Term]:
    return {name: term_of(text) for name, text in row.items() if text is not None}
