"""Notebooks run from their first cell to their last, and are kept without outputs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import notebooks


@pytest.mark.parametrize("path", sorted(notebooks.FOLDER.glob("*.ipynb")), ids=lambda path: path.name)
def test_a_notebook_is_kept_without_outputs(path: Path) -> None:
    for cell in notebooks.cells(path.name):
        if cell["cell_type"] == "code":
            assert (cell["outputs"], cell["execution_count"]) == ([], None)


def test_first_steps() -> None:
    printed = notebooks.run("first_steps.ipynb")
    assert printed[2].splitlines()[-1] == "9 s: [('kitchen', 26), ('kitchen', 27), ('study', 28)]"
    assert "study" in printed[4]
    assert "kitchen" in printed[4]
    assert printed[5].startswith("warm: passed, 2 answers")


def test_both_notebooks_are_run() -> None:
    # The other one is in tests/pipeline/job/test_spark_notebook.py, which shares a session.
    assert sorted(path.name for path in notebooks.FOLDER.glob("*.ipynb")) == ["first_steps.ipynb", "on_spark.ipynb"]
