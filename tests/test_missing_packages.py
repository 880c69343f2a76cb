"""Where a package is not installed that only an extra brings, the error says which."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("package", "code", "said"),
    [
        ("pyspark", "from millstream import pipeline; pipeline.session()", "millstream.pipeline needs pyspark: pip install"),
        ("httpx", "import millstream.client", "millstream.client needs httpx: pip install 'millstream[server]'"),
        (
            "confluent_kafka",
            "import millstream as ms; ms.Engine().read('s', ms.kafka('a:1', 'b', format='nt'))",
            "Kafka needs",
        ),
    ],
)
def test_the_extra_is_named(package: str, code: str, said: str) -> None:
    # Nothing is found under a name that is None.
    program = f"import sys; sys.modules[{package!r}] = None; {code}"
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert found.returncode == 1
    assert said in found.stderr.splitlines()[-1]
