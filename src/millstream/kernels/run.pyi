from collections.abc import Collection
from typing import Any

from millstream.kernels.contents import ContentChanges
from millstream.kernels.elements import Elements, Intake
from millstream.kernels.emission import Reporter
from millstream.kernels.flow import Flow

class RunOutput:
    reporter: Any
    feeds: str | None

    def report_to(self, reporter: Reporter) -> None: ...

class Run:
    outlets: list[Any]
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
