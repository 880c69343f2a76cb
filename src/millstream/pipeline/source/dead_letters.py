"""What a part had to set aside, as a file of JSON lines in the dead-letter folder.

The file is named after the part and moved into place when the part has been read, so that a task that is tried again
replaces it: each malformed statement is there once, however often it was read.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import uuid
from pathlib import Path
from typing import Any, TextIO

from pyspark import TaskContext

from millstream.ingest.messages import RejectedMessage
from millstream.pipeline.source.splits import Split
from millstream.rdf import Rejected

_BATCH = "streaming.sql.batchId"
"""The property of a task that says which trigger it is of."""
_LOG = logging.getLogger("millstream")


def task_split(path: str, source: int) -> Split:
    """A part named after the trigger and the partition of this task: one that is tried again replaces its letters."""
    context = TaskContext.get()
    partition = 0 if context is None else context.partitionId()
    trigger = 0 if context is None else int(context.getLocalProperty(_BATCH) or 0)
    return Split(path=path, source=source, sequence=trigger, start=partition)


class DeadLetters:
    """Receives what one part sets aside; without a folder it is counted and the first of it logged."""

    def __init__(self, folder: str | None, part: Split) -> None:
        self.count = 0
        self._part = part
        self._folder = None if folder is None else Path(folder)
        self._first: Rejected | None = None
        self._file: TextIO | None = None
        self._written: Path | None = None

    def __call__(self, rejected: Rejected) -> None:
        """Keep one."""
        self.count += 1
        self._first = self._first or rejected
        if self._folder is None:
            return
        if self._file is None:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._written = self._folder / f".{self._name()}.{uuid.uuid4().hex}"
            self._file = self._written.open("w", encoding="utf-8")
        row: dict[str, Any] = {
            "file": rejected.source,
            "line": rejected.line,
            "column": rejected.column,
            "reason": rejected.reason,
            "text": rejected.text,
        }
        if isinstance(rejected, RejectedMessage):
            row["message"] = rejected.message.to_json()
        self._file.write(json.dumps(row, ensure_ascii=False) + "\n")

    def __enter__(self) -> DeadLetters:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """The part has been read; or that was given up, and nothing is kept, since it will be read again."""
        if self._file is not None and self._folder is not None and self._written is not None:
            self._file.close()
            if kind is None:
                os.replace(self._written, self._folder / self._name())
            else:
                self._written.unlink(missing_ok=True)
        elif self._first is not None and kind is None:
            _LOG.warning("%s set aside (%d in all; the option deadLetter keeps them)", self._first.as_error(), self.count)

    def _name(self) -> str:
        part = self._part
        path = hashlib.blake2b(part.path.encode(), digest_size=6).hexdigest()
        return f"{part.source}-{part.sequence:09d}-{path}-{part.start}.jsonl"
