"""Keys of cells that Spark spreads evenly: one cell a partition, as long as there are partitions.

Spark puts a group where its key's hash says, and hashes of 0, 1, 2, ... fall on each other. So each cell gets the first
number whose hash, Spark's own Murmur3, falls on the cell's partition.
"""

from __future__ import annotations

from functools import cache

_MASK = 0xFFFFFFFF
_SEED = 42


@cache
def keys_of(cells: int) -> list[int]:
    """For each cell a key that falls on a partition of its own, if there are as many partitions as cells."""
    found: dict[int, int] = {}
    candidate = 0
    while len(found) < cells:
        found.setdefault(_partition(candidate, cells), candidate)
        candidate += 1
    return [found[cell] for cell in range(cells)]


def _partition(key: int, partitions: int) -> int:
    hashed = _murmur3(key)
    return (hashed - (1 << 32) if hashed >= 1 << 31 else hashed) % partitions


def _murmur3(value: int) -> int:
    """Spark's hash of an int."""
    k = (value & _MASK) * 0xCC9E2D51 & _MASK
    k = ((k << 15) | (k >> 17)) & _MASK
    k = k * 0x1B873593 & _MASK
    h = _SEED ^ k
    h = ((h << 13) | (h >> 19)) & _MASK
    h = (h * 5 + 0xE6546B64) & _MASK
    h ^= 4
    h = (h ^ (h >> 16)) * 0x85EBCA6B & _MASK
    h = (h ^ (h >> 13)) * 0xC2B2AE35 & _MASK
    return h ^ (h >> 16)
