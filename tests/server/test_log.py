"""The log and the folder of a state: what was answered is there again, damage is told from what was never written."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from millstream.engine import Engine
from millstream.errors import OptionError, SnapshotError, StorageError
from millstream.server.durable import commands as c
from millstream.server.durable.commands import Command, Numbered, packed, unpacked
from millstream.server.durable.log import LogReader, LogWriter
from millstream.server.durable.state import ServerState
from millstream.server.durable.storage import Storage
from millstream.server.limits import ServerLimits
from tests.server.serving import SEEN

PAYLOADS = [b"one", b"", b"three" * 50, b"four"]


def written(path: Path) -> bytes:
    log = LogWriter(path)
    for payload in PAYLOADS:
        log.append(payload)
    log.close()
    return path.read_bytes()


def frames(path: Path) -> tuple[list[bytes], int]:
    reader = LogReader(path)
    return list(reader.frames()), reader.cut


def test_frames_come_back_as_they_were_written(tmp_path: Path) -> None:
    written(tmp_path / "log")
    assert frames(tmp_path / "log") == (PAYLOADS, 0)


def test_commands_come_back_as_they_were_packed() -> None:
    commands = [
        Numbered(1, Command(c.PUSH, {"iri": "http://e/ä", "at_ms": -5}, b"\x00\xff")),
        Numbered(2, Command(c.CLOSE, {"name": "x"})),
    ]
    assert list(unpacked(packed(commands))) == commands


def test_a_log_cut_anywhere_keeps_its_whole_frames_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "log"
    data = written(path)
    for length in range(len(data)):
        path.write_bytes(data[:length])
        found, cut = frames(path)
        assert found == PAYLOADS[: len(found)]
        assert (cut > 0) == (length not in _ends(data)) or length < 25
        if length % 7:
            continue
        # It can be gone on with.
        reader = LogReader(path)
        list(reader.frames())
        log = LogWriter(path, length=None if reader.is_empty else reader.length)
        log.append(b"more")
        log.close()
        assert frames(path) == ([*found, b"more"], 0)


def _ends(data: bytes) -> set[int]:
    end, found = 25, {25}
    for payload in PAYLOADS:
        end += 16 + len(payload)
        found.add(end)
    assert end == len(data)
    return found


def test_a_damaged_last_frame_is_cut_and_a_damaged_middle_is_an_error_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "log"
    data = written(path)
    ends = sorted(_ends(data))
    for place in range(25, len(data)):
        path.write_bytes(data[:place] + bytes([data[place] ^ 0x41]) + data[place + 1 :])
        begin = max(end for end in ends if end <= place)
        if begin == ends[-2]:
            assert frames(path) == (PAYLOADS[:-1], len(data) - begin)
        else:
            with pytest.raises(SnapshotError, match=f"damaged at byte {begin}, and goes on at byte"):
                frames(path)


def test_what_a_client_sends_is_never_taken_for_a_frame(tmp_path: Path) -> None:
    # A body with a whole log in it is torn: the log inside it is no sign of frames behind.
    inner = written(tmp_path / "inner")
    log = LogWriter(tmp_path / "log")
    log.append(b"first")
    log.append(inner * 2)
    log.close()
    data = (tmp_path / "log").read_bytes()
    (tmp_path / "log").write_bytes(data[:-3])
    assert frames(tmp_path / "log")[0] == [b"first"]


# A whole state ---------------------------------------------------------------------------------------------------------


def fresh_state() -> ServerState:
    return ServerState(Engine(), ServerLimits())


def session(number: int) -> list[Command]:
    """Commands of all kinds, some of them refused."""
    chance = random.Random(number)
    found = [Command(c.REGISTER, {"name": "seen", "text": SEEN, "output": None})]
    for turn in range(30):
        match chance.randrange(6):
            case 0:
                text = f"INSERT DATA {{ <http://e/a> <http://e/in> <http://e/r{turn}> . _:b <http://e/in> _:c }}"
                found.append(Command(c.UPDATE, {"format": "sparql", "base": None}, text.encode()))
            case 1:
                options = {"graph": chance.choice([None, "http://e/g"]), "format": "turtle", "base": None}
                found.append(Command(c.PUT, options, b"[] <http://e/in> 5 ."))
            case 2:
                text = "SELECT ?x { ?x <http://e/in> ?y }"
                found.append(Command(c.REGISTER, {"name": f"q{chance.randrange(3)}", "text": text, "output": None}))
            case 3:
                found.append(Command(c.CLOSE, {"name": f"q{chance.randrange(3)}"}))
            case _:
                options = {"iri": "http://e/a", "format": "ntriples", "time": "arrival", "element": "file"}
                body = f'_:x <http://e/p> "{chance.randrange(5)}" .\nnonsense\n'.encode()
                found.append(Command(c.PUSH, {**options, "clock_ms": turn * chance.choice([0, 100])}, body))
    return found


def shown(state: ServerState) -> object:
    """All that clients can see of a state."""
    found = []
    for name, registered in state.queries.items():
        events = [(event.position, event.at_ms, sorted(event.body)) for event in registered.horizon.events]
        answers = sorted(str(sorted(row.items())) for row in registered.query.solutions())
        found.append((name, registered.registration, registered.position, events, answers))
    lines = {name: sorted(b"".join(state.engine.graph_store.statements(name)).splitlines()) for name in (None, "http://e/g")}
    return found, lines, state.engine.clock_ms, state.number


@pytest.mark.parametrize("number", range(20))
def test_a_state_from_disk_is_the_one_that_never_was_there(tmp_path: Path, number: int) -> None:
    chance = random.Random(number)
    commands = session(number)
    alone = fresh_state()
    storage = Storage(tmp_path, pytest.fail)
    kept = fresh_state()
    storage.keep(kept)
    for command in commands:
        alone.apply(command)
        numbered, _ = kept.apply(command)
        storage.append([numbered])
        if chance.random() < 0.1:
            storage.keep(kept)
        if chance.random() < 0.2:
            storage.close()
            storage = Storage(tmp_path, pytest.fail)
            found = storage.recover(ServerLimits())
            assert found is not None
            kept = found
            assert shown(kept) == shown(alone)
    storage.close()


def test_a_torn_tail_is_cut_with_a_warning(tmp_path: Path) -> None:
    storage, state = Storage(tmp_path, pytest.fail), fresh_state()
    storage.keep(state)
    for command in session(1)[:5]:
        storage.append([state.apply(command)[0]])
    storage.close()
    [log] = tmp_path.glob("log-*")
    log.write_bytes(log.read_bytes()[:-2])
    warnings: list[str] = []
    storage = Storage(tmp_path, warnings.append)
    found = storage.recover(ServerLimits())
    assert found is not None
    assert found.number == 4
    assert "cut off" in warnings[0]
    storage.close()


def test_a_damaged_snapshot_is_an_error_that_names_it(tmp_path: Path) -> None:
    storage = Storage(tmp_path, pytest.fail)
    storage.keep(fresh_state())
    storage.close()
    [snapshot] = tmp_path.glob("snapshot-*")
    data = bytearray(snapshot.read_bytes())
    data[len(data) // 2] ^= 1
    snapshot.write_bytes(data)
    storage = Storage(tmp_path, pytest.fail)
    with pytest.raises(SnapshotError, match=snapshot.name):
        storage.recover(ServerLimits())
    storage.close()


def test_one_server_has_a_state(tmp_path: Path) -> None:
    storage = Storage(tmp_path, pytest.fail)
    with pytest.raises(OptionError, match="another server"):
        Storage(tmp_path, pytest.fail)
    storage.close()


def test_a_log_that_cannot_be_written_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = LogWriter(tmp_path / "log")

    def full(descriptor: int, data: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("millstream.server.durable.log.os.write", full)
    with pytest.raises(StorageError, match="No space left"):
        log.append(b"more")
    log.close()
