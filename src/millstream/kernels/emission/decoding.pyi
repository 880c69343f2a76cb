from collections.abc import Sequence
from typing import Any, TypeVar

import pyarrow as pa

from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.kernels.flow.deltas import Deltas

T = TypeVar("T")
L = TypeVar("L", bound=list[Any])

class Decoding:
    def __init__(self, dictionary: Dictionary, names: Sequence[str]) -> None: ...
    def columns(self, rows: Deltas) -> list[pa.StringArray]: ...
    def bindings(self, rows: Deltas) -> list[dict[str, Any]]: ...
    def objects(
        self, rows: Deltas, of: type[T], attributes: tuple[str, str, str, str], last: object, collection: type[L]
    ) -> L: ...
