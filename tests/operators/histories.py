"""Random histories of multisets: changes in order of (tick, change), each consolidated, no count ever below zero."""

from collections import Counter

from hypothesis import strategies as st

from tests.operators.deltas_model import UNBOUND

EXPIRY_CHANGE = -1


@st.composite
def instants(draw, most=12):
    """(tick, change) in order; those that time brings all carry change -1, at ticks of their own."""
    tick, number, out = 0, 0, []
    for _ in range(draw(st.integers(0, most))):
        if draw(st.booleans()):
            tick += draw(st.integers(1, 3))
            out.append((tick, EXPIRY_CHANGE))
        else:
            tick += 0 if out and out[-1] == (tick, number - 1) else 1
            out.append((tick, number))
            number += 1
    return out


@st.composite
def histories(draw, width, times, unbound=(), values=3):
    """Changes at some of these times; columns in `unbound` may have no value."""
    held, out = Counter(), []
    for at in times:
        members = {}
        for _ in range(draw(st.sampled_from([0, 1, 1, 2, 5]))):
            row = tuple(draw(st.integers(UNBOUND if i in unbound else 0, values - 1)) for i in range(width))
            weight = draw(st.integers(-held[row], 2)) if row not in members else 0
            if weight:
                members[row] = weight
                held[row] += weight
        if members:
            out.append((at, members))
    return out
