"""Who is registered: queries, their runs, and which of them share one.

A query joins others of its shape (`millstream.plan.lifting`) if its answers are the same as if it ran by itself: over
datasets alone at any time, with windows as long as nothing has happened since the others were registered. Under the same
condition it shares with queries of other shapes what its plan has in common with theirs (`millstream.engine.hosts`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from millstream.engine.answers import Answer
from millstream.engine.family import Family
from millstream.engine.feeding import fed_stream
from millstream.engine.hosts import Hosts
from millstream.engine.inputs import MEMBERS
from millstream.engine.outlet import Outlet
from millstream.engine.query import ContinuousQuery
from millstream.engine.run import PartRows, QueryRun
from millstream.errors import ChangeLimitError, OptionError, PendingLimitError, UnsupportedQueryError
from millstream.language.algebra import Output, Query
from millstream.operators import stored
from millstream.operators.dataflow import Dataflow
from millstream.operators.expressions import Evaluator
from millstream.operators.rows import MOST_MS
from millstream.plan.lifting import Shape, shape_of
from millstream.plan.members import RunsApartError
from millstream.plan.nodes import Node
from millstream.plan.passes import output_named, plan_of, query_of

if TYPE_CHECKING:
    from millstream.engine.core import Core

OnAnswer = Callable[[Answer], object] | None


def _is_free(query: Query, shape: Shape | None, places: Sequence[int]) -> bool:
    """Whether a query may share what it has in common with others.

    Not if something of it depends on its text or on when it came, or asks for members; nor if it is told of every change.
    """
    told_of_all = query.output is Output.RSTREAM and not query.closes_windows
    return shape is not None and shape.is_free and not places and not told_of_all


class Registry:
    """The queries of an engine."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self.queries: list[ContinuousQuery] = []
        """In order of registration."""
        self.families: list[Family] = []
        self.runs: list[QueryRun] = []
        self._hosts = Hosts()
        self._eras = 0
        self._last: object = None
        """What had happened when the last query came."""
        self._open: dict[tuple[Any, ...], Family] = {}
        """The families that a query of a shape may join."""

    # Coming -----------------------------------------------------------------------------------------------------------

    def register(self, text: str, output: str | None, on_answer: OnAnswer, base: str | None, now_ms: int) -> ContinuousQuery:
        """A query that has been shown the datasets as they are."""
        query = self._made(text, output, on_answer, base, now_ms)
        self._core.feeding.check(query.query)
        shape = self._shape_of(query, now_ms)
        query.is_new = True
        try:
            with self._core.bound.undoing():
                self._enter(query, shape)
        except (PendingLimitError, ChangeLimitError):
            query.forget_answers()
            self._leave(query)
            raise
        query.is_new = False
        self._core.feeding.process()
        return query

    def _enter(self, query: ContinuousQuery, shape: Shape | None) -> None:
        if shape is not None and self._join(query, shape):
            return
        family = self._alone(query, shape)
        bound, pending = self._core.bound, self._core.pending
        # Each solution of a conjunction alone is an answer.
        is_answer = family.run.operator.is_conjunction and query.keeps and query.query.output is not Output.DSTREAM
        if is_answer:
            bound.most = min(bound.most, max(0, pending.limit - pending.waiting))
        try:
            self._start(family.run)
        except ChangeLimitError:
            if is_answer:
                pending.check(bound.most + 1)
            raise
        if shape is not None:
            family.moment = self._moment(query)
            self._open[shape.key] = family

    def make(self, text: str, output: str | None, base: str | None, now_ms: int) -> tuple[ContinuousQuery, QueryRun]:
        """A query with a run of its own that has been shown nothing."""
        query = self._made(text, output, None, base, now_ms)
        return query, self._alone(query, None).run

    def start(self, run: QueryRun, given: PartRows | None = None) -> None:
        """Shows a run of `make` the datasets as they are, and rows of parts of its plan that ran before."""
        self._start(run, given=given)
        self._core.feeding.process()

    def _made(self, text: str, output: str | None, on_answer: OnAnswer, base: str | None, now_ms: int) -> ContinuousQuery:
        if not isinstance(text, str):
            raise OptionError(f"a query is text, got {text!r}.")
        handle = ContinuousQuery(self._core, query_of(text, base, output), text, on_answer)
        handle.registered_with = (base, output, now_ms)
        return handle

    def _shape_of(self, query: ContinuousQuery, now_ms: int) -> Shape | None:
        # What feeds a stream is fed change by change, and is one element of it.
        return None if fed_stream(query.query) is not None else shape_of(query.query, now_ms)

    def _outlet_of(
        self,
        query: ContinuousQuery,
        plan: Node,
        shape: Shape | None,
        places: tuple[int, ...] = (),
        output: Output | None = None,
    ) -> Outlet:
        """The end of a query, without any state, in a run of its own or in one with which it has something in common."""
        core, era = self._core, self._era()
        asked = query.query if output is None else replace(query.query, output=output)
        is_free = _is_free(asked, shape, places)
        run = self._hosts.find(plan, era, asked.base) if is_free else None
        if run is None:
            run = self._new_run(query)
        else:
            run.pass_time(core.before)
        outlet = run.add(asked, plan, query, era)
        self._opened(outlet, is_free=is_free)
        return outlet

    def _new_run(self, query: ContinuousQuery, restored: Iterable[int] | None = None) -> QueryRun:
        core, (_, _, now_ms) = self._core, query.registered_with
        operator = Dataflow(
            core.dictionary,
            Evaluator(core.dictionary, now_ms=now_ms, base=query.query.base, bounds=core.value_bounds),
            lazy=core.options.lazy,
            adaptive=core.options.adaptive,
            salt=query.text,
            bound=core.bound,
            restored=restored,
        )
        return core.run_of(operator)

    def _opened(self, outlet: Outlet, *, is_free: bool) -> None:
        """An outlet has come to its run, which may be new."""
        if len(outlet.run.outlets) == 1:
            self.runs.append(outlet.run)
        outlet.on_constructed = self._core.feeding.offer
        for iri in sorted(outlet.streams):
            readers = self._core.known_stream(iri).runs
            if outlet.run not in readers:
                readers.append(outlet.run)
        if is_free:
            self._hosts.enter(outlet.run, outlet.query.base)

    def _closed(self, outlet: Outlet) -> None:
        """An outlet is gone from its run."""
        run = outlet.run
        if not run.outlets:
            self.runs.remove(run)
        for iri in outlet.streams - run.streams:
            self._core.known_stream(iri).runs.remove(run)
        self._hosts.leave(run)

    def _alone(self, query: ContinuousQuery, shape: Shape | None) -> Family:
        """A family of one, among the others but without any state."""
        base, output, _ = query.registered_with
        outlet = self._outlet_of(query, self._core.planned(query.text, base, output), shape)
        family = Family(() if shape is None else shape.constants, outlet, self._core.dictionary)
        self.families.append(family)
        family.take(query, family.add(() if shape is None else shape.constants))
        self._entered(query)
        self._core.readers_changed(outlet.streams)
        return family

    def _entered(self, query: ContinuousQuery) -> None:
        self.queries.append(query)
        for iri in {window.stream.value for window in query.query.windows}:
            query.count_from(self._core.known_stream(iri))

    def _start(self, run: QueryRun, members: Any = None, given: PartRows | None = None) -> None:
        core = self._core
        contents = {name: graph.triples() for name, graph in core.graphs.items()}
        run.start(contents if members is None else {**contents, MEMBERS: members}, core.now_tick, core.before - 1, given)

    def _era(self) -> int:
        """The number of the time since which nothing has happened to anybody."""
        core = self._core
        now = core.before, core.counts["changes"], sum(stream.elements for stream in core.streams.values())
        if now != self._last:
            self._last = now
            self._eras += 1
        return self._eras

    # Together ---------------------------------------------------------------------------------------------------------

    def _moment(self, query: ContinuousQuery) -> object:
        """What changes as soon as anything happens that a query with windows could see."""
        core = self._core
        streams = sorted({window.stream.value for window in query.query.windows})
        return core.before, core.counts["changes"], tuple(core.known_stream(iri).elements for iri in streams)

    def _join(self, query: ContinuousQuery, shape: Shape) -> bool:
        """Lets a query join those of its shape, if there are any that it can join."""
        family, core = self._open.get(shape.key), self._core
        has_windows = bool(query.query.windows)
        if family is None or (has_windows and family.moment != self._moment(query)):
            return False
        family.run.pass_time(core.before)
        member = family.member(shape.constants)
        is_told = member is not None or family.tells_everything
        if not self._make_room(family, query, shape):
            return False
        if member is None:
            member = family.add(shape.constants)
            family.take(query, member)
            family.show(member, core.before - 1 if has_windows else core.now_tick)
            if family.names_stream_terms:
                core.readers_changed(family.run.streams)
        else:
            family.take(query, member)
        if is_told and not has_windows:
            family.tell(query, member, core.clock_ms)
        self._entered(query)
        return True

    def _make_room(self, family: Family, query: ContinuousQuery, shape: Shape) -> bool:
        """Has a family run so that its members can differ as a new one differs from them."""
        places, output = family.places_with(shape.constants), family.output_with(query.query.output)
        if places == family.places and output is family.outlet.query.output:
            return True
        try:
            outlet = self._outlet_of(query, plan_of(query.query, places), shape, places, output)
        except (RunsApartError, UnsupportedQueryError):
            return False
        before, before_places = family.outlet, family.places
        members = family.go_on_with(outlet, places)
        # To those that have windows nothing has happened yet; the others have been told.
        family.mute()
        try:
            self._start(outlet.run, members)
        except ChangeLimitError:
            family.go_on_with(before, before_places)
            family.route()
            outlet.run.drop(outlet, self._core.now_tick)
            self._closed(outlet)
            raise
        before.run.drop(before, self._core.now_tick)
        self._closed(before)
        self._core.readers_changed(outlet.streams)
        return True

    def sharing_with(self, family: Family) -> int:
        """How many queries of other shapes have parts in common with a family's."""
        return sum(len(other) for other in self.families if other is not family and other.run is family.run)

    # Going ------------------------------------------------------------------------------------------------------------

    def close(self, query: ContinuousQuery) -> None:
        """Ends a query; others that share its run hear nothing of it."""
        if query.family is not None:
            self._core.catch_up(query)
            self._leave(query)

    def _leave(self, query: ContinuousQuery) -> None:
        """Takes a query out, as far as it is in."""
        core, family, member = self._core, query.family, query.member
        if family is None or member is None:
            return
        if query in self.queries:
            self.queries.remove(query)
        query.detach()
        if len(family) == 1:
            self._end(family)
        else:
            family.drop(query, member)
            if not member.queries:
                family.hide(member, core.before - 1, core.now_tick)
                if family.names_stream_terms:
                    core.readers_changed(family.run.streams)

    def _end(self, family: Family) -> None:
        self.families.remove(family)
        self._open = {key: other for key, other in self._open.items() if other is not family}
        family.close(self._core.now_tick)
        self._closed(family.outlet)
        self._core.readers_changed(family.outlet.streams)

    # Snapshots --------------------------------------------------------------------------------------------------------

    def dump(self) -> dict[str, Any]:
        """All queries and runs, in plain values and arrays."""
        where = {
            query: (number, query.member.id)
            for number, family in enumerate(self.families)
            for query in family.queries
            if query.member is not None
        }
        families = {family.outlet: number for number, family in enumerate(self.families)}
        return {
            "queries": [{**query.dump(), "family": where[query][0], "member": where[query][1]} for query in self.queries],
            "families": [family.dump() for family in self.families],
            "runs": [{**run.dump(), "families": [families[outlet] for outlet in run.outlets]} for run in self.runs],
            "eras": self._eras,
        }

    def load(self, state: dict[str, Any]) -> None:
        """Takes what another registry dumped."""
        self._eras = stored.whole(state["eras"], 0, MOST_MS)
        made = [self._made(q["text"], q["output"], None, q["base"], q["now_ms"]) for q in state["queries"]]
        members: list[list[tuple[ContinuousQuery, int]]] = [[] for _ in state["families"]]
        for query, kept in zip(made, state["queries"], strict=True):
            stored.whole(query.registered_with[2], -MOST_MS - 1, MOST_MS + 1)
            members[stored.whole(kept["family"], 0, len(members) - 1)].append((query, stored.whole(kept["member"])))
        if sorted(number for run in state["runs"] for number in run["families"]) != list(range(len(members))):
            raise ValueError("a query has no run, or several")
        families: dict[int, Family] = {}
        for kept in state["runs"]:
            run = self._new_run(members[kept["families"][0]][0][0], kept["firsts"])
            for number in kept["families"]:
                families[number] = self._load_family(run, members[number], state["families"][number])
            run.load(kept)
            if run.tick < self._core.before - 1:
                raise ValueError("a query is not where the others are")
        self.families = [families[number] for number in sorted(families)]
        for query, kept in zip(made, state["queries"], strict=True):
            self._entered(query)
            query.load(kept)
        self._core.readers_changed({iri for run in self.runs for iri in run.streams})

    def _load_family(self, run: QueryRun, ours: list[tuple[ContinuousQuery, int]], state: dict[str, Any]) -> Family:
        shapes = [self._shape_of(query, query.registered_with[2]) for query, _ in ours]
        constants = [() if shape is None else shape.constants for shape in shapes]
        (first, _), shape, places = ours[0], shapes[0], state["places"]
        base, output, _ = first.registered_with
        plan = plan_of(first.query, places) if places else self._core.planned(first.text, base, output)
        asked = replace(first.query, output=output_named(state["output"]))
        outlet = run.add(asked, plan, first, stored.whole(state["era"], 0, self._eras))
        self._opened(outlet, is_free=_is_free(asked, shape, places))
        family = Family(constants[0], outlet, self._core.dictionary)
        family.places = tuple(places)
        self._core.dictionary.check(np.array([member_id for _, member_id in ours], np.int64))
        for (query, member_id), terms in zip(ours, constants, strict=True):
            family.take(query, family.member(terms) or family.add(terms, member_id))
        family.load(state)
        if shape is not None and not outlet.streams:
            self._open[shape.key] = family
        return family
