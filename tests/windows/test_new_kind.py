"""The page on new kinds of windows is true: the class it shows is all that the grammar, the engine and Spark need."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "windows.md"

# Before anything has read the words of the grammar, which are made once.
USED = """
from millstream.windows.kinds import KINDS
KINDS[Days.clause] = Days

from millstream import Engine
from millstream.language import parse_query
from millstream.plan.distribute.cells import cells_for
from millstream.plan.passes import plan_of

text = "SELECT ?x { STREAM <http://e/s> [%s 2] { ?x <http://e/p> ?y . ?y <http://e/q> ?z } }"
for output in ("changes", "rstream"):
    engine = Engine()
    query = engine.register(text % "days", output=output)
    for at_ms, line in ((DAY - 1, "a> <http://e/p> <http://e/b"), (DAY, "b> <http://e/q> <http://e/c")):
        engine = Engine.restore(engine.snapshot())
        engine.push("http://e/s", f"<http://e/{line}> .", at_ms=at_ms)
    engine.finish()
    print(*((a.at_ms / DAY, a.weight) for a in engine.queries[0].take()), engine.clock_ms / DAY)
found = parse_query(text % "DAYS")
print(cells_for(found, plan_of(found), 4).count, str(found.windows[0].window) in engine.queries[0].explain())
try:
    parse_query((text % "DAYS").replace("2]", "0]"))
except Exception as error:
    print(str(error).splitlines()[0])
"""


def test_the_class_that_is_shown_is_all_that_it_takes() -> None:
    shown = PAGE.read_text("utf-8").split("```python\n")[1].split("```")[0]
    done = subprocess.run([sys.executable, "-c", shown + USED], capture_output=True, text=True, timeout=300, check=False)
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        "(1.0, 1) (2.0, -1) 3.0",
        "(1.0, 1) 3.0",
        "4 True",
        "line 1, column 33: window on <http://e/s>: DAYS must be at least 1, got 0.",
    ]
