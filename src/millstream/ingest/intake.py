"""Triples as callers pass them to columns of ids: validated, encoded, without repeats and what nobody asks for."""

from __future__ import annotations

import itertools
import os

import numpy as np

from millstream.errors import DataError
from millstream.ingest.columns import Columns
from millstream.ingest.triples import coerce_triples, lines_of
from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.kernels.matching.intake import Intake
from millstream.kernels.scanning.scanner import Scanner
from millstream.kernels.scanning.summary import Summary
from millstream.rdf import Rejections
from millstream.rdf.times import MAX_MS, MIN_MS, OUT_OF_RANGE

_LARGE = 1 << 13
"""Texts in which looking for a blank node would cost more than a scope does."""


class Encoder:
    """Encodes triples; labels of blank nodes in text are nodes of the call they come in."""

    def __init__(self, dictionary: Dictionary) -> None:
        self.scanner = Scanner(dictionary)
        """Keeps all triples."""
        self._engine = os.urandom(4).hex()
        self._calls = itertools.count()

    def scope(self) -> str:
        """A prefix for blank-node labels that no other call or file of this engine has."""
        return f"x{self._engine}s{next(self._calls)}x"

    def encode(self, triples: object, scanner: Scanner | None = None) -> Intake:
        """The triples of one call, each once; raises DataError for what is not a triple.

        `scanner` reads them, if somebody asks for some of them only.
        """
        return self.scan(*self.text_of(triples), scanner)

    def scan(self, text: str | bytes, scope: str, scanner: Scanner | None = None) -> Intake:
        """As `encode`, from N-Triples and the scope of its blank nodes."""
        if scanner is None:
            scanner = self.scanner
        try:
            intake = scanner.whole(text, scope)
        except UnicodeEncodeError:
            assert isinstance(text, str)
            intake = scanner.whole(text.encode("utf-8", "surrogatepass"), scope)
        if scanner.errors:
            line, column, reason, shown = scanner.errors[0]
            raise DataError(reason, source="triples", line=line, column=column, text=shown)
        return intake

    def text_of(self, triples: object) -> tuple[str | bytes, str]:
        """N-Triples of what a caller passed, and the scope of its blank nodes; without one, labels are as they are."""
        if isinstance(triples, str):
            return triples, self.scope() if len(triples) > _LARGE or "_:" in triples else ""
        if isinstance(triples, bytes):
            return triples, self.scope() if len(triples) > _LARGE or b"_:" in triples else ""
        if isinstance(triples, list | tuple) and (lines := lines_of(triples)) is not None:
            # Strings and Python values go to the scanner as text; objects and what is odd are looked at one by one.
            return lines, self.scope() if "_:" in lines else ""
        # Objects keep their blank nodes, so their text must not be scoped again.
        return "".join([f"{t} .\n" for t in coerce_triples(triples)]), ""


def encoded(
    elements: list[tuple[object, int]], rejections: Rejections, dictionary: Dictionary, summary: Summary | None
) -> Columns:
    """Elements as a source gives them, triples and a time each; what cannot be read is set aside."""
    encoder, scanner = Encoder(dictionary), Scanner(dictionary, summary=summary)
    taken: list[Intake] = []
    times: list[int] = []
    for triples, at_ms in elements:
        try:
            if type(at_ms) is not int or not MIN_MS <= at_ms <= MAX_MS:
                raise DataError(f"its time is {at_ms!r}: {OUT_OF_RANGE}")
            taken.append(encoder.encode(triples, scanner))
            times.append(at_ms)
        except DataError as error:
            rejections.reject(error.reason, line=error.line, column=error.column, text=error.text or "")
    sizes = np.array([intake.total for intake in taken], np.int64)
    rows = np.concatenate([np.empty((0, 3), np.int64), *(intake.triples for intake in taken)])
    element = np.repeat(np.arange(len(taken)), [len(intake.triples) for intake in taken])
    return Columns(rows, element, len(taken), np.array(times, np.int64), sizes)
