"""How a cell outlives its process: which slices are kept, when a cell in memory is trusted, and what is refused.

`test_cells_simulated` shows that answers are right whatever dies; here is what that costs.
"""

from __future__ import annotations

import json

import pytest

from millstream.errors import SnapshotError
from millstream.pipeline.job.specification import JobSpec, StreamedSource, job_spec
from millstream.pipeline.state import change_log
from millstream.pipeline.state.cell import Cell
from millstream.pipeline.state.change_log import InMemory, Ledger, StateReport, cell_log
from tests.pipeline.simulation import DictStore, Element, Job

STREAM = "http://e/s"
RANGE = "SELECT * { STREAM <http://e/s> [RANGE 10] { ?a <http://e/p> ?b } }"
ALL = "SELECT * { STREAM <http://e/s> [ALL] { ?a <http://e/p> ?b } }"


def planned(query: str, *, cells: int = 1, lateness_ms: int = 0) -> JobSpec:
    return job_spec(query, [StreamedSource(STREAM)], cells=cells, output="changes", lateness_ms=lateness_ms)


class OneCell:
    """A cell that is handed from worker to worker by hand."""

    def __init__(self, query: str) -> None:
        self.spec = planned(query)
        self.store = DictStore()
        self.log = cell_log(self.spec, 0)
        self._job = Job(self.spec, None, 0, calm=True)

    def take(
        self, in_memory: InMemory[Cell] | None, at_ms: int, *, lost: bool = False
    ) -> tuple[int, InMemory[Cell], StateReport]:
        """A trigger that brings one element; how many answers it gave, the cell as it is in the worker now, what it cost."""
        element = Element((f"<http://e/{at_ms}> <http://e/p> <http://e/o> .",), at_ms)
        blobs = [blob for _, blob in self._job.pack(0, [element])]
        outcome, in_memory, kept = self.log.take(self.store, in_memory, blobs)
        if lost:
            self.store.forget_attempt()
        else:
            self.store.commit()
        return outcome.answers.num_rows, in_memory, kept

    @property
    def ledger(self) -> Ledger:
        text = self.store.ledger()
        assert text is not None
        return Ledger.from_json(text)

    @property
    def pieces(self) -> list[tuple[int, int]]:
        return sorted(key for key in self.store.committed if key != "ledger")


def test_slices_whose_window_has_passed_are_dropped() -> None:
    one = OneCell(RANGE)
    in_memory = None
    most = 0
    for at_ms in range(200):
        _, in_memory, kept = one.take(in_memory, at_ms)
        assert (kept.replayed, kept.rebuilt) == (0, False)
        most = max(most, len(one.pieces))
    # A window of ten milliseconds, a slice a millisecond, and the one that has just come.
    assert most <= 12
    assert one.pieces == [(s.version, 0) for s in one.ledger.slices]


def test_a_window_without_end_is_kept_as_one_state_and_few_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(change_log, "_COMPACT_BYTES", 20_000)
    one = OneCell(ALL)
    in_memory = None
    wholes = 0
    for at_ms in range(300):
        _, in_memory, _ = one.take(in_memory, at_ms)
        wholes += one.ledger.slices[-1].whole
        stored = sum(len(piece) for key, piece in one.store.committed.items() if key != "ledger")
        state = one.ledger.slices[0].bytes if one.ledger.slices[0].whole else 0
        assert stored <= state + max(20_000, 4 * state) + 4_000
    # Each whole state is larger than the last, so that they become rare.
    assert 1 <= wholes <= 12
    again, in_memory, kept = one.take(None, 300)
    assert again == 1
    assert kept.rebuilt
    assert in_memory.cell.stats["elements"] == 301


def test_there_are_never_too_many_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(change_log, "MOST_SLICES", 8)
    one = OneCell(RANGE.replace("10", "1000000"))
    in_memory = None
    for at_ms in range(50):
        _, in_memory, _ = one.take(in_memory, at_ms)
        assert len(one.ledger.slices) <= 8
        assert one.pieces == [(s.version, 0) for s in one.ledger.slices]


def test_a_slice_is_stored_in_pieces_that_are_not_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(change_log, "PIECE_BYTES", 500)
    one = OneCell(RANGE)
    one.take(None, 0)
    assert len(one.pieces) > 2
    assert max(len(piece) for key, piece in one.store.committed.items() if key != "ledger") == 500
    _, _, kept = one.take(None, 1)
    assert (kept.rebuilt, kept.replayed) == (True, 1)
    one.take(None, 1000)
    one.take(None, 1001)
    assert {version for version, _ in one.pieces} == {3, 4}


def test_a_cell_that_moves_between_workers_reads_only_what_it_missed() -> None:
    one = OneCell(RANGE)
    _, here, _ = one.take(None, 0)
    _, there, kept = one.take(None, 1)
    assert (kept.rebuilt, kept.replayed) == (True, 1)
    for at_ms in range(2, 5):
        _, there, kept = one.take(there, at_ms)
        assert (kept.rebuilt, kept.replayed) == (False, 0)
    answers, here, kept = one.take(here, 5)
    assert (kept.rebuilt, kept.replayed) == (False, 4)
    assert answers == 1
    _, there, kept = one.take(there, 6)
    assert (kept.rebuilt, kept.replayed) == (False, 1)


