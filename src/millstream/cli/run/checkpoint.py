"""Checkpoints of the embedded runner: one file, replaced as a whole, with everything a run goes on from.

Invariant: the engine's state, the places in the sources, what sources hold back and the positions of the outputs are of one
moment between two elements. Going on from there with the outputs opened at those positions gives every answer once.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from millstream.cli.run.options import RunOptions
from millstream.connect.kafka.options import shown
from millstream.errors import OptionError
from millstream.ingest import Columns
from millstream.ingest.chunk import known
from millstream.ingest.merging import MergeInput, Ready
from millstream.ingest.plain_columns import columns_of, plain
from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.output.files import replace_file, with_digest, without_digest

LAYOUT = 3
_NAME = "embedded.checkpoint"
_MAGIC = b"millstream checkpoint "


@dataclass(frozen=True, slots=True)
class Saved:
    """What a checkpoint holds."""

    snapshot: bytes
    merge_inputs: list[dict[str, Any]]
    positions: dict[str, str]
    counts: dict[str, Any]


class Checkpoint:
    """A folder that a run's state is kept in."""

    def __init__(self, options: RunOptions) -> None:
        assert options.checkpoint is not None
        self._path = options.checkpoint / _NAME
        self._asked = _asked(options)

    def load(self) -> Saved | None:
        """What an earlier run left, if any; refuses what is of another run, and says what differs."""
        try:
            data = self._path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise OptionError(f"--checkpoint {self._path.parent}: cannot be read: {error.strerror or error}") from None
        content = without_digest(_MAGIC, data)
        if content is None:
            raise self.refusal("it is damaged")
        head, _, snapshot = content.partition(b"\n")
        found = json.loads(head)
        if found["layout"] != LAYOUT:
            raise self.refusal("it was made by another version of millstream")
        for name, value in self._asked.items():
            if found["asked"].get(name) != value:
                raise OptionError(
                    f"--checkpoint {self._path.parent}: it was made with other {name}; go on with the same, "
                    "or begin in another folder"
                )
        return Saved(snapshot, found["lanes"], found["positions"], found["counts"])

    def refusal(self, reason: object) -> OptionError:
        """What to raise if what was kept cannot be gone on from."""
        why = str(reason).rstrip(".")
        return OptionError(
            f"--checkpoint {self._path.parent}: {self._path} cannot be gone on from: {why}; put back a copy of it, or "
            "remove it and begin anew"
        )

    def save(self, saved: Saved) -> None:
        """Replaces what was there, or leaves it as it was."""
        head = {
            "layout": LAYOUT,
            "asked": self._asked,
            "lanes": saved.merge_inputs,
            "positions": saved.positions,
            "counts": saved.counts,
        }
        replace_file(self._path, with_digest(_MAGIC, json.dumps(head).encode() + b"\n" + saved.snapshot))


def _asked(options: RunOptions) -> dict[str, Any]:
    """What must stay the same, by the words that say what differs."""
    return {
        "queries": [query.text for query in options.queries],
        "streams": [[source.iri, shown(source.path)] for source in options.streams],
        "datasets": [[source.graph, source.path] for source in options.datasets],
        "changes": [[source.graph, shown(source.path)] for source in options.changes],
        "times of elements": [options.time, options.changes_time],
        "elements": options.element,
        "formats of input": options.input_format,
        "lateness": options.lateness_ms,
        "largest jump": options.max_jump_ms,
        "output": options.output and shown(options.output),
        "format": options.format.value,
        "dead letters": options.dead_letter and shown(options.dead_letter),
    }


def merge_input_state(merge_input: MergeInput, dictionary: Dictionary) -> dict[str, Any]:
    """A lane as plain values: where its source was, and what it holds."""
    largest_ms, passed_ms, arrivals, held = merge_input.ordering.dump()
    return {
        "position": merge_input.behind.position.decode(),
        "ready": [plain(ready.columns, dictionary) for ready in merge_input.ready],
        "order": [largest_ms, passed_ms, arrivals],
        "held": [[at_ms, number, plain(element, dictionary)] for at_ms, number, element in held],
    }


def restore_merge_input(merge_input: MergeInput, state: dict[str, Any], dictionary: Dictionary) -> None:
    """What a lane held, and the place of its source, which was made with it."""
    merge_input.behind = known(state["position"].encode())
    for found in state["ready"]:
        columns = _columns(found, dictionary)
        merge_input.ready.append(Ready(columns, columns.times() if merge_input.is_timed else None, held=True))
    held = [(at_ms, number, _columns(element, dictionary)) for at_ms, number, element in state["held"]]
    largest_ms, passed_ms, arrivals = state["order"]
    merge_input.ordering.load(largest_ms, passed_ms, arrivals, held)


def _columns(state: dict[str, Any], dictionary: Dictionary) -> Columns:
    columns = columns_of(state, dictionary)
    dictionary.hold(columns.terms)
    return columns


def checkpoint_folder(path: str) -> Path:
    """The folder, unless something else is there."""
    if Path(path).exists() and not Path(path).is_dir():
        raise OptionError(f"--checkpoint {path}: is a file; give a folder")
    return Path(path)
