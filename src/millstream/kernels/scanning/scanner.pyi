from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from typing_extensions import Buffer

from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.kernels.matching.intake import Intake
from millstream.kernels.scanning.summary import Summary

@dataclass(slots=True)
class Scanned:
    triples: npt.NDArray[np.int64]
    g: npt.NDArray[np.int64] | None
    index: npt.NDArray[np.int64]
    line: npt.NDArray[np.int64]
    errors: list[tuple[int, int, str, str]]
    @property
    def s(self) -> npt.NDArray[np.int64]: ...
    @property
    def p(self) -> npt.NDArray[np.int64]: ...
    @property
    def o(self) -> npt.NDArray[np.int64]: ...

class Scanner:
    dictionary: Dictionary
    graphs: bool
    lines: int
    statements: int
    kept: int
    carried: int
    comments: int
    literal_bytes: int
    errors: list[tuple[int, int, str, str]] | None
    def __init__(
        self,
        dictionary: Dictionary,
        *,
        graphs: bool = False,
        summary: Summary | None = None,
        scope: str = "",
        literal_bytes: int = ...,
    ) -> None: ...
    def watch(self, summary: Summary | None = None) -> None: ...
    def abandon(self) -> bytes: ...
    def feed(self, data: Buffer, final: bool = False) -> Scanned: ...
    def whole(self, text: str | bytes, scope: str = "") -> Intake: ...
