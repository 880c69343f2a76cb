"""What the jobs of a run read, as Spark takes it: files, topics, and standard input as a folder of files that grows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from millstream.cli.run.options import RunOptions
from millstream.connect.kafka.options import is_address
from millstream.connect.kafka.source import kafka_source
from millstream.output.files import STANDARD
from millstream.pipeline.job.inputs import Files, StreamInput, Topics
from millstream.pipeline.source.spool import Spool


class JobInputs:
    """The sources of a run, for each of its queries; what is set aside of one goes to a folder for both."""

    def __init__(self, options: RunOptions, folder: Path, temporary: Path) -> None:
        self._options = options
        self._folder = folder
        self._temporary = temporary
        paths = [s.path for s in options.streams] + [s.path for s in (*options.changes, *options.datasets)]
        self._paths = {path: path for path in paths}
        self.spool: Spool | None = None
        """Where standard input goes, if somebody reads it."""
        if STANDARD in self._paths:
            self.spool = Spool(temporary / "input", options.input_format, follow=options.follow)
            self._paths[STANDARD] = str(self.spool.folder)

    def streams(self, query: int) -> dict[str, StreamInput]:
        """The streams that a query reads; those without a source have nothing in them."""
        options = self._options
        read = {w.stream.value for w in options.queries[query].query.windows}
        found = {s.iri: self._source(s.path, query, i) for i, s in enumerate(options.streams) if s.iri in read}
        for iri in sorted(read - found.keys()):
            nothing = self._files(self._nothing(), query, len(options.streams))
            # Nobody waits for more of it.
            found[iri] = Files(nothing.path, {**nothing.options, "open": "false"})
        return found

    def changes(self, query: int) -> dict[str | None, StreamInput]:
        """The changes of graphs."""
        options = self._options
        return {
            source.graph: self._source(source.path, query, i, options.changes_time)
            for i, source in enumerate(options.changes, len(options.streams) + 1)
        }

    def datasets(self) -> dict[str | None, object]:
        """What graphs hold at the start."""
        return {source.graph: self._paths[source.path] for source in self._options.datasets}

    def _source(self, path: str, query: int, source: int, time: str | None = None) -> StreamInput:
        if is_address(path):
            return self._topics(path, query, source)
        return self._files(self._paths[path], query, source, time)

    def _letters(self, query: int, source: int) -> Path:
        return self._folder / "dead-letters" / f"{query}-{source}"

    def _files(self, path: str, query: int, source: int, time: str | None = None) -> Files:
        options = self._options
        given = {
            "time": time or options.time,
            "element": None if time else options.element,
            "format": None if time else options.input_format,
            "idle": f"{options.idle_ms}ms" if options.follow else None,
            "deadLetter": str(self._letters(query, source)),
        }
        return Files(path, {name: value for name, value in given.items() if value is not None})

    def _topics(self, path: str, query: int, source: int) -> Topics:
        options = self._options
        defaults = {"format": options.input_format, "time": options.time, "element": options.element}
        found = kafka_source(path, defaults)
        return Topics(
            found.at,
            replace(found.options, limits=options.limits),
            found.starting_offsets,
            idle_ms=options.idle_ms if options.follow else None,
            dead_letter=str(self._letters(query, source).absolute()),
        )

    def _nothing(self) -> str:
        """A source for a stream that has none."""
        path = self._temporary / "nothing" / "nothing.nq"
        path.parent.mkdir(exist_ok=True)
        path.touch()
        return str(path)
