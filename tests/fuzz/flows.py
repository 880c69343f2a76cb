"""The flow led by hand: random plans over random arrivals, against evaluating the plans anew at every change.

What a plan's deltas sum up to is what there is, every change is consolidated, in order, and the same however arrivals were
cut; plans come and go, and everything is restored from what its leaves hold in between. `python -m tests.fuzz.flows SEED`
shows a case.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from random import Random
from typing import Any

import numpy as np

from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.kernels.emission.answer_set import AnswerSet
from millstream.kernels.emission.emission import APPEARS, BOTH, DISAPPEARS, Selection
from millstream.operators.dataflow.dataflow import Dataflow
from millstream.operators.dataflow.layout import Root
from millstream.operators.expressions import Evaluator
from millstream.operators.leaves import subquery
from millstream.operators.ticks import EXPIRY, FOREVER, Arrivals, Deltas, tick, time_of
from millstream.plan import nodes as n
from tests.fuzz.happenings import At, Director, Enter, Event, Held, Quad, Sent, Wanted, number_of, recomputed
from tests.fuzz.plan_model import Model, Row, TooManyError
from tests.operators.deltas_model import consistent


class Told:
    """One plan of a flow, and what was found of it."""

    def __init__(self, wanted: Wanted, root: Root, chance: Random, dictionary: Dictionary) -> None:
        self.wanted = wanted
        self.root = root
        self.dictionary = dictionary
        self.found: dict[At, Counter[Row]] = {}
        self.order: list[At] = []
        self.emitted: list[tuple[int, Row, int]] = []
        self.sign = chance.choice([APPEARS, DISAPPEARS, BOTH])
        self.seen = chance.choice([root.width, root.width, chance.randint(0, root.width)])
        self.emission = Selection(self.sign, self.seen, self.emit, 0, True)
        self.emission.answers = AnswerSet(root.width)
        self.answers = self.emission.answers

    def texts(self, rows: Deltas) -> list[tuple[Row, int, int, int]]:
        columns = [self.dictionary.texts(np.ascontiguousarray(column)) for column in rows.columns.T]
        texts: list[Any] = list(zip(*columns, strict=True)) if columns else [()] * len(rows)
        return list(zip(texts, rows.tick.tolist(), rows.change.tolist(), rows.weight.tolist(), strict=True))

    def emit(self, rows: Deltas) -> None:
        self.emitted += [(at, row, weight) for row, at, _, weight in self.texts(rows)]

    def begin(self, rows: Deltas) -> None:
        assert consistent(rows), "what comes first is not one change"
        found = Counter({row: weight for row, _, _, weight in self.texts(rows)})
        assert found == self.wanted.first, f"first {_differ(found, self.wanted.first)}"
        self.answers.apply(rows)

    def take(self, rows: Deltas, upto: int) -> None:
        assert consistent(rows), f"out of order, or not consolidated: {self.texts(rows)}"
        for row, at, number, weight in self.texts(rows):
            change = at, number_of(at, number)
            assert not self.order or self.order[-1] <= change, f"{change} after {self.order[-1]}"
            self.order.append(change)
            self.found.setdefault(change, Counter())[row] += weight
        self.emission.report(rows, upto)

    def check(self, upto: At) -> None:
        """That all changes up to one have been told, as they were recomputed, and emitted."""
        found = {at: Counter({row: n for row, n in rows.items() if n}) for at, rows in self.found.items()}
        found = {at: rows for at, rows in found.items() if rows}
        wanted = {at: rows for at, rows in self.wanted.changes.items() if at <= upto}
        for at in sorted(found.keys() | wanted.keys()):
            assert found.get(at) == wanted.get(at), f"at {at}: {_differ(found.get(at), wanted.get(at))}"
        assert _by_tick(self.emitted) == _by_tick(self._to_emit(upto)), "emitted other rows"

    def _to_emit(self, upto: At) -> Iterator[tuple[int, Row, int]]:
        for (at, number), rows in sorted(self.wanted.changes.items(), key=lambda change: change[0]):
            trimmed: Counter[Row] = Counter()
            for row, times in rows.items():
                trimmed[row[: self.seen]] += times
            for row, times in trimmed.items() if (at, number) <= upto else ():
                if times * self.sign >= 0:
                    yield from [(at, row, 1 if times > 0 or self.sign else -1)] * abs(times)

    def check_sum(self, number: int, rows: Deltas) -> None:
        """That the answers kept, and those that are found anew, are those that there are."""
        wanted = self.wanted.sums[number]
        found = Counter({row: weight for row, _, _, weight in self.texts(rows)})
        assert found == wanted, f"found anew {_differ(found, wanted)}"
        summed = Counter({row: weight for row, _, _, weight in self.texts(self.answers.at(0))})
        assert summed == wanted, f"summed up {_differ(summed, wanted)}"


def _by_tick(emitted: Any) -> list[tuple[int, Counter[Any]]]:
    return [(at, Counter(x[1:] for x in some)) for at, some in groupby(emitted, key=lambda x: x[0])]


def _differ(found: Counter[Row] | None, wanted: Counter[Row] | None) -> str:
    return f"found {dict(found or {})}, recomputed {dict(wanted or {})}"


class Driven:
    """A flow that is fed events, cut somehow, and disturbed in between."""

    def __init__(self, wanted: list[Wanted], model: Model, chance: Random) -> None:
        self.wanted = iter(wanted)
        self.model = model
        self.chance = chance
        self.dictionary = Dictionary()
        self.switches = {name: chance.random() < 0.8 for name in ("lazy", "adaptive")}
        self.flow = self.made()
        self.told: list[Told] = []
        self.held = Held()
        self.waiting: list[Event] = []
        self.upto = -1
        self.number = 0
        self.cautious = chance.choice([0.1, 0.5, 1.0])

    def made(self, restored: list[int] | None = None) -> Dataflow:
        return Dataflow(self.dictionary, Evaluator(self.dictionary), restored=restored, **self.switches)

    def id_of(self, text: str | None) -> int:
        if text is None:
            return -1
        found = self.dictionary.encode_one(text)
        # Windows and graphs keep what they hold, for which these stand.
        self.dictionary.hold(np.array([found], np.int64))
        return found

    def run(self, events: list[Event], last: int) -> None:
        for event, following in zip(events, [*events[1:], None], strict=True):
            if event.is_alone:
                self.drain(event.at)
                self.come_or_go(event)
                continue
            self.held.pass_time(event.at)
            for happens in event.happens:
                self.held.take(happens, event.at)
            self.waiting.append(event)
            self.number = event.number
            if following is None or following.is_alone or self.chance.random() < self.cautious:
                # Up to any tick before the next change, that of the last one included.
                before = last if following is None else following.at - 1
                self.drain(max(event.at, self.chance.randint(event.at, max(event.at, before))))
                self.disturb(event.number)
        self.drain(last)
        assert self.flow.next_tick is None, "something is still to end"

    # What happens

    def drain(self, upto: int) -> None:
        self.feed()
        for told, rows in zip(self.told, self.flow.drain(upto), strict=True):
            told.take(rows, upto)
        self.upto = upto
        ahead, ends = self.flow.next_tick, self.held.ends(FOREVER)
        assert ahead is None or ahead > upto, f"{ahead} is over"
        for told in self.told:
            told.check((upto, self.number))
            first = min((at for at, _ in told.wanted.changes if at > upto and at in ends), default=None)
            if first is not None and self.changes_by_itself(told, first):
                assert (FOREVER if ahead is None else ahead) <= first, f"{ahead} is next, but {first} comes first"

    def changes_by_itself(self, told: Told, at: int) -> bool:
        """Whether answers change up to a tick, if nothing happens before."""
        later = Held()
        later.sources = {source: dict(triples) for source, triples in self.held.sources.items()}
        later.graphs, later.parts = self.held.graphs, self.held.parts
        later.pass_time(self.upto)
        before = self.model.answers(told.wanted.plan, later.content)
        later.pass_time(at)
        return self.model.answers(told.wanted.plan, later.content) != before

    def feed(self) -> None:
        """Shows the flow what happened, in parts."""
        rows = [row for event in self.waiting for row in self.arrivals(event.happens, event.at, event.number, set())]
        for begin, end in self.cuts(len(rows)):
            self.flow.feed(arrivals_of(rows[begin:end]))
        sent: list[tuple[int, tuple[int, ...], int, int, int]] = []
        for event in self.waiting:
            for happens in event.happens:
                if isinstance(happens, Quad):
                    triple = np.array([[self.id_of(text) for text in happens.triple]], np.int64)
                    self.flow.graph_changed(happens.graph[1:-1], triple, happens.op, event.at, event.number)
                elif isinstance(happens, Sent):
                    ids = tuple(map(self.id_of, happens.row))
                    sent.append((happens.part, ids, event.at, number_of(event.at, event.number), happens.weight))
        self.send(sent)
        self.waiting = []

    def send(self, sent: list[tuple[int, tuple[int, ...], int, int, int]]) -> None:
        if sent:
            width = max(len(row) for _, row, *_ in sent)
            columns = np.array([(*row, *[-1] * (width - len(row))) for _, row, *_ in sent], np.int64)
            part, at, number, weight = (np.array([x[i] for x in sent], np.int64) for i in (0, 2, 3, 4))
            self.flow.feed_parts(part, Deltas(columns.reshape(len(sent), width), at, number, weight))

    def cuts(self, size: int) -> Iterator[tuple[int, int]]:
        begin = 0
        while begin < size:
            end = size if self.chance.random() < 0.5 else self.chance.randint(begin + 1, size)
            yield begin, end
            begin = end

    def arrivals(self, happens: Any, at: int, number: int, without: set[int]) -> Iterator[tuple[int, ...]]:
        """The rows that patterns are shown of what happens, but for those of some leaves."""
        for change in happens:
            if not isinstance(change, Enter):
                continue
            for leaf in self.flow.leaves:
                whole = leaf.operator.plan
                for place, pattern in enumerate(whole.patterns):
                    if (
                        pattern.source == change.source
                        and leaf.first not in without
                        and self.model.stored(whole, place, change.triple)
                    ):
                        ids = map(self.id_of, change.triple)
                        yield (leaf.first + place, *ids, at, change.until, change.op, number)

    def come_or_go(self, event: Event) -> None:
        if event.goes is not None:
            told = self.told.pop(event.goes)
            self.flow.drop(told.root, event.at)
            return
        assert event.comes is not None
        self.held.pass_time(event.at)
        before = {leaf.first for leaf in self.flow.leaves}
        root = self.flow.add(event.comes)
        there = [Enter(s, t, until, 1) for s, triples in self.held.sources.items() for t, until in triples.items()]
        rows = list(self.arrivals(there, event.at, event.number, before))
        for begin, end in self.cuts(len(rows)):
            self.flow.feed(arrivals_of(rows[begin:end]))
        for graph, triples in self.held.graphs.items():
            ids = np.array([[self.id_of(text) for text in triple] for triple in sorted(triples)], np.int64).reshape(-1, 3)
            self.flow.show_graph(graph[1:-1], ids, event.at, event.number)
        self.send_first(root, event)
        told = Told(next(self.wanted), root, self.chance, self.dictionary)
        told.begin(self.flow.begin(root, event.at, event.number))
        self.told.append(told)

    def send_first(self, root: Root, event: Event) -> None:
        """Shows a plan that came the rows of parts that only it reads."""
        known = {
            node.part for told in self.told for node in n.in_order(told.wanted.plan) if isinstance(node, n.ExchangeInput)
        }
        number = number_of(event.at, event.number)
        self.send(
            [
                (part, tuple(map(self.id_of, row)), event.at, number, times)
                for part, rows in self.held.parts.items()
                for row, times in rows.items()
                if times and part not in known
            ]
        )

    # What must not matter

    def disturb(self, number: int) -> None:
        match self.chance.randrange(8):
            case 0:
                self.restore()
            case 1:
                self.dictionary.forget_before(tick(time_of(self.upto), EXPIRY))
                self.dictionary.settle()
            case 2 | 3 if not self.held.ends(self.upto + 1):
                for told in self.told:
                    told.check_sum(number, self.flow.current(told.root, self.upto))

    def restore(self) -> None:
        state, old = self.flow.dump(self.upto), self.flow
        self.flow = self.made(old.firsts)
        for told in self.told:
            told.root = self.flow.add(told.wanted.plan)
        self.flow.load(_away(state), self.upto)
        for root in list(old.roots):
            old.drop(root, self.upto)


def _away(state: Any) -> Any:
    """State as it comes back from a snapshot: tuples are lists there."""
    if isinstance(state, dict):
        return {name: _away(value) for name, value in state.items()}
    return [_away(value) for value in state] if isinstance(state, list | tuple) else state


def arrivals_of(rows: list[tuple[int, ...]]) -> Arrivals:
    columns = np.array(rows, np.int64).reshape(len(rows), 8)
    return Arrivals(columns[:, 0], columns[:, 1:4], *(columns[:, i] for i in range(4, 8)))


def flow(chance: Random) -> None:
    """One random case, led in three ways."""
    model = Model()
    _run(Director(chance, model).events(), model, chance)


def _run(events: list[Event], model: Model, chance: Random) -> None:
    last = events[-1].at + tick(30, EXPIRY)
    try:
        wanted = recomputed(events, last, model)
    except TooManyError:
        return
    few = subquery._FEW
    try:
        for _ in range(3):
            # Few solutions are many: sub-queries are put together with the rest in the middle of it all.
            subquery._FEW = chance.choice([2, few])
            Driven(wanted, model, chance).run(events, last)
    finally:
        subquery._FEW = few


if __name__ == "__main__":
    seeded, evaluated = Random(int(sys.argv[1])), Model()
    happened = Director(seeded, evaluated).events()
    print(*happened, sep="\n")
    _run(happened, evaluated, seeded)
