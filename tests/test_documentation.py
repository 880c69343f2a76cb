"""What the documentation shows is true: its Python runs and prints what is shown, its queries are read or refused.

In README.md and below docs/:

- `python` blocks of a page run in order in one namespace, in an empty folder; a `text` block right behind one is what
  it prints, and a block without one prints nothing; `python kafka` is one that finds a broker at localhost:9092;
- `sparql` blocks are read without a warning, `sparql lenient` ones with a warning, `sparql refused` ones not at all;
- `shell` blocks are run where there is a server to type them at (tests/server/test_protocol_page.py), `toml` and `ini`
  blocks are files;
- `console` blocks are commands after `$` with what they write to standard output and standard error, in that order;
- `check` blocks are SPECs that pass;
- links point at files that exist, and at headings that these have; `make docs` asks the same of the site.
"""

from __future__ import annotations

import contextlib
import functools
import io
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer
from typer.testing import CliRunner

from millstream.cli.main import app
from millstream.errors import QueryError
from millstream.language import parse_query
from millstream.testing import check

ROOT = Path(__file__).resolve().parent.parent
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / ".github").rglob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
PAGES += sorted((ROOT / "examples").rglob("*.md"))

_FENCED = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"\]\(([^)#\s]*)(?:#([^)\s]*))?\)")
_HEADING = re.compile(r"^#+ +(.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A fenced block: what it is said to be, its text, its line in the page, and whether it follows another at once."""

    kind: str
    text: str
    line: int
    follows: bool


def blocks_of(page: Path) -> list[Block]:
    text = page.read_text("utf-8")
    found = []
    end = -1
    for match in _FENCED.finditer(text):
        follows = end >= 0 and not text[end : match.start()].strip()
        found.append(Block(match[1].strip(), match[2], text.count("\n", 0, match.start()) + 1, follows))
        end = match.end()
    return found


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def blocks(*kinds: str) -> list[Any]:
    return [
        pytest.param(block, id=f"{name_of(page)}:{block.line}")
        for page in PAGES
        for block in blocks_of(page)
        if block.kind in kinds
    ]


def pages_with(*kinds: str) -> list[Any]:
    return [pytest.param(page, id=name_of(page)) for page in PAGES if any(b.kind in kinds for b in blocks_of(page))]


@functools.cache
def broker() -> str:
    """The address of a broker, where the topic `readings` has three messages."""
    producer = Producer({"bootstrap.servers": "none", "test.mock.num.brokers": 1})
    [server] = producer.list_topics(timeout=10).brokers.values()
    for sensor, degrees, at_ms in [("s1", 21, 1000), ("s1", 35, 4000), ("s2", 31, 6000)]:
        text = f"<http://example.org/{sensor}> <http://example.org/shows> {degrees} ."
        producer.produce("readings", text, partition=0, timestamp=at_ms)
    assert producer.flush(10) == 0
    _BROKERS.append(producer)
    return f"{server.host}:{server.port}"


_BROKERS: list[Producer] = []
"""A broker lives as long as its client."""


@pytest.mark.parametrize("page", pages_with("python", "python kafka"))
def test_the_python_of_a_page_runs_and_prints_what_is_shown(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, Any] = {"__name__": "__main__"}
    found = blocks_of(page)
    for block, behind in zip(found, [*found[1:], None], strict=True):
        if block.kind not in ("python", "python kafka"):
            continue
        printed = io.StringIO()
        # Padded, so that a traceback shows the page's own line numbers.
        text = block.text.replace("localhost:9092", broker()) if block.kind == "python kafka" else block.text
        code = compile("\n" * block.line + text, str(page), "exec")
        with contextlib.redirect_stdout(printed):
            exec(code, namespace)
        shown = behind.text if behind is not None and behind.kind == "text" and behind.follows else ""
        assert printed.getvalue() == shown, f"{name_of(page)}, line {block.line}"


@pytest.mark.parametrize("block", blocks("sparql"))
def test_a_query_that_is_shown_is_read(block: Block) -> None:
    assert parse_query(block.text).warnings == ()


@pytest.mark.parametrize("block", blocks("sparql lenient"))
def test_a_query_shown_as_lenient_is_read_with_a_warning(block: Block) -> None:
    assert parse_query(block.text).warnings


@pytest.mark.parametrize("block", blocks("sparql refused"))
def test_a_query_shown_as_refused_is_refused(block: Block) -> None:
    with pytest.raises(QueryError):
        parse_query(block.text)


@pytest.mark.parametrize("block", blocks("console"))
def test_a_command_that_is_shown_writes_what_is_shown(block: Block, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    Path("build").mkdir(exist_ok=True)  # where commands that are shown write
    for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        command, _, shown = part.partition("\n")
        program, *arguments = shlex.split(command)
        assert program == "millstream"
        result = CliRunner().invoke(app, arguments)
        # A slow machine tells how long it took.
        said = re.sub(r" in [0-9.]+ s \([0-9,]+ elements/s\)", "", result.stdout + result.stderr)
        assert said.rstrip() == shown.rstrip()


@pytest.mark.parametrize("block", blocks("check"))
def test_a_spec_that_is_shown_passes(block: Block) -> None:
    check(block.text)


def anchors(page: Path) -> set[str]:
    """What links to headings of a page are made of, as GitHub and the site make it."""
    text = _FENCED.sub("", page.read_text("utf-8"))
    headings = (re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading) for heading in _HEADING.findall(text))
    return {re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", [pytest.param(page, id=name_of(page)) for page in PAGES])
def test_links_lead_to_files_and_headings(page: Path) -> None:
    missing = []
    for target, anchor in _LINK.findall(_FENCED.sub("", page.read_text("utf-8"))):
        # What lies above the project is GitHub's own: the state of a workflow.
        if "://" in target or target.startswith(("mailto:", "../../actions/")):
            continue
        there = page.parent / target if target else page
        if not there.exists() or (anchor and anchor not in anchors(there)):
            missing.append(f"{target}#{anchor}")
    assert missing == []


def test_what_the_site_names_is_there() -> None:
    from docs.making.site import OUTSIDE

    _, _, nav = (ROOT / "mkdocs.yml").read_text("utf-8").partition("\nnav:\n")
    named = re.findall(r"([\w/.-]+\.md)$", nav, re.MULTILINE)
    outside = {uri: ROOT / name for name, uri in OUTSIDE.items()}
    assert len(set(named)) == len(named)
    assert [uri for uri in named if not outside.get(uri, ROOT / "docs" / uri).exists()] == []


@pytest.mark.parametrize("page", [pytest.param(page, id=name_of(page)) for page in PAGES])
def test_every_block_says_what_it_is(page: Path) -> None:
    known = {
        "",
        "python",
        "python kafka",
        "text",
        "sparql",
        "sparql lenient",
        "sparql refused",
        "check",
        "console",
        "shell",
        "toml",
        "ini",
    }
    assert {block.kind for block in blocks_of(page)} <= known


def modules() -> list[str]:
    """The path of every source file below the package, as the tree of ARCHITECTURE.md names it."""
    package = ROOT / "src" / "millstream"
    suffixes = {".py", ".pyx", ".pxd", ".lark"}
    found = (path.relative_to(package) for path in package.rglob("*") if path.suffix in suffixes)
    return sorted(str(path) for path in found if path.name != "__init__.py")


def described() -> dict[str, str]:
    """The lines of the tree: a file's path and what is said of it."""
    found: dict[str, str] = {}
    folder = ""
    for line in (ROOT / "ARCHITECTURE.md").read_text("utf-8").splitlines():
        if match := re.fullmatch(r"([a-z_/]+/)\s+\S.*", line):
            folder = match[1]
        elif match := re.fullmatch(r"(  )?([a-z_]+\.[a-z]+(?:, [a-z_.]+)*)\s+(\S.*)", line):
            for name in match[2].split(", "):
                found[(folder if match[1] else "") + name] = match[3]
    return found


def test_the_tree_of_the_architecture_names_every_module_and_no_other() -> None:
    assert sorted(described()) == modules()


@pytest.mark.parametrize("example", sorted(ROOT.glob("examples/*.py")), ids=lambda path: path.name)
def test_an_example_runs(example: Path, tmp_path: Path) -> None:
    # In a process of its own, as a person would: a Spark that runs already has another folder for relative paths.
    found = subprocess.run([sys.executable, example], cwd=tmp_path, capture_output=True, check=False, timeout=300)
    assert found.returncode == 0, found.stderr.decode()[-2000:]
    assert found.stdout
