"""A default graph put together from several graphs and windows; see `millstream.kernels.windows.merged_content`."""

from __future__ import annotations

from typing import Any

import numpy as np

from millstream.engine.windows.window_operators import NEVER
from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.kernels.windows.merged_content import MergedContent
from millstream.operators import stored
from millstream.operators.leaves.matching import Matcher
from millstream.operators.ticks import FOREVER


class MergedGraph(MergedContent):
    """The parts' ends for each row that some part holds, which a snapshot keeps."""

    def dump(self, passed: int) -> Any:
        """What has not ended by the last tick that is over: the terms of the rest may be forgotten."""
        return [
            (tuple(row[:4]), [(part, end) for part, end in enumerate(row[4:]) if end >= NEVER])
            for row in self.held().tolist()
            if max(row[4:]) > passed
        ]

    def load(self, state: Any, matcher: Matcher, dictionary: Dictionary) -> None:
        """Takes what the union of as many parts dumped."""
        for key, ends in state:
            pattern, *triple = (stored.whole(number) for number in key)
            stored.one_of(np.array([pattern]), matcher.numbers)
            stored.triples(np.array([triple]), dictionary)
            for part, until in ends:
                row = np.array([pattern, *triple], np.int64)
                self.hold(row, stored.whole(part, 0, self.parts - 1), stored.whole(until, NEVER, FOREVER))
