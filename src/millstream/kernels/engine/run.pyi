from collections.abc import Collection
from typing import Any

from millstream.kernels.emission.emission import Reporter
from millstream.kernels.flow.flow import Flow
from millstream.kernels.matching.elements import Elements
from millstream.kernels.matching.intake import Intake
from millstream.kernels.windows.window_changes import ContentChanges

class RunOutput:
    reporter: Any
    derives: str | None

    def report_to(self, reporter: Reporter) -> None: ...

class Run:
    emitters: list[Any]
    closing: list[Any]
    tick: int
    is_plain: bool

    def __init__(self, operator: Flow, contents: ContentChanges) -> None: ...
    @property
    def operator(self) -> Any: ...
    @property
    def contents(self) -> Any: ...
    def elements(self, batch: Elements) -> None: ...
    def graph_changed(self, graph: str | None, triples: Intake, op: int, at_tick: int) -> None: ...
    def pass_time(self, before: int) -> None: ...
    def report_due(self, at_tick: int) -> None: ...
    def report(self, upto: int, first: Collection[Any] = ()) -> None: ...
