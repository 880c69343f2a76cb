"""A run: what the command line asks of either engine, and where answers and what was set aside go.

`RunOptions` says what is asked, `Run` is what an engine's runner is handed; both know nothing of terminals or of Spark.
"""

from millstream.runs.dead_letters import DeadLetters
from millstream.runs.formats import OutputFormat
from millstream.runs.options import GraphSource, RunOptions, RunQuery, StreamSource
from millstream.runs.outputs import Outputs
from millstream.runs.run import Counts, Run, Stopped

__all__ = [
    "Counts",
    "DeadLetters",
    "GraphSource",
    "OutputFormat",
    "Outputs",
    "Run",
    "RunOptions",
    "RunQuery",
    "Stopped",
    "StreamSource",
]
