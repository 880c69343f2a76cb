"""Triples as callers pass them to columns of ids: validated, encoded, without repeats and what nobody asks for."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from pyoxigraph import Triple

from millstream.engine.triples import coerce_triples, lines_of
from millstream.errors import DataError
from millstream.kernels.dictionary import Dictionary
from millstream.kernels.scanner import Scanner
from millstream.kernels.scanner_summary import Summary


@dataclass(frozen=True, slots=True)
class Intake:
    """The triples of one element: those kept, their places among all of them, and how many there were."""

    triples: npt.NDArray[np.int64]
    place: npt.NDArray[np.int64]
    total: int


class Encoder:
    """Encodes triples; labels of blank nodes in text are nodes of the call they come in."""

    def __init__(self, dictionary: Dictionary) -> None:
        self._dictionary = dictionary
        self._engine = os.urandom(4).hex()
        self._calls = itertools.count()

    def scope(self) -> str:
        """A prefix for blank-node labels that no other call or file of this engine has."""
        return f"x{self._engine}s{next(self._calls)}x"

    def encode(self, triples: object, summary: Summary | None = None, *, counted: bool = False) -> Intake:
        """The triples of one call; raises DataError for what is not a triple.

        Where they are `counted`, repeats must be known even of triples that the summary leaves out.
        """
        data, scope = self.text_of(triples)
        return self.encode_text(data, scope, summary, counted=counted)

    def text_of(self, triples: object) -> tuple[bytes, str]:
        """N-Triples of what a caller passed, and the scope of its blank nodes; without one, labels are as they are."""
        if isinstance(triples, str | bytes):
            return self._scoped(triples)
        if isinstance(triples, list | tuple) and (lines := lines_of(triples)) is not None:
            # Strings and Python values go to the scanner as text; objects and what is odd are looked at one by one.
            return self._scoped(lines)
        # Objects keep their blank nodes, so their text must not be scoped again.
        return "".join([f"{t} .\n" for t in coerce_triples(triples)]).encode(), ""

    def _scoped(self, text: str | bytes) -> tuple[bytes, str]:
        data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
        return data, self.scope() if b"_:" in data else ""

    def encode_text(self, data: bytes, scope: str, summary: Summary | None, *, counted: bool) -> Intake:
        """As `encode`, from what `text_of` gave."""
        intake = self._scan(data, scope, summary)
        if counted and summary is not None and intake.total > 1:
            return self._scan(data, scope, None)
        return intake

    def encode_all(self, triples: Iterable[Triple]) -> npt.NDArray[np.int64]:
        """Triples that readers made, all of them."""
        return self._scan("".join(f"{t} .\n" for t in triples).encode(), "", None).triples

    def _scan(self, data: bytes, scope: str, summary: Summary | None) -> Intake:
        scanner = Scanner(self._dictionary, summary=summary, scope=scope)
        scanned = scanner.feed(data, True)
        if scanned.errors:
            line, column, reason, text = scanned.errors[0]
            raise DataError(reason, source="triples", line=line, column=column, text=text)
        triples = np.column_stack([scanned.s, scanned.p, scanned.o])
        if scanner.statements == 1:
            return Intake(triples, scanned.index, 1)
        return _without_repeats(triples, scanned.index, scanner.statements)


def _without_repeats(triples: npt.NDArray[np.int64], index: npt.NDArray[np.int64], total: int) -> Intake:
    """Places are those among the distinct triples, as long as nothing was left out."""
    if len(triples) < 2:
        return Intake(triples, index, total)
    _, first = np.unique(triples, axis=0, return_index=True)
    first.sort()
    if len(first) == len(triples):
        return Intake(triples, index, total)
    if len(triples) == total:
        return Intake(triples[first], np.arange(len(first)), len(first))
    return Intake(triples[first], index[first], total)
