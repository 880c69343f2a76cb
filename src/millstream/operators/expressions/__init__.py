"""SPARQL 1.1 expressions, evaluated over rows of term ids as exactly as the recommendation defines them.

`values` says what a term's value is (`numbers`, `dates`, `durations` read and spell them); `comparison`, `arithmetic`,
`strings`, `clock`, `casts` and `regex` are the operators and functions of section 17 on values; `rows` puts them
together for one solution: the definition. `programs` has kernels do what they can, and asks the definition for the rest.
`bounds` is how much may become of a value.
"""

from millstream.operators.expressions.bounds import Bounds
from millstream.operators.expressions.evaluator import Evaluator

__all__ = ["Bounds", "Evaluator"]
