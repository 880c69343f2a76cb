"""What a worker knows of a job, whichever of its tasks comes first."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations

import pytest

from millstream.pipeline.datasets.static import StaticData
from millstream.pipeline.job.specification import StreamedSource, job_spec
from millstream.pipeline.state.processor import BucketProcessor, CellProcessor
from tests.pipeline.victims import COUNTED


@dataclass(frozen=True)
class Bytes:
    """What was broadcast."""

    value: bytes


@pytest.mark.parametrize("order", list(permutations(["cell", "bucket"])), ids=" first, then ".join)
def test_cells_have_the_datasets_in_whatever_order_a_worker_begins(order: tuple[str, ...]) -> None:
    job = f"a job that begins with a {order[0]}"
    text = job_spec(COUNTED, [StreamedSource("http://e/s")], cells=2, output="changes").to_json()
    cell = CellProcessor(job, text, Bytes(StaticData().to_bytes()))
    bucket = BucketProcessor(job, text)
    for which in order:
        processor = cell if which == "cell" else bucket
        assert processor.spec.stages is not None
        if processor is cell:
            assert cell.static is not None
            assert cell.static is cell.static
