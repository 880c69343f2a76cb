"""The way in: any source as chunks of elements, each with the position behind it, encoded when somebody takes it."""

from millstream.ingest.chunk import Chunk, Source, Want
from millstream.ingest.columns import Columns
from millstream.ingest.sources import Files, chunks_of, chunks_of_table, files, largest_time, quads_of

__all__ = [
    "Chunk",
    "Columns",
    "Files",
    "Source",
    "Want",
    "chunks_of",
    "chunks_of_table",
    "files",
    "largest_time",
    "quads_of",
]
