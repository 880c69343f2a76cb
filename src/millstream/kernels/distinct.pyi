from collections.abc import Sequence

class Distinct:
    def __init__(self, places: Sequence[int]) -> None: ...
