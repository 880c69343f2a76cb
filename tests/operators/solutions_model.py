"""SPARQL's operators on multisets of solutions, by the definitions of SPARQL 1.1, 18.5; -1 is unbound."""

from collections import Counter

from tests.operators.deltas_model import UNBOUND


def binding(variables, row):
    return {v: value for v, value in zip(variables, row, strict=True) if value != UNBOUND}


def compatible(a, b):
    return all(a[v] == b[v] for v in a.keys() & b.keys())


def join(left_variables, right_variables, left, right, copies=(), overlap=False):
    variables = [*left_variables, *(v for v in right_variables if v not in left_variables)]
    out = Counter()
    for a, n in left.items():
        for b, m in right.items():
            x, y = binding(left_variables, a), binding(right_variables, b)
            if compatible(x, y) and not (overlap and x.keys().isdisjoint(y.keys())):
                whole = x | y
                out[(*(whole.get(v, UNBOUND) for v in variables), *(x.get(v, UNBOUND) for v in copies))] += n * m
    return out


def minus(left_variables, right_variables, left, right):
    def removed(a):
        x = binding(left_variables, a)
        others = [binding(right_variables, b) for b in right]
        return any(compatible(x, y) and not x.keys().isdisjoint(y.keys()) for y in others)

    return Counter({a: n for a, n in left.items() if not removed(a)})


def left_join(left_variables, right_variables, left, right, accept):
    """Accept is the filter of OPTIONAL, asked for a joined row."""
    padding = (UNBOUND,) * len([v for v in right_variables if v not in left_variables])
    out = Counter()
    for a, n in left.items():
        joined = join(left_variables, right_variables, Counter({a: n}), right)
        accepted = Counter({row: m for row, m in joined.items() if accept(row)})
        out.update(accepted or {a + padding: n})
    return out
