"""BNODE, UUID, STRUUID and RAND as functions of a seed, a label and a solution; see `millstream.plan.compile.fresh`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from millstream.operators.expressions.values.values import (
    BLANK,
    DOUBLE,
    STRING,
    ExpressionError,
    Value,
    computed,
    iri,
    string,
)

Solution = Sequence[Value | None]


def bnode(seed: Value, label: Value, solution: Solution) -> Value:
    if label.space != STRING:
        raise ExpressionError
    name = f"f{_digest('BNODE', seed, label, solution).hex()}"
    return Value(BLANK, name, "", name)


def uuid_iri(seed: Value, label: Value, solution: Solution) -> Value:
    return iri(f"urn:uuid:{_uuid('UUID', seed, label, solution)}")


def uuid_string(seed: Value, label: Value, solution: Solution) -> Value:
    return string(_uuid("STRUUID", seed, label, solution))


def rand(seed: Value, label: Value, solution: Solution) -> Value:
    """A double in [0, 1): 53 bits of the digest."""
    return computed(DOUBLE, (int.from_bytes(_digest("RAND", seed, label, solution)[:8], "big") >> 11) * 2.0**-53)


def _uuid(function: str, seed: Value, label: Value, solution: Solution) -> str:
    import uuid

    return str(uuid.UUID(bytes=_digest(function, seed, label, solution), version=4))


def _digest(function: str, seed: Value, label: Value, solution: Solution) -> bytes:
    import hashlib

    parts = [function, seed.lexical, label.text(), *("" if value is None else value.text() for value in solution)]
    return hashlib.sha256("\n".join(parts).encode()).digest()[:16]


FUNCTIONS: dict[str, Callable[[Value, Value, Solution], Value]] = {
    "BNODE_OF": bnode,
    "UUID_OF": uuid_iri,
    "STRUUID_OF": uuid_string,
    "RAND_OF": rand,
}
