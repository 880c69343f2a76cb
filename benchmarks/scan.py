"""Speed of reading N-Triples into ids, beside the prototype's unvalidating parser and pyoxigraph's, in one run.

    python benchmarks/scan.py [universities]

Prints M triples a CPU-second, the median of five rounds in which all take turns, and the ratio to each peer. `encode`
keeps all triples, `summary` a fraction of a percent, `window` forgets what left a window of 100,000 triples. Data and
prototype come from ../shared/yardstick, or the folder MILLSTREAM_YARDSTICK names; it is built in a temporary folder.
"""

from __future__ import annotations

import importlib.util
import io
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import pyoxigraph as ox

from millstream.kernels.dictionary import Dictionary
from millstream.kernels.scanner import Scanner
from millstream.kernels.scanner_summary import Summary

YARDSTICK = Path(os.environ.get("MILLSTREAM_YARDSTICK") or Path(__file__).resolve().parents[2] / "shared" / "yardstick")
ONTOLOGY = b"http://swat.cse.lehigh.edu/onto/univ-bench.owl#"
TYPE = b"<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
PIECE = 1 << 20


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.name.partition(".")[0], path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def universities(count: int) -> bytes:
    generate = load(YARDSTICK / "universities.py").gen
    return "".join(f"{s} {p} {o} .\n" for s, p, o in generate(count, False, random.Random(42))).encode()


def prototype(folder: Path) -> ModuleType:
    for name in ("kernel.pyx", "rows.pyx", "setup.py"):
        shutil.copyfile(YARDSTICK / name, folder / name)
    command = [sys.executable, "setup.py", "build_ext", "--inplace"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return load(next(folder.glob("kernel*.so")))


def pieces(data: bytes) -> list[memoryview]:
    view = memoryview(data)
    return [view[start : start + PIECE] for start in range(0, len(view), PIECE)]


def scan(data: bytes, summary: Summary | None = None) -> None:
    scanner = Scanner(Dictionary(), summary=summary)
    for piece in pieces(data):
        assert not scanner.feed(piece).errors
    scanner.feed(b"", final=True)


def scan_window(data: bytes, window: int = 100_000) -> None:
    dictionary = Dictionary()
    scanner = Scanner(dictionary)
    for piece in pieces(data):
        rows = scanner.feed(piece)
        for column in (rows.s, rows.p, rows.o):
            dictionary.touch(column, rows.index + window)
        dictionary.forget_before(scanner.statements)
        dictionary.settle()


def parse_with_pyoxigraph(data: bytes) -> None:
    for _ in ox.parse(io.BytesIO(data), format=ox.RdfFormat.N_TRIPLES):
        pass


def speeds(runs: dict[str, Callable[[], object]], triples: int, rounds: int = 5) -> dict[str, float]:
    seen: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            began = time.process_time()
            run()
            seen[name].append(triples / (time.process_time() - began) / 1e6)
    return {name: statistics.median(values) for name, values in seen.items()}


def main() -> None:
    if not YARDSTICK.exists():
        sys.exit(f"no data: {YARDSTICK} is not there; set MILLSTREAM_YARDSTICK")
    data = universities(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
    triples = data.count(b"\n")
    head, professor = b"<" + ONTOLOGY + b"headOf>", b"<" + ONTOLOGY + b"FullProfessor>"
    summary = Summary([(None, head, None), (None, TYPE, professor)])
    print(f"{triples} triples, {len(data) >> 20} MB; M triples a CPU-second")
    with tempfile.TemporaryDirectory() as folder:
        kernel = prototype(Path(folder))
        out = np.empty((triples, 3), np.int64)
        bytes_array = np.frombuffer(data, np.uint8)
        peers: dict[str, Callable[[], object]] = {
            "prototype": lambda: kernel.Dict().parse(bytes_array, out),
            "pyoxigraph": lambda: parse_with_pyoxigraph(data),
        }
        ours: dict[str, Callable[[], object]] = {
            "encode": lambda: scan(data),
            "summary": lambda: scan(data, summary),
            "window": lambda: scan_window(data),
        }
        found = speeds({**peers, **ours}, triples)
    for name in peers:
        print(f"{name:12}{found[name]:6.2f}")
    for name in ours:
        ratios = ", ".join(f"{found[name] / found[peer]:.1f} x {peer}" for peer in peers)
        print(f"{name:12}{found[name]:6.2f}   {ratios}")


if __name__ == "__main__":
    main()
