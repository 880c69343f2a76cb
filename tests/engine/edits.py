"""Many changes of datasets as one step of a scenario."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from millstream import Engine
from tests.engine.scenarios import Step

Item = tuple[str, str, int | None, str | None]


@dataclass(frozen=True)
class Many(Step):
    """Changes that an engine is told in one call, and the reference evaluator one by one."""

    items: tuple[Item, ...] = ()

    def take(self, machine: Any) -> None:
        if not isinstance(machine, Engine):
            one_by_one(machine, self.items)
        elif self.call == "many":
            machine.change_many(self.items)
        elif self.call == "patch":
            machine.read_changes("\n".join(map(as_patch, self.items)).encode(), format="rdfpatch")
        else:
            machine.read_changes(" ;\n".join(map(as_update, self.items)).encode(), format="sparql")


def one_by_one(machine: Any, items: tuple[Item, ...]) -> None:
    for op, text, at_ms, graph in items:
        (machine.insert if op == "insert" else machine.delete)(text, at_ms=at_ms, graph=graph)


def as_patch(item: Item) -> str:
    op, text, _, graph = item
    return f"{'A' if op == 'insert' else 'D'} {text.removesuffix('.')}{f'<{graph}>' if graph else ''} ."


def as_update(item: Item) -> str:
    op, text, _, graph = item
    return f"{op.upper()} DATA {{ {f'GRAPH <{graph}> {{ {text} }}' if graph else text} }}"
