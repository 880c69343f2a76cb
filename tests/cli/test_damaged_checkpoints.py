"""A checkpoint that is damaged is refused in one sentence, which names the file and the way out; nothing else is touched."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from millstream.cli.run.checkpoint import Checkpoint, Saved
from millstream.cli.run.options import RunOptions
from millstream.errors import OptionError, SnapshotError
from millstream.pipeline.job.checkpoints import Record, check_checkpoint
from tests.cli.running import SEEN, element, millstream

WAY_OUT = "; put back a copy of the checkpoint, or remove it and begin anew"
DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda data: b"",
    "cut off": lambda data: data[: len(data) // 2],
    "without its end": lambda data: data[:-1],
    "garbled": lambda data: b"\xff\x00garbage" + data[9:],
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "q.rq").write_text(SEEN)
    text = "".join(element(f"g{n}", 1000 + 40 * n, f"x{n % 7} p y{n % 11}") for n in range(50))
    (tmp_path / "in.nq").write_text(text)
    return tmp_path


def refused(folder: Path, engine: str) -> str:
    """The sentence; what was written before is left alone."""
    before = (folder / "out.csv").read_bytes()
    found = millstream(*arguments(engine), cwd=folder, code=2)
    assert (folder / "out.csv").read_bytes() == before
    [line] = [line for line in found.stderr.splitlines() if line.startswith("error: ")]
    return line


def arguments(engine: str) -> list[str]:
    given = ["run", "q.rq", "--engine", engine, "--stream", "http://e/a=in.nq", "--time", "prov"]
    return [*given, "--checkpoint", "checkpoint", "--output", "out.csv"]


# In one process ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("content", [b"", b"garbage", b"millstream checkpoint "])
def test_a_run_in_one_process_names_its_checkpoint(folder: Path, content: bytes) -> None:
    millstream(*arguments("embedded"), cwd=folder)
    kept = folder / "checkpoint" / "embedded.checkpoint"
    kept.write_bytes(content)
    assert refused(folder, "embedded") == (
        "error: --checkpoint checkpoint: checkpoint/embedded.checkpoint cannot be gone on from: it is damaged; put back a "
        "copy of it, or remove it and begin anew"
    )
    kept.unlink()
    millstream(*arguments("embedded"), cwd=folder)


def test_no_byte_of_it_can_change(tmp_path: Path) -> None:
    checkpoint = Checkpoint(RunOptions((), checkpoint=tmp_path))
    saved = Saved(b"a snapshot\nof some bytes", [{"position": 1}], {"out.csv": "5"}, {"answers": [1]})
    checkpoint.save(saved)
    kept = tmp_path / "embedded.checkpoint"
    whole = kept.read_bytes()
    assert checkpoint.load() == saved
    for at in range(len(whole)):
        kept.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        with pytest.raises(OptionError, match=r"embedded.checkpoint cannot be gone on from: it is damaged"):
            checkpoint.load()
        kept.write_bytes(whole[:at])
        with pytest.raises(OptionError, match="it is damaged"):
            checkpoint.load()


# On Spark ---------------------------------------------------------------------------------------------------------------


def spark_checkpoint(folder: Path) -> Path:
    """As a run on Spark leaves it, as far as it is looked at before Spark starts."""
    checkpoint = folder / "checkpoint" / "0-q"
    offset = {"sequence": 1, "batch": [], "seen": ""}
    files = {
        "metadata": json.dumps({"id": "ae047bac-8ed7-4349-ab5e-e90c291f36e1"}),
        "offsets/0": 'v1\n{"batchWatermarkMs":0,"conf":{"spark.sql.shuffle.partitions":"2"}}\n' + json.dumps(offset),
        "commits/0": 'v1\n{"nextBatchWatermarkMs":0}',
        "state/0/_metadata/v2/0": 'v2\n{"operatorInfo":{"operatorId":0}}\n{"batch":0}',
        "../written.json": json.dumps(
            {"batches": {"0": 0}, "positions": {"out.csv": "5"}, "answers": [1], "late": 0, "set_aside": 0, "letters": []}
        ),
    }
    for name, text in files.items():
        path = checkpoint / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (folder / "out.csv").write_text("at_ms\r\n")
    return checkpoint


def look_at(checkpoint: Path) -> None:
    check_checkpoint(checkpoint)
    Record.read(checkpoint.parent / "written.json").check(0, checkpoint)


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("name", ["metadata", "offsets/0", "commits/0", "state/0/_metadata/v2/0", "../written.json"])
def test_each_file_of_a_log_is_named(folder: Path, name: str, damage: str) -> None:
    checkpoint = spark_checkpoint(folder)
    look_at(checkpoint)
    path = checkpoint / name
    path.write_bytes(DAMAGES[damage](path.read_bytes()))
    with pytest.raises(SnapshotError) as caught:
        look_at(checkpoint)
    shown = checkpoint.parent / "written.json" if name.startswith("..") else path
    assert str(caught.value).startswith(f"{shown} is damaged: ")
    assert str(caught.value).endswith(WAY_OUT)


def test_a_run_on_spark_tells_it_before_spark_starts(folder: Path) -> None:
    (spark_checkpoint(folder) / "offsets" / "0").write_text("")
    line = refused(folder, "spark")
    assert line == f"error: checkpoint/0-q/offsets/0 is damaged: it is cut off{WAY_OUT}"


@pytest.mark.parametrize("value", [{"batches": []}, {"positions": {"out.csv": 5}}, {"answers": None}, {"late": True}])
def test_a_record_with_a_wrong_value_is_damaged(folder: Path, value: dict[str, object]) -> None:
    checkpoint = spark_checkpoint(folder)
    record = checkpoint.parent / "written.json"
    record.write_text(json.dumps({**json.loads(record.read_text()), **value}))
    with pytest.raises(SnapshotError, match=f"written.json is damaged: it does not say {next(iter(value))}"):
        look_at(checkpoint)


def test_a_plan_that_cannot_be_read_is_named(folder: Path) -> None:
    (spark_checkpoint(folder) / "millstream.json").write_text('{"text": ')
    assert "checkpoint/0-q/millstream.json is damaged" in refused(folder, "spark")


def test_a_record_of_another_moment_is_refused(folder: Path) -> None:
    # Answers would be lost, or come twice: batches beyond the record are written already, or those in it never were.
    checkpoint = spark_checkpoint(folder)
    for number in (1, 2):
        for log in ("offsets", "commits"):
            (checkpoint / log / str(number)).write_text((checkpoint / log / "0").read_text())
    with pytest.raises(SnapshotError, match=r"written.json is not of the same moment as .*, which has batches up to 2"):
        look_at(checkpoint)
    (checkpoint.parent / "written.json").unlink()
    with pytest.raises(SnapshotError, match=r"written.json says nothing of "):
        look_at(checkpoint)
