"""The graphs at rest: their triples as ids, and which inserts and deletes really change them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.kernels.windows.triple_set import TripleSet
from millstream.operators import stored

Triples = npt.NDArray[np.int64]


class Graph(TripleSet):
    """A set of triples. Its terms stay in the dictionary while it has them."""

    def __init__(self, dictionary: Dictionary) -> None:
        self._dictionary = dictionary

    def restore(self, triples: Any) -> None:
        """Takes back what `triples` gave."""
        found = stored.triples(triples, self._dictionary)
        if self.size or len(self.insert_where(found)) < len(found):
            raise ValueError("a graph has a triple twice")
