"""Public names, their documentation and the tree of errors stay together."""

from __future__ import annotations

import inspect
import re
from dataclasses import fields
from importlib import metadata
from pathlib import Path

import pytest

import millstream
from millstream import errors

ROOT = Path(__file__).resolve().parent.parent
ENGINE_PAGE = (ROOT / "docs" / "engine.md").read_text("utf-8")

_DRAWN = re.compile(r"(?P<indent>[ │├└─]*)(?P<name>[A-Z]\w+Error)\b")


def public(cls: type) -> list[str]:
    """What a class offers its users: what has no underscore and a docstring; the rest is for the layers around it."""
    return [name for name in vars(cls) if not name.startswith("_") and inspect.getdoc(getattr(cls, name))]


def drawn_tree() -> dict[str, str | None]:
    """Each error in the drawing with the one it hangs below."""
    found: dict[str, str | None] = {}
    above: list[tuple[int, str]] = []
    for line in (errors.__doc__ or "").splitlines():
        match = _DRAWN.match(line)
        if match is None:
            continue
        depth = len(match["indent"])
        above = [(d, name) for d, name in above if d < depth]
        found[match["name"]] = above[-1][1] if above else None
        above.append((depth, match["name"]))
    return found


def test_all_is_sorted_and_exists() -> None:
    assert list(millstream.__all__) == sorted(millstream.__all__)
    for name in millstream.__all__:
        assert hasattr(millstream, name)


def test_nothing_else_looks_public() -> None:
    # Names are imported when somebody asks for them.
    for name in millstream.__all__:
        getattr(millstream, name)
    names = {n for n, value in vars(millstream).items() if not n.startswith("_") and not inspect.ismodule(value)}
    assert names == set(millstream.__all__) - {"__version__"}


@pytest.mark.parametrize("name", millstream.__all__)
def test_every_public_name_is_documented(name: str) -> None:
    assert f"`{name}" in ENGINE_PAGE
    if name != "__version__":
        assert getattr(millstream, name).__doc__


@pytest.mark.parametrize("name", public(millstream.Engine))
def test_every_call_of_the_engine_is_documented(name: str) -> None:
    assert re.search(rf"`{name}[`(]", ENGINE_PAGE)


def test_what_is_documented_of_a_query_exists() -> None:
    _, _, section = ENGINE_PAGE.partition("## `ContinuousQuery`")
    rows = [line.split("|")[1] for line in section.partition("\n\nAn `Answer`")[0].splitlines() if line.startswith("| `")]
    names = [name for row in rows for name in re.findall(r"`(\w+)(?:\(\))?`", row)]
    assert len(names) > 10
    query = millstream.Engine().register("SELECT ?x { ?x ?p ?y }")
    assert [name for name in names if not hasattr(query, name)] == []


@pytest.mark.parametrize(
    "call", ["Engine", "register", "push", "push_table", "read", "load", "insert", "delete", "read_changes"]
)
def test_the_parameters_of_a_call_are_those_documented(call: str) -> None:
    found = millstream.Engine if call == "Engine" else getattr(millstream.Engine, call)
    shown = re.search(rf"[`\n]{call}\(([^`]*)\)[`\n]", ENGINE_PAGE)
    assert shown is not None
    documented = dict(part.partition("=")[::2] for part in re.split(r",\s+", shown[1]))
    actual = {
        p.name: "" if p.default is p.empty else repr(p.default)
        for p in inspect.signature(found).parameters.values()
        if p.name != "self"
    }
    assert {name: value.replace("_", "") for name, value in documented.items()} == actual


def test_the_drawn_tree_of_errors_is_the_real_one() -> None:
    real = {
        name: None if cls is errors.MillstreamError else cls.__mro__[1].__name__
        for name, cls in vars(errors).items()
        if inspect.isclass(cls) and issubclass(cls, Exception)
    }
    assert drawn_tree() == real


def test_every_error_is_public() -> None:
    assert set(drawn_tree()) <= set(millstream.__all__)


def test_every_error_has_its_place_on_the_page_of_errors() -> None:
    page = (ROOT / "docs" / "errors.md").read_text("utf-8")
    assert set(re.findall(r"^## `(\w+)`$", page, re.M)) == {*drawn_tree(), "ClientError"}


def test_every_public_name_is_in_the_reference() -> None:
    page = (ROOT / "docs" / "reference" / "api.md").read_text("utf-8")
    shown = set(re.findall(r"^### `millstream\.(\w+)`$", page, re.M))
    assert shown == set(millstream.__all__) - set(drawn_tree()) - {"__version__"}


def test_what_is_documented_of_a_query_is_in_the_reference() -> None:
    rows = re.findall(
        r"^\| `([^|]*)` \|", ENGINE_PAGE.partition("## `ContinuousQuery`")[2].partition("\n\nAn `Answer`")[0], re.M
    )
    documented = {name for row in rows for name in re.findall(r"(?:^|`)(\w+)", row)}
    reference = (ROOT / "docs" / "reference" / "api.md").read_text("utf-8")
    section = reference.partition("### `millstream.ContinuousQuery`")[2].partition("### ")[0]
    assert documented == set(re.findall(r"^\| `(\w+)", section, re.M))


def test_the_version_is_that_of_the_installed_package() -> None:
    assert metadata.version("millstream") == millstream.__version__


def test_functions_of_the_pipeline_are_what_their_names_mean() -> None:
    # Importing a module puts it into its package, under the name that `session`, `files` and `continuous` have too.
    from millstream import pipeline
    from millstream.pipeline.source.files import list_files

    assert callable(list_files)
    for name in pipeline.__all__:
        assert inspect.isfunction(getattr(pipeline, name)), name


def test_every_limit_is_on_the_security_page_with_its_default() -> None:
    page = (ROOT / "docs" / "security.md").read_text("utf-8")
    rows = dict(re.findall(r"^\| `(\w+)` \| ([^|]+) \|", page, re.M))
    units = {"MiB": 1 << 20, "GiB": 1 << 30}
    for field in fields(millstream.Limits):
        number, _, unit = rows[field.name].strip().partition(" ")
        assert int(number.replace(",", "")) * units.get(unit, 1) == field.default, field.name
