from collections.abc import Callable, Sequence

from millstream.kernels.dictionary.dictionary import Dictionary

class Definition:
    def __init__(
        self, dictionary: Dictionary, function: Callable[[tuple[int, ...]], int], places: Sequence[int], /
    ) -> None: ...

class TextTest:
    def __init__(self, dictionary: Dictionary, function: Callable[[str], bool | None], /) -> None: ...
