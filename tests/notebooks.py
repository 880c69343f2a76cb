"""Notebooks of examples/notebooks, run as a person would: cell by cell in one namespace."""

from __future__ import annotations

import ast
import contextlib
import io
import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent.parent / "examples" / "notebooks"


def cells(name: str) -> list[dict[str, Any]]:
    found: dict[str, Any] = json.loads((FOLDER / name).read_text("utf-8"))
    assert found["nbformat"] == 4
    listed: list[dict[str, Any]] = found["cells"]
    return listed


def run(name: str) -> list[str]:
    """What each code cell prints; the value of its last line too, if it has one."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    printed = []
    for number, cell in enumerate(cell for cell in cells(name) if cell["cell_type"] == "code"):
        tree = ast.parse("".join(cell["source"]), f"{name}, cell {number}")
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(compile(tree, f"{name}, cell {number}", "exec"), namespace)
            if isinstance(last, ast.Expr):
                value = eval(compile(ast.Expression(last.value), f"{name}, cell {number}", "eval"), namespace)
                print("" if value is None else value)
        printed.append(out.getvalue())
    return printed
