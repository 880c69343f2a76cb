"""Where answers go: the protocol `Sink`, and the result formats as sinks of files and of standard output."""

from millstream.output.dead_letters import DeadLetters
from millstream.output.formats import OutputFormat, file_sink
from millstream.output.sink import Sink

__all__ = ["DeadLetters", "OutputFormat", "Sink", "file_sink"]
