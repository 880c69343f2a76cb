"""What is not evaluated, and what to write instead."""

from __future__ import annotations

from pyoxigraph import Literal, NamedNode

from millstream.errors import Place, UnsupportedQueryError
from millstream.language import algebra as a
from millstream.language.scope import children
from millstream.operators.expressions.functions.casts import CASTS
from millstream.operators.expressions.values.values import LANGUAGE_TYPES


def check(expression: a.Expression) -> None:
    """Raises for the first part, from the left, that is not evaluated."""
    match expression:
        case a.Exists(_, place):
            raise _refused("EXISTS inside of an expression", "Filter by EXISTS or NOT EXISTS alone.", place)
        case a.Aggregate(_, _, _, _, place):
            raise _refused("an aggregate outside of SELECT and HAVING", "Move it there, under an alias.", place)
        case a.FunctionCall(NamedNode() as function, arguments, place):
            if function.value not in CASTS:
                known = ", ".join(f"xsd:{name.rsplit('#', 1)[1]}" for name in CASTS)
                raise _refused(f"the function {function}", f"Functions with an IRI are the casts {known}.", place)
            if len(arguments) != 1:
                raise _refused(f"the cast {function} of {len(arguments)} arguments", "Cast one argument.", place)
        case Literal() if expression.datatype.value in LANGUAGE_TYPES and not expression.language:
            what = f"the literal {expression}"
            raise _refused(what, "Strings of this type have a language: write it behind an @.", None)
        case _:
            pass
    for child in children(expression):
        check(child)


def _refused(what: str, instead: str, place: Place | None) -> UnsupportedQueryError:
    return UnsupportedQueryError(what, instead=instead, place=place)
