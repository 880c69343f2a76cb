"""An engine's whole state as bytes: plain values as JSON, columns as NumPy arrays, nothing that runs code when read.

The layout is versioned: a snapshot is read by the version of the layout that wrote it, or refused.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

import numpy as np

from millstream.errors import SnapshotError

LAYOUT = 8
_MAGIC = b"millstream snapshot "
_SHOWN = 300


def pack(state: Any, *, compress: bool = True) -> bytes:
    """A nest of dictionaries, lists, tuples, numbers, strings, bytes and arrays as bytes."""
    arrays: list[np.ndarray[Any, Any]] = []
    text = json.dumps(_described(state, arrays)).encode()
    buffer = io.BytesIO()
    named = {f"a{i}": array for i, array in enumerate(arrays)}
    save = np.savez_compressed if compress else np.savez
    save(buffer, description=np.frombuffer(text, np.uint8), **named)  # type: ignore[arg-type]
    return _MAGIC + str(LAYOUT).encode() + b"\n" + buffer.getvalue()


# NumPy parses headers as Python literals, at which threads of CPython 3.11 can disturb each other.
_READING = Lock()


def unpack(data: bytes) -> Any:
    """What was packed; SnapshotError for anything else."""
    head, _, _ = bytes(data[:64]).partition(b"\n")
    if not head.startswith(_MAGIC):
        raise SnapshotError("these bytes are not a snapshot of millstream.")
    if head[len(_MAGIC) :] != str(LAYOUT).encode():
        version = head[len(_MAGIC) :].decode("ascii", "replace")
        raise SnapshotError(f"the snapshot has layout {version}, this version reads layout {LAYOUT}.")
    with taken_as_damage(), _READING, np.load(io.BytesIO(bytes(data)[len(head) + 1 :]), allow_pickle=False) as archive:
        arrays = [archive[f"a{i}"] for i in range(len(archive.files) - 1)]
        return _restored(json.loads(archive["description"].tobytes()), arrays)


@contextmanager
def taken_as_damage() -> Iterator[None]:
    """What goes wrong while a state is taken back is wrong with the state."""
    try:
        yield
    except SnapshotError:
        raise
    except Exception as error:
        raise SnapshotError(f"the snapshot is damaged: {str(error)[:_SHOWN] or type(error).__name__}") from error


def _described(value: Any, arrays: list[np.ndarray[Any, Any]]) -> Any:
    match value:
        case None | bool() | int() | float() | str():
            return value
        case np.integer():
            return int(value)
        case np.ndarray():
            arrays.append(value)
            return {"array": len(arrays) - 1}
        case bytes():
            arrays.append(np.frombuffer(value, np.uint8))
            return {"bytes": len(arrays) - 1}
        case list() | tuple():
            return [_described(v, arrays) for v in value]
        case dict():
            return {"map": [[_described(k, arrays), _described(v, arrays)] for k, v in value.items()]}
    raise TypeError(f"a snapshot cannot hold {type(value).__name__}")


def _restored(value: Any, arrays: list[np.ndarray[Any, Any]]) -> Any:
    match value:
        case list():
            return [_restored(v, arrays) for v in value]
        case {"array": number}:
            return arrays[number]
        case {"bytes": number}:
            return arrays[number].tobytes()
        case {"map": pairs}:
            return {_restored(k, arrays): _restored(v, arrays) for k, v in pairs}
    return value
