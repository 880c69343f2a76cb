"""Files that a run writes: made anew, or continued at a length that a checkpoint recorded."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

from millstream.errors import OptionError


def open_at(path: str | Path, length: int | None) -> BinaryIO:
    """A file to write to, empty or cut back to a length; folders on the way are made."""
    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        # The caller closes it.
        file = Path(path).open("w+b" if length is None else "r+b")  # noqa: SIM115
    except OSError as error:
        raise OptionError(f"{path}: cannot be written: {error.strerror or error}") from None
    if length is None:
        return file
    if file.seek(0, 2) < length:
        file.close()
        raise OptionError(f"{path}: is shorter than when the checkpoint was made; it cannot be continued")
    file.truncate(length)
    file.seek(length)
    return file
