"""The benchmarks still run: each at its smallest, its own checks of answers included. No time is asserted."""

import json
import signal
from pathlib import Path
from typing import Any

import pytest

from benchmarks import catalogue, charts, report, running
from benchmarks import progress as progress_module
from benchmarks.catalogue import ENGINE, PAPERS, PEERS, SERVER, Benchmark
from benchmarks.report import Part, Plot, Series, Table

EMBEDDED = [
    *(pytest.param(benchmark, id=benchmark.name, marks=pytest.mark.slow) for benchmark in catalogue.chosen([PAPERS])),
    *(pytest.param(benchmark, id=benchmark.name) for benchmark in catalogue.chosen([ENGINE, PEERS, SERVER])),
]


@pytest.mark.parametrize("benchmark", EMBEDDED)
def test_a_benchmark_gives_tables_or_text_that_can_be_written(benchmark: Benchmark, tmp_path: Path) -> None:
    part = running.run_one(benchmark, "smoke", report.Progress())
    assert part.tables or part.text
    images = charts.draw(part, tmp_path)
    text, data = report.write(tmp_path, part, report.machine(), report.CPU_TIMES, images)
    assert part.about in text.read_text()
    assert json.loads(data.read_text())["name"] == benchmark.name


def test_a_target_that_is_missed_says_so() -> None:
    missed, reached = report.at_least("speed", 3.0, 2.9), report.at_most("growth", 3.0, 2.9)
    text = report.markdown(report.Part("part", "About it.", targets=[missed, reached]))
    assert "NOT REACHED: speed: 2.90 (target >= 3.00)" in text
    assert "- reached: growth" in text


def test_a_plot_is_drawn_as_png_and_svg_and_shown_in_the_report(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="charts need matplotlib (pip install 'millstream[bench]')")
    lines = Series("millstream", [1, 10, 100], [5.0, None, 7.0], [4.0, None, 7.0], [6.0, None, 8.0], [False, False, True])
    kinds = Series("a peer", ["Q1", "Q2"], [5.0, 6.0])
    plots = [Plot("By size", "triples", "MB", [lines], log_x=True), Plot("By query", "query", "s", [kinds], log_y=True)]
    part = Part("part", "About it.", [Table("T", ("a",), [[1]])], plots)
    images = charts.draw(part, tmp_path)
    assert images == ["part-1.png", "part-2.png"]
    for image in images:
        assert (tmp_path / image).read_bytes().startswith(b"\x89PNG")
        assert "<svg" in (tmp_path / image).with_suffix(".svg").read_text()
    text, _ = report.write(tmp_path, part, {"machine": "this"}, "How.", images)
    assert "![By size](part-1.png)" in text.read_text()
    # Words in an SVG stay words, so that they can be searched and read out.
    assert "By query" in (tmp_path / "part-2.svg").read_text()


@pytest.mark.parametrize("xs", [[1, 10], ["Q1", "Q2"]], ids=["lines", "kinds"])
def test_who_gave_nothing_within_a_limit_is_crossed_out(xs: list[float], tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="charts need matplotlib (pip install 'millstream[bench]')")
    ours, peer = Series("millstream", xs, [5.0, 7.0]), Series("a peer", xs, [9.0, None], stopped=[False, True])
    for name, series in (("with", [ours, peer]), ("without", [ours])):
        plot = Plot("By size", "triples", "s", series, log_y=True, less_is_better=True)
        charts.draw(Part(name, "About it.", plots=[plot]), tmp_path)
    crossed = "x: nothing within the limit"
    assert crossed in (tmp_path / "with-1.svg").read_text()
    assert crossed not in (tmp_path / "without-1.svg").read_text()


def test_a_report_says_what_it_was_measured_on() -> None:
    assert "- data: real trips" in report.markdown(Part("part", "About it.", data=["real trips"]))


def test_names_of_lines_are_moved_apart_but_keep_their_order() -> None:
    assert charts.spread([0.0, 50.0], 10.0) == [0.0, 50.0]
    assert charts.spread([0.0, 2.0, 50.0], 10.0) == [-4.0, 6.0, 50.0]
    assert charts.spread([0.0, 0.0, 12.0], 10.0) == pytest.approx([-6.0, 4.0, 14.0])


def test_no_name_means_the_experiments_of_the_papers() -> None:
    assert catalogue.chosen([]) == catalogue.chosen([PAPERS])
    assert catalogue.whole_group(catalogue.chosen([ENGINE])) == ENGINE
    assert catalogue.whole_group(catalogue.chosen(["hubs", "join"])) is None
    with pytest.raises(KeyError, match="nothing"):
        catalogue.chosen(["hubs", "nothing"])


