"""Keys of cells that Spark's hash partitioning spreads evenly, whatever the number of partitions.

Spark puts a group on the partition that its key's hash, Murmur3, has as the remainder; hashes of 0, 1, 2, ... fall on each
other. So the key of cell n is the number whose hash is n: cells go round the partitions in turn, be there as many of them or
not. Murmur3 of an int is a bijection, so there is exactly one such key.
"""

from __future__ import annotations

from functools import cache

_MASK = 0xFFFFFFFF
_SEED = 42


@cache
def keys_of(cells: int) -> list[int]:
    """For each cell its key."""
    return [_unhashed(cell) for cell in range(cells)]


def _unhashed(hashed: int) -> int:
    """The int whose hash it is: Spark's steps, each undone, the last one first."""
    h = hashed ^ (hashed >> 16)
    h = h * _inverse(0xC2B2AE35) & _MASK
    h ^= (h >> 13) ^ (h >> 26)
    h = h * _inverse(0x85EBCA6B) & _MASK
    h ^= h >> 16
    h ^= 4
    h = (h - 0xE6546B64) * _inverse(5) & _MASK
    k = _rotated(h, 19) ^ _SEED
    k = k * _inverse(0x1B873593) & _MASK
    k = _rotated(k, 17) * _inverse(0xCC9E2D51) & _MASK
    return k - (1 << 32) if k >= 1 << 31 else k


def _rotated(value: int, left: int) -> int:
    return (value << left | value >> 32 - left) & _MASK


def _inverse(factor: int) -> int:
    return pow(factor, -1, 1 << 32)
