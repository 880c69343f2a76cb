"""Row programs that are only defined, for tests of those who run them."""

from __future__ import annotations

from collections.abc import Callable

from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.kernels.rows.definition import Definition
from millstream.kernels.rows.row_operations import Operation
from millstream.kernels.rows.row_program import RowProgram


def truth_id(dictionary: Dictionary, truth: bool) -> int:
    """The id of a boolean."""
    return dictionary.encode_one(f'"{str(truth).lower()}"^^<http://www.w3.org/2001/XMLSchema#boolean>')


def program_of(width: int, passes: Callable[[tuple[int, ...]], bool]) -> RowProgram:
    """Rows of ids pass if a function says so."""
    dictionary = Dictionary()
    definition = Definition(dictionary, lambda ids: truth_id(dictionary, passes(ids)), range(width))
    return RowProgram(dictionary, width, [(Operation.DEFINED, 0), (Operation.TEST, -1)], [], [definition])
