"""Triples as callers pass them to columns of ids: validated, encoded, without repeats and what nobody asks for."""

from __future__ import annotations

import itertools
import os
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from millstream.errors import DataError
from millstream.ingest.columns import Columns
from millstream.ingest.triples import coerce_triples, lines_of
from millstream.kernels.dictionary import Dictionary
from millstream.kernels.scanner import Scanner
from millstream.kernels.scanner_summary import Summary
from millstream.rdf import Rejections
from millstream.rdf.times import MAX_MS, MIN_MS, OUT_OF_RANGE


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


def encoded(
    elements: list[tuple[object, int]], rejections: Rejections, dictionary: Dictionary, summary: Summary | None
) -> Columns:
    """Elements as a source gives them, triples and a time each; what cannot be read is set aside."""
    encoder = Encoder(dictionary)
    taken: list[Intake] = []
    times: list[int] = []
    for triples, at_ms in elements:
        try:
            if type(at_ms) is not int or not MIN_MS <= at_ms <= MAX_MS:
                raise DataError(f"its time is {at_ms!r}: {OUT_OF_RANGE}")
            taken.append(encoder.encode(triples, summary))
            times.append(at_ms)
        except DataError as error:
            rejections.reject(error.reason, line=error.line, column=error.column, text=error.text or "")
    sizes = np.array([intake.total for intake in taken], np.int64)
    rows = np.concatenate([np.empty((0, 3), np.int64), *(intake.triples for intake in taken)])
    element = np.repeat(np.arange(len(taken)), [len(intake.triples) for intake in taken])
    return Columns(rows, element, len(taken), np.array(times, np.int64), sizes)


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
