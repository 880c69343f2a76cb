"""What expressions are evaluated with: a dictionary, the time of the query, its base, limits."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pyoxigraph import Variable

from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.language import algebra as a
from millstream.operators.expressions import refusals
from millstream.operators.expressions.bounds import Bounds
from millstream.operators.expressions.functions import clock
from millstream.operators.expressions.programs import ProgramWriter
from millstream.operators.expressions.rows import RowCompiler, RowFunction
from millstream.operators.expressions.values.comparison import effective_boolean
from millstream.operators.expressions.values.values import ExpressionError, boolean, read_term


class Evaluator:
    """Evaluates expressions over the ids of one dictionary.

    New terms are encoded as any caller would: whoever keeps their ids touches or holds them before the dictionary settles.
    """

    def __init__(
        self, dictionary: Dictionary, *, now_ms: int = 0, base: str | None = None, bounds: Bounds | None = None
    ) -> None:
        self.dictionary = dictionary
        self.bounds = bounds or Bounds()
        self._now = clock.now(now_ms)
        self._base = base

    def check(self, expression: a.Expression) -> None:
        """Raises UnsupportedQueryError for the first part that is not evaluated."""
        refusals.check(expression)

    def writer(self, variables: Sequence[object]) -> ProgramWriter:
        """Writes a program over columns of these variables; of what is none, nothing is asked."""
        return ProgramWriter(self, variables)

    def regex(self, pattern: str, flags: str = "") -> Callable[[str], bool | None]:
        """Whether texts match, None for an error; raises ExpressionError for a pattern that is none."""
        from millstream.operators.expressions.regex import regex  # With RE2, which most queries do without.

        compiled, bounds = regex.compiled(pattern, flags), self.bounds

        def matches(text: str) -> bool | None:
            try:
                return compiled.matches(text, bounds)
            except ExpressionError:
                return None

        return matches

    def definition(
        self, expression: a.Expression, variables: Sequence[Variable], *, truth: bool = False
    ) -> Callable[[tuple[int, ...]], int]:
        """The expression as a function from ids of variables to the id of its value, -1 for an error.

        With `truth` the value is the effective boolean value. Variables that are not listed are unbound.
        """
        compiled: RowFunction | None = None
        encode, decode = self.dictionary.encode_one, self.dictionary.decode_one

        def value_of(ids: tuple[int, ...]) -> int:
            nonlocal compiled
            if compiled is None:
                # Of most expressions kernels do all there is to do.
                compiled = self._compile(expression, variables)
            try:
                value = compiled([None if term_id < 0 else read_term(decode(term_id)) for term_id in ids])
                return encode((boolean(effective_boolean(value)) if truth else value).text())
            except ExpressionError:
                return -1

        return value_of

    def _compile(self, expression: a.Expression, variables: Sequence[Variable]) -> RowFunction:
        positions = {v: i for i, v in enumerate(variables)}
        return RowCompiler(positions, self._now, self._base, self.bounds).compile(expression)
