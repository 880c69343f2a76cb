"""`millstream run --engine embedded`: sources, their order, lateness, following, checkpoints, and how runs end."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import time
from itertools import groupby
from pathlib import Path

import pytest

import millstream as ms
from tests.cli.running import PAIRS, PROGRAM, SEEN, element, rows, run, summary
from tests.readers import read_elements

Happening = tuple[int, int, object]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "pairs.rq").write_text(PAIRS)
    (tmp_path / "seen.rq").write_text(SEEN)
    return tmp_path


def stream(seed: int, name: str, predicate: str, count: int, jitter_ms: int, start_ms: int = 0) -> str:
    """Elements of one or two triples, out of order by less than the jitter."""
    chance = random.Random(seed)
    subjects, objects = ("x", "y") if predicate == "p" else ("y", "z")
    found = []
    for number in range(count):
        triples = [
            f"{subjects}{chance.randrange(5)} {predicate} {objects}{chance.randrange(5)}"
            for _ in range(chance.randint(1, 2))
        ]
        found.append(element(f"{name}{number}", start_ms + number * 10 + chance.randrange(jitter_ms), *triples))
    return "".join(found)


def in_order(file: Path, lateness_ms: int) -> tuple[list[tuple[int, object]], int]:
    """By hand: what is not late in a source, by time, and how much is."""
    kept, late, largest = [], 0, None
    for found in read_elements(file):
        if largest is not None and found.at_ms < largest - lateness_ms:
            late += 1
            continue
        largest = found.at_ms if largest is None else max(largest, found.at_ms)
        kept.append((found.at_ms, found.triples))
    return sorted(kept, key=lambda item: item[0]), late


@pytest.mark.parametrize("lateness_ms", [0, 20, 50])
def test_several_sources_are_merged_by_time_each_late_by_itself(folder: Path, lateness_ms: int) -> None:
    (folder / "a.nq").write_text(stream(1, "a", "p", 300, 50))
    (folder / "b.nq").write_text(stream(2, "b", "q", 200, 50))
    engine = ms.Engine()
    query = engine.register(PAIRS)
    merged: list[tuple[int, int, int, str, object]] = []
    late = 0
    for place, (name, file) in enumerate((("http://e/a", "a.nq"), ("http://e/b", "b.nq"))):
        kept, behind = in_order(folder / file, lateness_ms)
        late += behind
        merged += [(at_ms, place, number, name, triples) for number, (at_ms, triples) in enumerate(kept)]
    for at_ms, _, _, name, triples in sorted(merged, key=lambda item: item[:3]):
        engine.push(name, triples, at_ms=at_ms)
    engine.finish()
    expected = [
        [str(a.at_ms), str(a.weight), a.bindings["x"].value, a.bindings["z"].value]  # type: ignore[union-attr]
        for a in query.take()
    ]

    found = run(
        "pairs.rq",
        "--stream",
        "http://e/a=a.nq",
        "--stream",
        "http://e/b=b.nq",
        "--lateness",
        f"{lateness_ms}ms",
        cwd=folder,
    )
    # The answers of one change have no order.
    assert sorted(rows(found.stdout)) == sorted(expected)
    assert expected
    assert f"; {late:,} late;" in summary(found.stderr)


def test_at_equal_times_streams_come_as_listed_and_before_changes(folder: Path) -> None:
    # At 0 ms: x0 p y0 on the stream, then the insert that makes it known; the delete at 100 ms.
    (folder / "known.rq").write_text("PREFIX : <http://e/> SELECT CHANGES ?x { STREAM :a [ALL] { ?x :p ?y } ?y :q ?z }")
    (folder / "a.nq").write_text(element("a", 0, "x0 p y0"))
    (folder / "edits.ru").write_text(
        "INSERT DATA { <http://e/y0> <http://e/q> <http://e/z> } ;\nDELETE DATA { <http://e/y0> <http://e/q> <http://e/z> }"
    )
    arguments = ("known.rq", "--stream", "http://e/a=a.nq", "--changes", "edits.ru", "--changes-time", "rate:10")
    assert rows(run(*arguments, cwd=folder).stdout) == [["0", "1", "http://e/x0"], ["100", "-1", "http://e/x0"]]


def test_changes_without_times_happen_at_once_in_order(folder: Path) -> None:
    (folder / "graph.rq").write_text("SELECT ?x { GRAPH <http://e/g> { ?x <http://e/p> ?y } }")
    patch = "".join(
        f"{change} <http://e/p> <http://e/b> .\n" for change in ("A <http://e/a>", "A <http://e/c>", "D <http://e/a>")
    )
    found = run("graph.rq", "--changes", "http://e/g=-", stdin=patch, cwd=folder)
    assert [row[1:] for row in rows(found.stdout)] == [["1", "http://e/a"], ["1", "http://e/c"], ["-1", "http://e/a"]]


def test_a_dataset_is_loaded_into_its_graph(folder: Path) -> None:
    (folder / "d.ttl").write_text("<http://e/a> <http://e/p> 1 .")
    (folder / "q.rq").write_text("SELECT ?x { ?x <http://e/p> 1 GRAPH <http://e/g?a=b> { ?x <http://e/p> ?y } }")
    found = run("q.rq", "--dataset", "d.ttl", "--dataset", "http://e/g?a=b=d.ttl", cwd=folder)
    assert rows(found.stdout) == [["0", "1", "http://e/a"]]


@pytest.mark.parametrize("path", ["a.nq", "parts", "parts/*.nq", "-"])
def test_a_source_is_a_file_a_folder_a_glob_or_standard_input(folder: Path, path: str) -> None:
    texts = [element("1", 0, "x0 p y0"), element("2", 10, "x1 p y0")]
    (folder / "parts").mkdir()
    (folder / "a.nq").write_text("".join(texts))
    for number, text in enumerate(texts):
        (folder / "parts" / f"{number}.nq").write_text(text)
    found = run("seen.rq", "--stream", f"http://e/a={path}", stdin="".join(texts), cwd=folder)
    assert rows(found.stdout) == [["0", "1", "http://e/x0", "http://e/y0"], ["10", "1", "http://e/x1", "http://e/y0"]]


@pytest.mark.parametrize(("path", "format"), [("parts", "nt"), ("all.nt", "nt"), ("-", "nt"), ("parts", "nquads")])
def test_a_rate_counts_through_all_files_whichever_way_they_are_read(folder: Path, path: str, format: str) -> None:
    lines = [f"<http://e/x{number}> <http://e/p> <http://e/y> .\n" for number in range(6)]
    (folder / "parts").mkdir()
    (folder / "parts" / "1.nt").write_text("".join(lines[:2]))
    (folder / "parts" / "2.nt").write_text("".join(lines[2:]))
    (folder / "all.nt").write_text("".join(lines))
    arguments = ["--stream", f"http://e/a={path}", "--time", "rate:4", "--element", "line", "--input-format", format]
    found = run("seen.rq", *arguments, stdin="".join(lines), cwd=folder)
    assert [row[0] for row in rows(found.stdout)] == ["0", "250", "500", "750", "1000", "1250"]


def test_blank_nodes_of_a_file_are_the_same_in_all_its_elements(folder: Path) -> None:
    (folder / "same.rq").write_text("SELECT ?x ?z { STREAM <http://e/a> [ALL] { ?x <http://e/p> ?y . ?y <http://e/q> ?z } }")
    (folder / "a.nt").write_text("<http://e/x> <http://e/p> _:b .\n_:b <http://e/q> <http://e/z> .\n")
    for more in ([], ["--lateness", "1s"]):
        found = run("same.rq", "--stream", "http://e/a=a.nt", "--time", "rate:1", *more, cwd=folder)
        assert rows(found.stdout) == [["1000", "1", "http://e/x", "http://e/z"]]


def test_a_run_ends_though_a_query_that_feeds_another_answers_at_every_instant(folder: Path) -> None:
    (folder / "counts.rq").write_text("""REGISTER RSTREAM <http://e/counts> AS CONSTRUCT { <http://e/a> <http://e/n> ?n }
        { { SELECT (COUNT(*) AS ?n) { STREAM <http://e/a> [RANGE 5ms TUMBLING] { ?x ?p ?y } } } }""")
    (folder / "sums.rq").write_text(
        "SELECT (SUM(?n) AS ?sum) { STREAM <http://e/counts> [RANGE 20ms] { ?a <http://e/n> ?n } }"
    )
    arguments = ["counts.rq", "sums.rq", "--stream", "http://e/a=-", "--once", "--output", "answers/", "--format", "csv"]
    found = run(*arguments, stdin=element("1", 3, "x0 p y0"), cwd=folder)
    # The stream between them has no --stream, and needs none.
    assert "warning" not in found.stderr
    assert rows((folder / "answers" / "sums.csv").read_text()) == [["5", "1", "1"], ["25", "1", "0"]]
    assert rows((folder / "answers" / "counts.csv").read_text())[-1][0] == "45"


# Bad input -----------------------------------------------------------------------------------------------------------


BAD = element("1", 0, "x0 p y0") + "oops\n" + element("2", 500, "x1 p y0") + element("3", 100, "x2 p y0")


def test_what_is_malformed_or_late_is_counted_and_the_first_shown(folder: Path) -> None:
    found = run("seen.rq", "--stream", "http://e/a=-", stdin=BAD, cwd=folder)
    assert len(rows(found.stdout)) == 2
    shown = found.stderr.splitlines()
    assert shown[0].startswith("set aside: <standard input>, line 3, column ")
    assert shown[1] == "set aside: http://e/a: late: its time is 100 ms, when only 500 ms and later was still taken"
    assert summary(found.stderr) == "done: 2 elements, 2 triples; 2 answers; 1 late; 1 set aside"


def test_dead_letters_are_json_lines_with_place_and_reason(folder: Path) -> None:
    (folder / "a.nq").write_text(BAD)
    found = run("seen.rq", "--stream", "http://e/a=a.nq", "--dead-letter", "dead/letters.jsonl", cwd=folder)
    letters = [json.loads(line) for line in (folder / "dead" / "letters.jsonl").read_text().splitlines()]
    assert [(x["source"], x["line"], x["text"]) for x in letters] == [
        ("a.nq", 3, "oops"),
        ("http://e/a", None, "<http://e/x2> <http://e/p> <http://e/y0> ."),
    ]
    assert all(set(x) == {"source", "line", "column", "reason", "text"} for x in letters)
    assert summary(found.stderr) == "done: 2 elements, 2 triples; 2 answers; 1 late; 1 set aside in dead/letters.jsonl"


@pytest.mark.parametrize("text", [BAD, BAD.replace("oops\n", "")], ids=["malformed", "late"])
def test_strict_runs_end_at_the_first_bad_thing_with_code_1(folder: Path, text: str) -> None:
    found = run("seen.rq", "--stream", "http://e/a=-", "--strict", stdin=text, cwd=folder, code=1)
    first, last = found.stderr.splitlines()
    assert first.startswith("error: ")
    assert last.startswith("failed: ")
    assert found.stdout.startswith("at_ms,weight,x,y")


# Usage ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--stream", "http://e/a"], "write IRI=PATH"),
        (["--stream", "http://e/a=nowhere.nq"], "no such file"),
        (["--stream", "http://e/a=no*.nq"], "no file matches"),
        (["--dataset", "nowhere.ttl"], "no such file"),
        (["--stream", "http://e/a=-", "--time", "rate:x"], "rate must be a number"),
        (["--stream", "http://e/a=-", "--element", "page"], "element 'page' is not known"),
        (["--stream", "http://e/a=-", "--lateness", "5 parsecs"], "--lateness 5 parsecs"),
        (["--stream", "http://e/a=-", "--changes", "-"], "one source only"),
        (["--stream", "http://e/a=-", "--format", "xlsx"], "one of table, csv, tsv, json, ndjson, nquads, parquet"),
        (["--stream", "http://e/a=-", "--format", "nquads"], "is for CONSTRUCT"),
        (["--stream", "http://e/a=-", "--format", "parquet"], "give --output"),
        (["--stream", "http://e/a=-", "--changes-time", "prov"], "use rate:N or arrival"),
        (["--stream", "http://e/a=-", "--input-format", "docx"], "format 'docx' is not known"),
        (["--stream", "http://e/a=-", "--dead-letter", "-"], "give --output or another path"),
        (["--stream", "http://e/a=-", "--engine", "steam"], "spark or embedded"),
        (["--stream", "http://e/a=seen.rq", "--checkpoint", "seen.rq"], "is a file"),
    ],
)
def test_what_cannot_be_is_one_message_and_code_2(folder: Path, arguments: list[str], message: str) -> None:
    found = run("seen.rq", *arguments, cwd=folder, code=2)
    assert message in found.stderr
    assert found.stderr.startswith("error: ")


@pytest.mark.parametrize("text", ["SELECT ?x {", "DESCRIBE ?x { ?x a ?y }"])
def test_a_query_that_is_wrong_or_not_run_is_one_message_and_code_2(folder: Path, text: str) -> None:
    (folder / "wrong.rq").write_text(text)
    found = run("seen.rq", "wrong.rq", "--stream", "http://e/a=-", cwd=folder, code=2)
    assert "error: wrong" in found.stderr


def test_why_a_query_has_no_answer_is_told_where_it_is_plain(folder: Path) -> None:
    prefix = "PREFIX : <http://e/> SELECT ?x ?y { STREAM :a [RANGE 1s]"
    told = {
        "{ ?x :other ?y }": "q has no answer: nothing in 1 element or the datasets matches `?x :other ?y`; compare",
        "{ ?x :p ?y . ?y :q ?z }": "matches `?y :q ?z`; compare",
        "{ ?x :p ?y } ?y :is ?z": "matches `?y :is ?z`; compare",
        "{ ?x :p ?y FILTER (?y > 10) }": None,
        "{ ?x :p ?y . ?x :other ?z FILTER (?y > 10) }": "matches `?x :other ?z`; compare",
        "{ ?x :p ?y . ?x :other ?z FILTER (?y > ?z) }": "matches `?x :other ?z`; compare",
        "{ ?x :p ?y . ?y :p ?z }": None,
        "{ ?x :p ?y }": None,
    }
    for body, reason in told.items():
        (folder / "q.rq").write_text(f"{prefix} {body} }}")
        found = run("q.rq", "--stream", "http://e/a=-", stdin=element("1", 0, "x0 p y0"), cwd=folder)
        assert (reason in found.stderr) if reason else ("warning" not in found.stderr), body


def test_streams_that_are_missing_or_not_read_are_told(folder: Path) -> None:
    found = run("seen.rq", "--stream", "http://e/other=-", cwd=folder)
    assert "warning: seen reads the stream <http://e/a>, which has no --stream" in found.stderr
    assert "warning: no query reads the stream <http://e/other>" in found.stderr


# Checkpoints ---------------------------------------------------------------------------------------------------------


def pairs(folder: Path, output: str, *more: str) -> list[str]:
    return [
        "pairs.rq",
        "--stream",
        "http://e/a=a",
        "--stream",
        "http://e/b=b",
        "--lateness",
        "20ms",
        "--output",
        output,
        *more,
    ]


@pytest.mark.parametrize("format", ["csv", "tsv", "json", "ndjson"])
def test_a_run_in_steps_over_a_checkpoint_writes_what_one_run_does(folder: Path, format: str) -> None:
    for part in range(3):
        # Parts overlap within the lateness, and the second stream is behind the first.
        for name, predicate, count in (("a", "p", 40), ("b", "q", 30)):
            (folder / name).mkdir(exist_ok=True)
            text = stream(part, f"{name}{part}-", predicate, count, 30, part * count * 10)
            (folder / name / f"{part}.nq").write_text(text)
        run(*pairs(folder, f"steps.{format}", "--dead-letter", "steps.jsonl", "--checkpoint", "kept"), cwd=folder)
    run(*pairs(folder, f"whole.{format}", "--dead-letter", "whole.jsonl"), cwd=folder)
    assert (folder / f"steps.{format}").read_text() == (folder / f"whole.{format}").read_text()
    assert sorted((folder / "steps.jsonl").read_text().splitlines()) == sorted(
        (folder / "whole.jsonl").read_text().splitlines()
    )


def by_time(output: Path) -> list[tuple[int, list[str]]]:
    """The answers of each time, in any order: it is that of ids, and what a checkpoint lets be forgotten may come again."""
    head, *lines = output.read_text().splitlines()
    assert head.startswith("at_ms,")
    return [(at_ms, sorted(some)) for at_ms, some in groupby(lines, key=lambda line: int(line.split(",")[0]))]


def test_a_run_that_is_interrupted_goes_on_from_its_checkpoint_and_gives_every_answer_once(folder: Path) -> None:
    for name, predicate in (("a", "p"), ("b", "q")):
        (folder / name).mkdir()
        (folder / name / "1.nq").write_text(stream(7, name, predicate, 6000, 30))
    arguments = pairs(folder, "steps.csv", "--checkpoint", "kept", "--checkpoint-every", "100ms", "--dead-letter", "d.jsonl")
    codes = []
    while not codes or codes[-1]:
        process = subprocess.Popen([PROGRAM, "run", "--engine", "embedded", *arguments], cwd=folder, stderr=subprocess.PIPE)
        deadline = time.monotonic() + 200
        written = folder / "kept" / "embedded.checkpoint"
        before = written.stat().st_mtime_ns if written.exists() else 0
        while process.poll() is None and time.monotonic() < deadline:
            if len(codes) < 6 and written.exists() and written.stat().st_mtime_ns != before:
                # One time politely, the next time not at all.
                process.send_signal(signal.SIGINT if len(codes) % 2 else signal.SIGKILL)
                break
            time.sleep(0.01)
        _, told = process.communicate(timeout=200)
        assert b"Traceback" not in told
        codes.append(process.returncode)
    assert codes[-1] == 0
    assert set(codes[:-1]) <= {130, -signal.SIGKILL, -signal.SIGINT}
    assert len(codes) > 1
    run(*pairs(folder, "whole.csv", "--dead-letter", "e.jsonl"), cwd=folder)
    assert by_time(folder / "steps.csv") == by_time(folder / "whole.csv")
    assert (folder / "d.jsonl").read_bytes() == (folder / "e.jsonl").read_bytes()


def test_another_query_over_a_checkpoint_is_refused(folder: Path) -> None:
    (folder / "a.nq").write_text(element("1", 0, "x0 p y0"))
    arguments = ["seen.rq", "--stream", "http://e/a=a.nq", "--checkpoint", "kept", "--output", "out.csv"]
    run(*arguments, cwd=folder)
    (folder / "seen.rq").write_text(SEEN.replace("1s", "2s"))
    found = run(*arguments, cwd=folder, code=2)
    assert found.stderr == (
        "error: --checkpoint kept: it was made with other queries; go on with the same, or begin in another folder\n"
    )


# Following, stopping -------------------------------------------------------------------------------------------------


def following(folder: Path, *arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [PROGRAM, "run", "--engine", "embedded", "--follow", *arguments],
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def read_line(process: subprocess.Popen[bytes]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().decode().rstrip("\r\n")


def test_a_run_that_follows_reads_new_files_until_interrupted(folder: Path) -> None:
    (folder / "in").mkdir()
    process = following(folder, "seen.rq", "--stream", "http://e/a=in")
    assert read_line(process) == "at_ms,weight,x,y"
    for number in range(2):
        (folder / "in" / ".hidden").write_text(element(str(number), number, f"x{number} p y0"))
        (folder / "in" / ".hidden").rename(folder / "in" / f"{number}.nq")
        assert read_line(process) == f"{number},1,http://e/x{number},http://e/y0"
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=30)
    assert process.returncode == 130
    assert told.startswith(b"stopped: 2 elements, 2 triples")
    assert told.endswith(b"; 2 answers; 0 late; 0 set aside\n")


def test_a_run_that_follows_standard_input_answers_at_once_and_ends_with_it(folder: Path) -> None:
    process = following(folder, "seen.rq", "--stream", "http://e/a=-")
    assert process.stdin is not None
    for number in range(2):
        process.stdin.write(element(str(number), number, f"x{number} p y0").encode())
        process.stdin.flush()
        line = read_line(process) if number else [read_line(process), read_line(process)][1]
        assert line == f"{number},1,http://e/x{number},http://e/y0"
    process.communicate(timeout=30)
    assert process.returncode == 0


def test_a_silent_source_holds_the_others_back_until_it_is_idle(folder: Path) -> None:
    (folder / "a").mkdir()
    (folder / "b").mkdir()
    (folder / "a" / "1.nq").write_text(element("1", 0, "x0 p y0"))
    begun = time.monotonic()
    process = following(folder, "seen.rq", "--stream", "http://e/a=a", "--stream", "http://e/b=b", "--idle", "2s")
    assert read_line(process) == "at_ms,weight,x,y"
    assert read_line(process) == "0,1,http://e/x0,http://e/y0"
    assert time.monotonic() - begun > 2
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=30)
    assert process.returncode == 130


@pytest.mark.parametrize("text", ["", element("1", 0, "x0 p y0")])
def test_ctrl_c_stops_a_run_that_waits_for_standard_input(folder: Path, text: str) -> None:
    process = subprocess.Popen(
        [PROGRAM, "run", "--engine", "embedded", "seen.rq", "--stream", "http://e/a=-"],
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin is not None
    process.stdin.write(text.encode())
    process.stdin.flush()
    assert read_line(process) == "at_ms,weight,x,y"
    process.send_signal(signal.SIGINT)
    # Its input stays open: it must not wait for that to end.
    assert process.wait(timeout=30) == 130
    process.communicate()


def test_a_closed_pipe_ends_the_run_without_a_word(folder: Path) -> None:
    (folder / "a.nt").write_text("".join(f"<http://e/x{n}> <http://e/p> <http://e/y> .\n" for n in range(50_000)))
    command = f"'{PROGRAM}' run --engine embedded seen.rq --stream http://e/a=a.nt --time rate:100000 | head -1"
    found = subprocess.run(
        ["bash", "-c", f"{command}; echo ${{PIPESTATUS[0]}}"], cwd=folder, capture_output=True, text=True, check=True
    )
    assert found.stdout.split() == ["at_ms,weight,x,y", "0"]
    assert "Traceback" not in found.stderr
    assert "BrokenPipe" not in found.stderr


def test_nothing_is_drawn_in_a_pipe(folder: Path) -> None:
    found = run("seen.rq", "--stream", "http://e/a=-", stdin=element("1", 0, "x0 p y0"), cwd=folder)
    assert "\x1b" not in found.stdout + found.stderr
    assert "\r" not in found.stderr
    assert os.linesep not in found.stderr.rstrip("\n")


@pytest.mark.parametrize("more", [[], ["--lateness", "10ms"], ["--stream", "http://e/b=b.nq"]])
def test_what_jumps_too_far_ahead_is_set_aside(folder: Path, more: list[str]) -> None:
    times = (0, 50, 10**12, 90)
    (folder / "a.nq").write_text("".join(element("a", at_ms, f"x{n} p y") for n, at_ms in enumerate(times)))
    (folder / "b.nq").write_text(element("b", 0, "x p y"))
    (folder / "all.rq").write_text("PREFIX : <http://e/> SELECT ?x { STREAM :a [ALL] { ?x :p ?y } }")
    found = run("all.rq", "--stream", "http://e/a=a.nq", *more, "--max-jump", "60ms", "--dead-letter", "dead", cwd=folder)
    assert [row[2] for row in rows(found.stdout)] == ["http://e/x0", "http://e/x1", "http://e/x3"]
    (dead,) = (folder / "dead").read_text().splitlines()
    assert json.loads(dead)["reason"] == "implausible: its time is 1000000000000 ms, more than 60 ms after 50 ms"
