"""The least load that any grid of cells can have for a conjunction, and what real-valued shares would give.

By Beame, Koutris and Suciu: with p cells and views of sizes N_j, some cell gets at least
max over fractional edge packings u of (prod N_j^u_j / p)^(1 / sum u_j) triples of some view. Shares that need not be whole
numbers reach it up to a constant. For a triangle of equal views that is N / p^(2/3) of each of the three.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import exp, log

import numpy as np


def packing_bound(edges: Sequence[frozenset[str]], sizes: Mapping[int, float], cells: int) -> float:
    """The LP's optimum: the best corner of the polytope of packings (over the views of a variable u sums to 1 at most)."""
    kept = [j for j in range(len(edges)) if sizes[j] > 0 and edges[j]]
    variables = sorted({v for j in kept for v in edges[j]})
    size = len(kept)
    rows = [[1.0 if v in edges[j] else 0.0 for j in kept] for v in variables] + [list(-row) for row in np.eye(size)]
    matrix, limits = np.array(rows), np.array([1.0] * len(variables) + [0.0] * size)
    best = 0.0
    for chosen in combinations(range(len(rows)), size):
        part = matrix[list(chosen)]
        if abs(np.linalg.det(part)) < 1e-9:
            continue
        u = np.linalg.solve(part, limits[list(chosen)])
        if (matrix @ u <= limits + 1e-9).all() and u.sum() > 1e-9:
            power = sum(float(x) * log(sizes[j]) for x, j in zip(u, kept, strict=True)) - log(cells)
            best = max(best, exp(power / float(u.sum())))
    return best


def real_shares_load(edges: Sequence[frozenset[str]], sizes: Mapping[int, float], cells: int) -> float:
    """The least total load of a cell with shares that need not be whole: convex in the shares' logarithms."""
    variables = sorted({v for edge in edges for v in edge})
    incidence = np.array([[1.0 if v in edge else 0.0 for v in variables] for edge in edges])
    weights, scale = np.array([sizes[j] for j in range(len(edges))]), log(cells)
    exponent = np.full(len(variables), 1 / len(variables))
    best = float("inf")
    # Exponentiated gradient keeps the exponents positive and their sum 1.
    for step in range(1, 4000):
        loads = weights * np.exp(-scale * (incidence @ exponent))
        best = min(best, float(loads.sum()))
        gradient = (incidence.T @ loads) / loads.sum()
        exponent *= np.exp(gradient * (2 / step**0.5))
        exponent /= exponent.sum()
    return best
