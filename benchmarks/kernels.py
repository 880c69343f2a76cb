"""The parts of `benchmarks.join`, which compares scan and interval join with the prototype kernels, as they print them."""

from __future__ import annotations

import contextlib
import io
import re
import statistics

from benchmarks import join, yardstick
from benchmarks.report import Part, Progress
from benchmarks.timing import Effort

ABOUT = "Scan and interval join over ids, beside the prototype kernels: ratios above 1 mean that ours is faster."
PROTOTYPES = ("universities", "labelled")
"""Parts that need the prototypes."""
RATIO = re.compile(r"ratio +([0-9.]+)")
CHOSEN: dict[Effort, tuple[str, ...]] = {
    "smoke": ("merge",),
    "quick": ("labelled", "dataset", "merge"),
    "full": tuple(join.PARTS),
}


def run(effort: Effort, progress: Progress) -> Part:
    part = Part("join", ABOUT)
    prototypes = yardstick.build(effort, progress)
    for name in join.PARTS:
        if name not in CHOSEN[effort]:
            part.missing.append(f"{name}: only in longer runs")
        elif name in PROTOTYPES and not prototypes:
            part.missing.append(f"{name}: {yardstick.ABSENT}")
        else:
            progress(name)
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                join.PARTS[name](effort != "full")
            lines = printed.getvalue().splitlines()
            part.text += lines
            ratios = [float(ratio) for line in lines for ratio in RATIO.findall(line) if "median" not in line]
            if ratios:
                ahead = sum(ratio >= 1 for ratio in ratios)
                middle, least = statistics.median(ratios), min(ratios)
                part.text.append(f"{name}: ahead in {ahead} of {len(ratios)}; median ratio {middle:.2f}, least {least:.2f}")
    return part
