"""The reference pages that are made: the API from docstrings and signatures, the command line from its own options."""

from __future__ import annotations

import dataclasses
import inspect
import re
from types import MemberDescriptorType
from typing import Any

import click
import typer.main

import millstream
from millstream import client, pipeline, testing
from millstream.cli.main import app

_MADE = "<!-- Made by `make drawings` from {}: change it there. -->\n"

GROUPS = {
    "The engine": ("Engine", "ContinuousQuery", "Answer", "Limits"),
    "Sources": ("files", "kafka", "mqtt", "sse", "Source", "Want", "Chunk", "StreamElement", "Rejected"),
    "Sinks": ("file_sink", "Sink"),
}
"""The public names, errors aside, which have a page of their own."""

LISTED = {
    "Answer": ["at_ms", "weight", "bindings", "python", "triple", "boolean"],
    "ContinuousQuery": (
        "take take_table to_pandas to_polars to solutions variables name text output warnings explain operators "
        "measure live stats close closed"
    ).split(),
    "Want": ["elements", "read"],
    "Limits": [],
}
"""What is public of classes that other layers use as well; of all others, what has a docstring."""


CONSTRUCTED = ("Engine", "Limits", "Timeline", "Client")
"""Classes that callers make objects of."""


def api() -> str:
    """The page of the API."""
    parts = [
        "# API\n",
        _MADE.format("docstrings"),
        "Names of `millstream` and of its modules `pipeline`, `testing` and `client`, with what their docstrings say.",
        "[The engine](../engine.md) and [Spark](../spark.md) explain them, [errors](../errors.md) have their own page.\n",
    ]
    for title, names in GROUPS.items():
        parts.append(f"## {title}\n")
        for name in names:
            parts += _named(f"millstream.{name}", getattr(millstream, name), LISTED.get(name))
    parts.append("## Spark\n")
    for name in pipeline.__all__:
        parts += _named(f"millstream.pipeline.{name}", getattr(pipeline, name))
    parts.append("## Testing\n")
    for name in testing.__all__:
        parts += _named(f"millstream.testing.{name}", getattr(testing, name))
    parts.append("## The client of the server\n")
    for name in ("Client", "Change", "Progress", "ClientError"):
        parts += _named(f"millstream.client.{name}", getattr(client, name))
    return "\n".join(parts)


def _named(name: str, thing: Any, listed: list[str] | None = None) -> list[str]:
    parts = [f"### `{name}`\n"]
    short = name.rpartition(".")[2]
    if not inspect.isclass(thing) or short in CONSTRUCTED:
        parts.append(_code(short + signature_of(thing)))
    parts.append(_prose(thing))
    if inspect.isclass(thing):
        rows = [row for member in (_members(thing) if listed is None else listed) if (row := _row(thing, member))]
        if rows:
            parts.append("\n".join(["| | |", "|---|---|", *rows]) + "\n")
    return parts


def _members(cls: type) -> list[str]:
    fields = list(_fields(cls))
    said = [name for name, member in vars(cls).items() if not name.startswith("_") and inspect.getdoc(member)]
    return [*fields, *(name for name in said if name not in fields)]


def _fields(cls: type) -> dict[str, str]:
    """Names and types of what a record has."""
    return {field.name: str(field.type) for field in dataclasses.fields(cls)} if dataclasses.is_dataclass(cls) else {}


def _row(cls: type, name: str) -> str:
    if name in _fields(cls):
        return f"| `{name}: {_cell(_fields(cls)[name])}` | |"
    member = inspect.getattr_static(cls, name, None)
    if member is None or isinstance(member, MemberDescriptorType):
        return f"| `{name}` | {_ATTRIBUTES[name]} |"
    said = _cell(" ".join((inspect.getdoc(member) or _ATTRIBUTES.get(name, "")).split()))
    if isinstance(member, property):
        return f"| `{name}` | {said} |"
    return f"| `{name}{_cell(signature_of(getattr(cls, name)))}` | {said} |"


_ATTRIBUTES = {
    "text": "The text, as it was given.",
    "output": "What it emits: `istream`, `dstream`, `rstream` or `changes`.",
    "closed": "Whether it was closed.",
}
"""What attributes without a docstring are."""