def test_a_benchmark_that_fails_is_reported_and_the_others_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def run_one(benchmark: Benchmark, *_: object) -> Part:
        if benchmark.name == "hubs":
            raise ValueError("answers differ")
        return Part(benchmark.name, "About it.", text=["found something"])

    monkeypatch.setattr(running, "run_one", run_one)
    parts = running.run(catalogue.chosen(["hubs", "parse"]), "smoke", tmp_path)
    assert [part.failed for part in parts] == ["ValueError: answers differ", ""]
    assert "FAILED: ValueError: answers differ" in (tmp_path / "hubs.md").read_text()
    assert "found something" in (tmp_path / "parse.md").read_text()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_run_that_is_stopped_keeps_what_it_has(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What has ended where it belongs; what was under way elsewhere, so that it replaces no whole report."""

    def measure(effort: str, progress: report.Progress) -> Part:
        part = Part("hubs", "About it.", tables=[Table("half", ("a",), [[1]])])
        if stops:
            signal.raise_signal(number)
        return part

    stops = False
    monkeypatch.setattr("benchmarks.hubs.run", measure)
    monkeypatch.setattr("benchmarks.sharing.run", measure)
    monkeypatch.setattr(running, "KEPT", tmp_path / "kept")
    monkeypatch.setattr(running, "PASSING", tmp_path / "passing")
    monkeypatch.setattr(catalogue, "_PARTS", {"hubs": "hubs", "sharing": "sharing"})
    running.run(catalogue.chosen([ENGINE]), "full")
    stops = True
    with pytest.raises(KeyboardInterrupt):
        running.run(catalogue.chosen([ENGINE]), "full")
    assert "**half**" in (tmp_path / "passing" / "hubs.md").read_text()
    assert "the run was stopped" in (tmp_path / "passing" / "hubs.md").read_text()
    assert "the run was stopped" not in (tmp_path / "kept" / "hubs.md").read_text()
    assert "stopped after 0 of 2 benchmarks" in capsys.readouterr().err
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_a_pipe_is_told_how_far_a_run_is(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(progress_module, "EVERY_S", 0.0)
    with report.Progress(2, tells=True) as progress:
        progress.begin("hubs")
        progress.expect(3)
        progress("one shape")
        progress.end()
        progress.begin("join")
    told = [line.split("] ")[1] for line in capsys.readouterr().err.splitlines()]
    assert told == ["hubs, 1 of 2", "hubs: one shape (1 of 3)", "join, 2 of 2"]
    with report.Progress() as progress:
        progress.begin("hubs")
    assert capsys.readouterr().err == ""


def test_a_full_run_of_a_whole_group_is_kept_with_a_page_that_names_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run_one(benchmark: Benchmark, *_: object) -> Part:
        return Part(benchmark.name, "About it.", targets=[report.at_least("speed", 3.0, 2.0)])

    monkeypatch.setattr(running, "run_one", run_one)
    monkeypatch.setattr(running, "KEPT", tmp_path / "kept")
    monkeypatch.setattr(running, "PASSING", tmp_path / "passing")
    running.run(catalogue.chosen([ENGINE]), "full")
    page = (tmp_path / "kept" / "engine.md").read_text()
    assert all(f"[{b.name}]({b.name}.md)" in page for b in catalogue.chosen([ENGINE]))
    assert f"0 of {len(catalogue.chosen([ENGINE]))} reached" in page
    assert not (tmp_path / "passing").exists()
    running.run(catalogue.chosen(["hubs"]), "full")
    running.run(catalogue.chosen([ENGINE]), "quick")
    assert {path.name for path in (tmp_path / "passing").glob("*.md")} >= {"hubs.md", "join.md"}


def test_a_report_says_where_with_what_and_how_it_was_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["/somewhere/bin/millstream", "bench", "hubs", "--quick"])
    monkeypatch.setattr(running, "run_one", lambda benchmark, *_: Part(benchmark.name, "About it.", text=["found"]))
    running.run(catalogue.chosen(["hubs"]), "quick", tmp_path)
    text = (tmp_path / "hubs.md").read_text()
    for line in (
        "- command: millstream bench hubs --quick",
        "- effort: quick",
        "- commit: ",
        "- cpu: ",
        "- packages: millstream ",
    ):
        assert line in text
    assert "/somewhere" not in text


def test_a_benchmark_without_a_huge_size_runs_at_its_full_one() -> None:
    asked = []

    class Module:
        ABOUT, SIZES = "About it.", {"full": 1}

        @staticmethod
        def run(effort: str, _: object) -> Part:
            asked.append(effort)
            return Part("any", "About it.")

    class Fixed(Benchmark):
        def module(self) -> Any:
            return Module

    full = running.run_one(Fixed("any", ENGINE, ""), "huge", report.Progress())
    Module.SIZES = {"full": 1, "huge": 2}
    huge = running.run_one(Fixed("any", ENGINE, ""), "huge", report.Progress())
    assert asked == ["full", "huge"]
    # Its report stands beside that of the full run.
    assert [full.name, huge.name] == ["any", "any-huge"]
