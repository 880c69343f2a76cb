from collections.abc import Iterable

class Summary:
    everything: bool
    def __init__(self, patterns: Iterable[tuple[bytes | None, bytes | None, bytes | None]]) -> None: ...