def test_a_cell_of_an_attempt_that_was_not_committed_is_not_trusted() -> None:
    one = OneCell(RANGE)
    _, in_memory, _ = one.take(None, 0)
    _, uncommitted, _ = one.take(in_memory, 1, lost=True)
    answers, _, kept = one.take(uncommitted, 2)
    assert (kept.rebuilt, kept.replayed) == (True, 1)
    assert answers == 1


def test_a_cell_of_an_attempt_that_another_replaced_is_not_trusted() -> None:
    one = OneCell(RANGE)
    _, in_memory, _ = one.take(None, 0)
    _, uncommitted, _ = one.take(in_memory, 1, lost=True)
    # The same version, and the element at 7 instead of that at 1.
    _, other, _ = one.take(None, 7)
    assert uncommitted.version == other.version
    _, _, kept = one.take(uncommitted, 8)
    assert (kept.rebuilt, kept.replayed) == (True, 2)


def test_a_cell_too_far_behind_is_made_again() -> None:
    one = OneCell(RANGE)
    _, old, _ = one.take(None, 0)
    in_memory = old
    _, in_memory, _ = one.take(None, 1)
    for at_ms in range(20, 24):
        _, in_memory, _ = one.take(in_memory, at_ms)
    _, _, kept = one.take(old, 24)
    assert kept.rebuilt
    assert kept.replayed == 4


def in_stages(seed: int, *, calm: bool) -> Job:
    """Three hundred triggers of a count over what two cells join."""
    query = "SELECT (COUNT(*) AS ?n) { STREAM <http://e/s> [RANGE 10] { ?a <http://e/p> ?b . ?b <http://e/q> ?c } }"
    job = Job(planned(query, cells=2), None, seed, calm=calm)
    assert job.spec.stages is not None
    for at_ms in range(300):
        pair = (f"<http://e/{at_ms}> <http://e/p> <http://e/m> .", f"<http://e/m> <http://e/q> <http://e/{at_ms % 3}> .")
        job.trigger([[Element(pair, at_ms)]])
    return job


def test_the_second_stage_is_kept_as_the_rows_that_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(change_log, "_COMPACT_BYTES", 20_000)
    monkeypatch.setattr(change_log, "_COMPACT_TIMES", 1)
    steady = in_stages(0, calm=True)
    # What thousands of rows came to, and the triggers since.
    assert steady.stored_bytes()[-1] < 60_000
    assert len(steady.answers) > 500
    # Attempts that are lost and workers that die, before and after all was put together.
    for seed in (1, 2):
        assert in_stages(seed, calm=False).answers == steady.answers


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (planned(RANGE.replace("10", "11")), r"another job: the query changed\. Go on with the job as it was, or start"),
        (planned(RANGE, lateness_ms=5), "the lateness changed"),
        (planned(RANGE, cells=3), r"changed \(it had 1 cells, now 3\)"),
        (job_spec(RANGE, [StreamedSource(STREAM)], cells=1, output="istream"), "the output operator changed"),
        (job_spec(RANGE, [StreamedSource(STREAM, rate="5")], cells=1, output="changes"), "the sources changed"),
    ],
)
def test_another_job_does_not_go_on_from_a_checkpoint(changed: JobSpec, message: str) -> None:
    one = OneCell(RANGE)
    one.take(None, 0)
    log = cell_log(changed, 0)
    with pytest.raises(SnapshotError, match=message):
        log.take(one.store, None, [])


def test_a_ledger_is_what_was_written() -> None:
    one = OneCell(RANGE)
    one.take(None, 0)
    assert Ledger.from_json(one.ledger.to_json()) == one.ledger
    assert json.loads(one.ledger.to_json())["version"] == 1


@pytest.mark.parametrize("key", ["ledger", (1, 0)])
def test_a_store_whose_bytes_are_damaged_is_refused_as_such(key: str | tuple[int, int]) -> None:
    one = OneCell(RANGE)
    one.take(None, 0)
    whole = one.store.committed[key]
    for place in range(0, len(whole), 7):
        if isinstance(whole, str):
            one.store.committed[key] = whole[:place] + ("1" if whole[place] != "1" else "2") + whole[place + 1 :]
        else:
            one.store.committed[key] = whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :]
        with pytest.raises(SnapshotError, match="is damaged"):
            one.take(None, 1, lost=True)


def test_a_blob_that_was_damaged_on_its_way_is_refused_as_such() -> None:
    one = OneCell(RANGE)
    (_, blob), *_ = one._job.pack(0, [Element(("<http://e/a> <http://e/p> <http://e/o> .",), 0)])
    for place in range(len(blob)):
        for damaged in (blob[:place], blob[:place] + bytes([blob[place] ^ 16]) + blob[place + 1 :]):
            with pytest.raises(SnapshotError, match="is damaged"):
                one.log.take(one.store, None, [damaged])


@pytest.mark.parametrize("damage", ["gone", "cut off"])
@pytest.mark.parametrize("query", [RANGE, ALL])
def test_a_store_that_lost_something_is_refused_as_such(query: str, damage: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(change_log, "MOST_SLICES", 2)
    one = OneCell(query)
    in_memory = None
    for at_ms in range(5):
        _, in_memory, _ = one.take(in_memory, at_ms)
    for key in one.pieces:
        value = one.store.committed[key]
        one.store.committed[key] = None if damage == "gone" else value[: len(value) // 2]
    with pytest.raises(SnapshotError, match=r"is damaged: of [0-9]+ bytes there are"):
        one.take(None, 6)