def signature_of(thing: Any) -> str:
    """A signature without self and without the quotes of annotations."""
    try:
        found = inspect.signature(thing)
    except (TypeError, ValueError):
        return ""
    kept = [p for p in found.parameters.values() if p.name not in ("self", "cls")]
    return re.sub(r"'([^']*)'(?=[,)= ]|$)", r"\1", _plain(found.replace(parameters=kept)))


def _plain(signature: inspect.Signature) -> str:
    """Annotations are strings, which `str` would quote; defaults are values, which keep their quotes."""
    parts: list[str] = []
    named = False
    for p in signature.parameters.values():
        if p.kind is p.KEYWORD_ONLY and not named:
            named = True
            parts.append("*")
        stars = "*" if p.kind is p.VAR_POSITIONAL else "**" if p.kind is p.VAR_KEYWORD else ""
        named = named or p.kind is p.VAR_POSITIONAL
        typed = "" if p.annotation is p.empty else f": {_spelled(p.annotation)}"
        default = "" if p.default is p.empty else f"{' = ' if typed else '='}{p.default!r}"
        parts.append(f"{stars}{p.name}{typed}{default}".replace("'", '"'))
    gives = (
        ""
        if signature.return_annotation in (signature.empty, None, "None")
        else f" -> {_spelled(signature.return_annotation)}"
    )
    return f"({', '.join(parts)}){gives}"


def _spelled(annotation: Any) -> str:
    return annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))


def _code(signature: str) -> str:
    """A call, its parameters a line each if they are many."""
    if len(signature) > 100:
        head, _, rest = signature.partition("(")
        inner, _, gives = rest.rpartition(")")
        depth, lines, line = 0, [], ""
        for sign in inner:
            depth += (sign in "[(") - (sign in "])")
            if sign == "," and depth == 0:
                lines.append(line.strip())
                line = ""
            else:
                line += sign
        signature = head + "(\n" + "".join(f"    {each},\n" for each in [*lines, line.strip()]) + ")" + gives
    return f"```\n{signature}\n```\n"


def _prose(thing: Any) -> str:
    """A docstring as Markdown: its examples are blocks of code."""
    lines, blocks = (inspect.getdoc(thing) or "").splitlines(), []
    code = False
    for line in lines:
        if line.startswith(">>>") and not code:
            blocks.append("```")
            code = True
        elif code and not line.strip():
            blocks.append("```")
            code = False
        blocks.append(line)
    return "\n".join([*blocks, *(["```"] if code else [])]) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def command_line() -> str:
    """The page of all commands and options."""
    parts = [
        "# All options\n",
        _MADE.format("the options themselves"),
        "Every command and option, as `--help` has them. [The command line](../command-line.md) explains them.\n",
    ]
    root = typer.main.get_command(app)
    assert hasattr(root, "commands")
    for name, command in root.commands.items():
        if command.hidden:
            continue
        parts += [f"## `millstream {name}`\n", _help(command.help or "")]
        rows = [_option(parameter) for parameter in command.params if parameter.name != "help"]
        if rows:
            parts.append("\n".join(["| | | default |", "|---|---|---|", *rows]) + "\n")
    return "\n".join(parts)


def _help(text: str) -> str:
    """What a command says of itself; commands that it shows are blocks of code."""
    paragraphs = [" ".join(paragraph.split()) for paragraph in text.split("\n\n")]
    return "\n\n".join(f"```\n{p}\n```" if p.startswith("millstream ") else p for p in paragraphs) + "\n"


def _option(parameter: click.Parameter) -> str:
    said = _cell(" ".join((getattr(parameter, "help", None) or "").split()))
    shown = str(parameter.metavar or parameter.name)
    if parameter.param_type_name == "option":
        flags = ", ".join([*parameter.opts, *parameter.secondary_opts])
        shown = flags if getattr(parameter, "is_flag", False) else f"{flags} {parameter.metavar or ''}".strip()
    default = parameter.default
    usual = "" if default in (None, False, ()) or callable(default) or parameter.required else f"`{default}`"
    return f"| `{_cell(shown)}` | {said} | {usual} |"
