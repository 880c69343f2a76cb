"""Which patterns have solutions over a graph without triples: to them it matters whether the graph exists (section 18.6)."""

from __future__ import annotations

from millstream.language import algebra as a


def has_solutions_of_nothing(pattern: a.Pattern) -> bool:
    """Whether a pattern may have a solution where there are no triples."""
    match pattern:
        case a.BGP(triples):
            return not triples
        case a.Path(_, path):
            return has_no_length(path)
        case a.Join(left, right):
            return has_solutions_of_nothing(left) and has_solutions_of_nothing(right)
        case a.LeftJoin(left) | a.Minus(left):
            return has_solutions_of_nothing(left)
        case a.Union(left, right):
            return has_solutions_of_nothing(left) or has_solutions_of_nothing(right)
        case a.Group(inner, keys):
            return not keys or has_solutions_of_nothing(inner)
        case a.Values() | a.Graph() | a.Window() | a.Service():
            return True
        case _:
            return has_solutions_of_nothing(pattern.pattern)


def has_no_length(path: a.PropertyPath) -> bool:
    """Whether a path may lead from a term to itself without an edge."""
    match path:
        case a.ZeroOrOne() | a.ZeroOrMore():
            return True
        case a.Inverse(inner) | a.OneOrMore(inner):
            return has_no_length(inner)
        case a.Sequence(first, second):
            return has_no_length(first) and has_no_length(second)
        case a.Alternative(left, right):
            return has_no_length(left) or has_no_length(right)
        case _:
            return False
