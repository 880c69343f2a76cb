"""Offsets, parts and packed output, without Spark: what a stream reader plans, told by its own calls."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxBytes, ReadMaxFiles

from millstream.errors import OptionError
from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.pipeline.source import data_source, offsets
from millstream.pipeline.source.offsets import Offset
from millstream.pipeline.source.options import read_options
from millstream.pipeline.source.reading import Reading
from millstream.pipeline.source.splits import Split
from millstream.pipeline.source.stream_reader import RdfStreamReader

LINE = '<http://e/s> <http://e/p> "{}" .\n'


def reader(folder: Path, **options: str) -> RdfStreamReader:
    return RdfStreamReader(read_options({"path": str(folder), "time": "rate:1", **options}))


def write(folder: Path, *names: str, lines: int = 2) -> None:
    folder.mkdir(exist_ok=True)
    for name in names:
        (folder / name).write_text("".join(LINE.format(i) for i in range(lines)))


def through_json(offset: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(json.dumps(offset))
    return found


def batches(stream: RdfStreamReader) -> Iterator[list[Split]]:
    """The parts of each batch up to where nothing is new."""
    start = through_json(stream.initialOffset())
    while (end := through_json(stream.latestOffset(start, stream.getDefaultReadLimit()))) != start:
        yield [part for task in stream.partitions(start, end) for part, _ in task.value]
        start = end


def shown(parts: list[Split]) -> list[tuple[str, int]]:
    return [(Path(part.path).name or ("ended" if part.ended else "beat"), part.sequence) for part in parts]


def test_new_files_come_by_name_and_numbers_run_on(tmp_path: Path) -> None:
    write(tmp_path, "b.nt", "c.nt")
    stream = reader(tmp_path)
    start = stream.initialOffset()
    first = stream.latestOffset(start, ReadAllAvailable())
    write(tmp_path, "a.nt")
    time.sleep(0.15)
    second = stream.latestOffset(through_json(first), ReadAllAvailable())
    assert [
        shown([p for t in stream.partitions(*pair) for p, _ in t.value]) for pair in ((start, first), (first, second))
    ] == [
        [("b.nt", 0), ("c.nt", 1)],
        [("a.nt", 2)],
    ]


def test_limits_hold_unless_all_is_asked_for(tmp_path: Path) -> None:
    write(tmp_path, "a.nt", "b.nt", "c.nt")
    assert [shown(b) for b in batches(reader(tmp_path, maxFilesPerTrigger="2"))] == [
        [("a.nt", 0), ("b.nt", 1)],
        [("c.nt", 2)],
    ]
    assert len(list(batches(reader(tmp_path, maxBytesPerTrigger="1")))) == 3
    both = reader(tmp_path, maxFilesPerTrigger="2", maxBytesPerTrigger="100k")
    assert both.getDefaultReadLimit() == ReadMaxFiles(2)
    assert len(Offset.from_json(both.latestOffset(both.initialOffset(), ReadAllAvailable())).batch) == 3
    assert reader(tmp_path, maxBytesPerTrigger="1k").getDefaultReadLimit() == ReadMaxBytes(1024)
    assert reader(tmp_path).getDefaultReadLimit() == ReadMaxBytes(512 << 20)


def test_a_long_file_is_read_over_several_triggers(tmp_path: Path) -> None:
    write(tmp_path, "a.nt", "b.nt", lines=10)
    size = (tmp_path / "a.nt").stat().st_size
    found = list(batches(reader(tmp_path, splitBytes=str(size // 4), maxBytesPerTrigger=str(size // 2))))
    assert [part.sequence for parts in found for part in parts] == list(range(8))
    ranges = [(Path(part.path).name, part.start, part.end) for parts in found for part in parts]
    for name in ("a.nt", "b.nt"):
        edges = [(start, end) for each, start, end in ranges if each == name]
        assert edges[0][0] == 0
        assert edges[-1][1] == size
        assert all(a[1] == b[0] for a, b in pairwise(edges))
    assert len(found) > 3


def test_a_batch_is_planned_the_same_after_a_restart(tmp_path: Path) -> None:
    write(tmp_path, "a.nt", "b.nt", lines=10)
    stream = reader(tmp_path, splitBytes="100", maxFilesPerTrigger="1")
    start = stream.initialOffset()
    middle = through_json(stream.latestOffset(start, ReadMaxFiles(1)))
    end = through_json(stream.latestOffset(middle, ReadMaxFiles(1)))
    write(tmp_path, "aa.nt")
    again = reader(tmp_path, splitBytes="7")
    planned = [[task.value for task in each.partitions(middle, end)] for each in (stream, again)]
    assert planned[0] == planned[1]
    assert planned[0][0][0][1] == 10


@pytest.mark.parametrize(("given", "most"), [({"tasks": "2"}, 2), ({"tasks": "3"}, 3), ({}, 16)])
def test_tasks_share_a_trigger_evenly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: dict[str, str], most: int
) -> None:
    monkeypatch.setattr(data_source, "_SHARED_BYTES", 1)
    for number in range(8):
        write(tmp_path, f"{number}.nt", lines=10 + number % 2)
    write(tmp_path, "8.nt", lines=0)
    stream = reader(tmp_path, **given)
    start = stream.initialOffset()
    tasks = [task.value for task in stream.partitions(start, stream.latestOffset(start, stream.getDefaultReadLimit()))]
    sizes = [sum(part.end - part.start for part, _ in task) for task in tasks]
    longest = max(part.end - part.start for task in tasks for part, _ in task)
    assert len(tasks) == min(most, 9)
    assert max(sizes) <= sum(sizes) / most + longest
    assert [part.sequence for task in tasks for part, _ in task] == list(range(9))


def test_available_now_is_what_was_there(tmp_path: Path) -> None:
    write(tmp_path, "a.nt", "b.nt")
    stream = reader(tmp_path, maxFilesPerTrigger="1", idle="1ms")
    stream.prepareForTriggerAvailableNow()
    write(tmp_path, "c.nt")
    assert [shown(parts) for parts in batches(stream)] == [[("a.nt", 0)], [("b.nt", 1)]]


def test_the_end_comes_with_the_last_file(tmp_path: Path) -> None:
    write(tmp_path, "a.nt", "b.nt")
    found = [shown(parts) for parts in batches(reader(tmp_path, maxFilesPerTrigger="1", end="true"))]
    assert found == [[("a.nt", 0)], [("b.nt", 1), ("ended", 2)]]
    empty = tmp_path / "empty"
    empty.mkdir()
    assert [shown(parts) for parts in batches(reader(empty, end="true"))] == [[("ended", 0)]]


def test_a_later_run_goes_on_behind_the_end_and_ends_again(tmp_path: Path) -> None:
    write(tmp_path, "a.nt")
    first, second, third = (reader(tmp_path, end="true", run=str(run)) for run in range(3))
    start = through_json(first.initialOffset())
    end = through_json(first.latestOffset(start, ReadAllAvailable()))
    assert first.latestOffset(end, ReadAllAvailable()) == end
    # Nothing has come: the second run has an end of its own to tell, and no file.
    again = through_json(second.latestOffset(end, ReadAllAvailable()))
    assert [shown([part for part, _ in task.value]) for task in second.partitions(end, again)] == [[("ended", 2)]]
    assert second.latestOffset(again, ReadAllAvailable()) == again
    write(tmp_path, "b.nt")
    more = through_json(third.latestOffset(again, ReadAllAvailable()))
    parts = [part for task in third.partitions(again, more) for part, _ in task.value]
    assert shown(parts) == [("b.nt", 3), ("ended", 4)]


def test_an_idle_source_says_so_once_each_time(tmp_path: Path) -> None:
    write(tmp_path, "a.nt")
    stream = reader(tmp_path, idle="200ms")
    seen: list[list[tuple[str, int]]] = []
    offset = stream.initialOffset()
    for arriving in ((), ("b.nt",)):
        write(tmp_path, *arriving)
        deadline = time.monotonic() + 0.7
        while time.monotonic() < deadline:
            end = through_json(stream.latestOffset(offset, ReadAllAvailable()))
            if end != offset:
                seen.append(shown([part for task in stream.partitions(offset, end) for part, _ in task.value]))
            offset = end
            time.sleep(0.02)
    assert seen == [[("a.nt", 0)], [("beat", 1)], [("b.nt", 2)], [("beat", 3)]]


def test_names_of_files_long_gone_are_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(offsets, "_MANY", 2)
    stream = reader(tmp_path)
    offset = stream.initialOffset()
    for number in range(12):
        write(tmp_path, f"{number}.nt")
        stream._look_at = 0.0
        offset = stream.latestOffset(offset, ReadAllAvailable())
        (tmp_path / f"{number}.nt").unlink()
    assert len(offset["seen"]) // 12 <= 3
    assert offset["sequence"] == 12


def test_arrival_is_part_of_the_offset(tmp_path: Path) -> None:
    write(tmp_path, "a.nt")
    stream = reader(tmp_path, time="arrival")
    start = stream.initialOffset()
    end = through_json(stream.latestOffset(start, ReadAllAvailable()))
    ((task,),) = [each.value for each in stream.partitions(start, end)]
    assert abs(task[0].arrival_ms - time.time() * 1000) < 60_000


class Packer:
    """Tells what it was given."""

    def __init__(self, text: str, source: int) -> None:
        self.dictionary = Dictionary()
        self.summary = None
        self.name = f"{text}{source}"
        self._added: list[tuple[int, bytes]] = []

    def begin(self, before: int) -> None:
        self.is_full = False

    def add(self, part: int, chunk: int, reading: Reading) -> None:
        text = f"{self.name} {part} {chunk} {len(reading.columns.triples)} {reading.columns.element}"
        self._added.append((0, text.encode()))

    def take(self) -> list[tuple[int, bytes]]:
        added, self._added = self._added, []
        return added

    def nothing(self, part: Split) -> Iterator[tuple[int, bytes]]:
        yield 1, f"{self.name} {part.sequence} {part.ended}".encode()


def test_packed_parts_go_through_the_packer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, "a.nt", "b.nt")
    monkeypatch.setattr("millstream.pipeline.source.task_output.packer_for", Packer)
    pack = '{"cells": {"shares": [1]}}'
    stream = reader(tmp_path, pack=pack, source="3", end="true")
    start = stream.initialOffset()
    end = stream.latestOffset(start, ReadAllAvailable())
    assert end["elements"] == 0
    found = [batch.to_pylist() for task in stream.partitions(start, end) for batch in stream.read(task)]
    assert [[(row["cell"], row["blob"].decode()) for row in rows] for rows in found] == [
        [(1, f"{pack}3 2 True")],
        [(0, f"{pack}3 0 0 2 [0 1]"), (0, f"{pack}3 1 0 2 [0 1]")],
    ]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "needs a path"),
        ({"path": "s3://x/y"}, "only files"),
        ({"path": "x", "time": "noon"}, "time 'noon' is not known"),
        ({"path": "x", "element": "word"}, "element 'word' is not known"),
        ({"path": "x", "format": "doc"}, "format 'doc' is not known"),
        ({"path": "x", "maxFilesPerTrigger": "0"}, "maxFilesPerTrigger must be a whole number, 1 or more"),
        ({"path": "x", "idle": "soon"}, "idle must be"),
        ({"path": "x", "idle": ""}, "idle must be"),
        ({"path": "x", "end": "yes"}, "end must be true or false"),
        ({"paths": "x"}, "paths must be a JSON list"),
        ({"path": "x", "maxFilesPerTriger": "1"}, "did you mean 'maxFilesPerTrigger'"),
    ],
)
def test_options_that_cannot_be_are_refused(given: dict[str, str], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        read_options(given)


def test_options_are_read_in_any_case() -> None:
    found = read_options({"PATH": "file:///data/x", "splitbytes": "2m", "idle": "10s"})
    assert (found.paths, found.split_bytes, found.idle_ms) == (("/data/x",), 2 << 20, 10_000)
