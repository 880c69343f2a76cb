"""Who is registered: queries, their runs, and which of them share one.

A query joins others of its shape (`millstream.plan.lifting`) if its answers are the same as if it ran by itself: over
datasets alone at any time, with windows as long as nothing has happened since the others were registered. Under the same
condition it shares with queries of other shapes what its plan has in common with theirs
(`millstream.engine.queries.common_parts`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from millstream.engine.input.datasets import Graph
from millstream.engine.output.answers import Answer
from millstream.engine.output.emitter import Emitter
from millstream.engine.queries.common_parts import CommonParts
from millstream.engine.queries.derived_streams import derived_stream
from millstream.engine.queries.parameterised import ParameterisedQuery
from millstream.engine.queries.query import ContinuousQuery
from millstream.engine.queries.run import PartRows, QueryRun
from millstream.engine.windows.inputs import PARAMETERS
from millstream.errors import ChangeLimitError, OptionError, PendingLimitError, UnsupportedQueryError
from millstream.language.algebra import Output, Query
from millstream.operators import stored
from millstream.operators.dataflow.dataflow import Dataflow
from millstream.operators.expressions import Evaluator
from millstream.operators.ticks import MOST_MS
from millstream.plan.instances import RunsApartError
from millstream.plan.lifting import Shape, shape_of
from millstream.plan.nodes import Node
from millstream.plan.passes import output_named, plan_of, query_of

if TYPE_CHECKING:
    from millstream.engine.core import Core

OnAnswer = Callable[[Answer], object] | None


def _is_free(query: Query, shape: Shape | None, places: Sequence[int]) -> bool:
    """Whether a query may share what it has in common with others.

    Not if something of it depends on its text or on when it came, or asks for instances; nor if it is told of every change.
    """
    told_of_all = query.output is Output.RSTREAM and not query.closes_windows
    return shape is not None and shape.is_free and not places and not told_of_all


class Registry:
    """The queries of an engine."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self.queries: list[ContinuousQuery] = []
        """In order of registration."""
        self.all_parameterised: list[ParameterisedQuery] = []
        self.runs: list[QueryRun] = []
        self._common_parts = CommonParts()
        self._eras = 0
        self._last: object = None
        """What had happened when the last query came."""
        self._open: dict[tuple[Any, ...], ParameterisedQuery] = {}
        """The parameterised queries that a query of a shape may join."""

    # Coming -----------------------------------------------------------------------------------------------------------

    def register(self, text: str, output: str | None, on_answer: OnAnswer, base: str | None, now_ms: int) -> ContinuousQuery:
        """A query that has been shown the datasets as they are."""
        query = self._made(text, output, on_answer, base, now_ms)
        self._core.derived_streams.check(query.query)
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
        self._core.derived_streams.process()
        return query

    def _enter(self, query: ContinuousQuery, shape: Shape | None) -> None:
        if shape is not None and self._join(query, shape):
            return
        parameterised = self._alone(query, shape)
        bound, pending = self._core.bound, self._core.pending
        # Each solution of a conjunction alone is an answer.
        is_answer = parameterised.run.operator.is_conjunction and query.keeps and query.query.output is not Output.DSTREAM
        if is_answer:
            bound.most = min(bound.most, max(0, pending.limit - pending.waiting))
        try:
            self._start(parameterised.run)
        except ChangeLimitError:
            if is_answer:
                pending.check(bound.most + 1)
            raise
        if shape is not None:
            parameterised.moment = self._moment(query)
            self._open[shape.key] = parameterised

    def make(self, text: str, output: str | None, base: str | None, now_ms: int) -> tuple[ContinuousQuery, QueryRun]:
        """A query with a run of its own that has been shown nothing."""
        query = self._made(text, output, None, base, now_ms)
        return query, self._alone(query, None).run

    def start(self, run: QueryRun, given: PartRows | None = None) -> None:
        """Shows a run of `make` the datasets as they are, and rows of parts of its plan that ran before."""
        self._start(run, given=given)
        self._core.derived_streams.process()

    def _made(self, text: str, output: str | None, on_answer: OnAnswer, base: str | None, now_ms: int) -> ContinuousQuery:
        if not isinstance(text, str):
            raise OptionError(f"a query is text, got {text!r}.")
        handle = ContinuousQuery(self._core, query_of(text, base, output), text, on_answer)
        handle.registered_with = (base, output, now_ms)
        return handle

    def _shape_of(self, query: ContinuousQuery, now_ms: int) -> Shape | None:
        # What feeds a stream is fed change by change, and is one element of it.
        return None if derived_stream(query.query) is not None else shape_of(query.query, now_ms)

    def _emitter_of(
        self,
        query: ContinuousQuery,
        plan: Node,
        shape: Shape | None,
        places: tuple[int, ...] = (),
        output: Output | None = None,
    ) -> Emitter:
        """The end of a query, without any state, in a run of its own or in one with which it has something in common."""
        core, era = self._core, self._era()
        asked = query.query if output is None else replace(query.query, output=output)
        is_free = _is_free(asked, shape, places)
        run = self._common_parts.find(plan, era, asked.base) if is_free else None
        if run is None:
            run = self._new_run(query)
        else:
            run.pass_time(core.before)
        emitter = run.add(asked, plan, query, era)
        self._opened(emitter, is_free=is_free)
        return emitter

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

    def _opened(self, emitter: Emitter, *, is_free: bool) -> None:
        """An emitter has come to its run, which may be new."""
        if len(emitter.run.emitters) == 1:
            self.runs.append(emitter.run)
        emitter.on_constructed = self._core.derived_streams.offer
        for iri in sorted(emitter.streams):
            readers = self._core.known_stream(iri).runs
            if emitter.run not in readers:
                readers.append(emitter.run)
        if is_free:
            self._common_parts.enter(emitter.run, emitter.query.base)

    def _closed(self, emitter: Emitter) -> None:
        """An emitter is gone from its run."""
        run = emitter.run
        if not run.emitters:
            self.runs.remove(run)
        for iri in emitter.streams - run.streams:
            self._core.known_stream(iri).runs.remove(run)
        self._common_parts.leave(run)

    def _alone(self, query: ContinuousQuery, shape: Shape | None) -> ParameterisedQuery:
        """A parameterised query of one, among the others but without any state."""
        base, output, _ = query.registered_with
        emitter = self._emitter_of(query, self._core.planned(query.text, base, output), shape)
        parameterised = ParameterisedQuery(() if shape is None else shape.constants, emitter, self._core.dictionary)
        self.all_parameterised.append(parameterised)
        parameterised.take(query, parameterised.add(() if shape is None else shape.constants))
        self._entered(query)
        self._core.readers_changed(emitter.streams)
        return parameterised

    def _entered(self, query: ContinuousQuery) -> None:
        self.queries.append(query)
        for iri in {window.stream.value for window in query.query.windows}:
            query.count_from(self._core.known_stream(iri))

    def _start(self, run: QueryRun, instances: Graph | None = None, given: PartRows | None = None) -> None:
        core = self._core
        graphs = core.graphs if instances is None else {**core.graphs, PARAMETERS: instances}
        run.start(graphs, core.now_tick, core.before - 1, given)

    def _era(self) -> int:
        """The number of the time since which nothing has happened to anybody."""
        core = self._core
        now = core.before, core.changes, sum(stream.elements for stream in core.streams.values())
        if now != self._last:
            self._last = now
            self._eras += 1
        return self._eras

    # Together ---------------------------------------------------------------------------------------------------------

    def _moment(self, query: ContinuousQuery) -> object:
        """What changes as soon as anything happens that a query with windows could see."""
        core = self._core
        streams = sorted({window.stream.value for window in query.query.windows})
        return core.before, core.changes, tuple(core.known_stream(iri).elements for iri in streams)

    def _join(self, query: ContinuousQuery, shape: Shape) -> bool:
        """Lets a query join those of its shape, if there are any that it can join."""
        parameterised, core = self._open.get(shape.key), self._core
        has_windows = bool(query.query.windows)
        if parameterised is None or (has_windows and parameterised.moment != self._moment(query)):
            return False
        parameterised.run.pass_time(core.before)
        instance = parameterised.instance(shape.constants)
        is_told = instance is not None or parameterised.tells_everything
        if not self._make_room(parameterised, query, shape):
            return False
        if instance is None:
            instance = parameterised.add(shape.constants)
            parameterised.take(query, instance)
            parameterised.show(instance, core.before - 1 if has_windows else core.now_tick)
            if parameterised.names_stream_terms:
                core.readers_changed(parameterised.run.streams)
        else:
            parameterised.take(query, instance)
        if is_told and not has_windows:
            parameterised.tell(query, instance, core.clock_ms)
        self._entered(query)
        return True

    def _make_room(self, parameterised: ParameterisedQuery, query: ContinuousQuery, shape: Shape) -> bool:
        """Has a parameterised query run so that its instances can differ as a new one differs from them."""
        places, output = parameterised.places_with(shape.constants), parameterised.output_with(query.query.output)
        if places == parameterised.places and output is parameterised.emitter.query.output:
            return True
        try:
            emitter = self._emitter_of(query, plan_of(query.query, places), shape, places, output)
        except (RunsApartError, UnsupportedQueryError):
            return False
        before, before_places = parameterised.emitter, parameterised.places
        instances = parameterised.go_on_with(emitter, places)
        # To those that have windows nothing has happened yet; the others have been told.
        parameterised.mute()
        try:
            self._start(emitter.run, instances)
        except ChangeLimitError:
            parameterised.go_on_with(before, before_places)
            parameterised.route()
            emitter.run.drop(emitter, self._core.now_tick)
            self._closed(emitter)
            raise
        before.run.drop(before, self._core.now_tick)
        self._closed(before)
        self._core.readers_changed(emitter.streams)
        return True

    def sharing_with(self, parameterised: ParameterisedQuery) -> int:
        """How many queries of other shapes have parts in common with a parameterised query's."""
        return sum(
            len(other) for other in self.all_parameterised if other is not parameterised and other.run is parameterised.run
        )

    # Going ------------------------------------------------------------------------------------------------------------

    def close(self, query: ContinuousQuery) -> None:
        """Ends a query; others that share its run hear nothing of it."""
        if query.parameterised is not None:
            self._core.catch_up(query)
            self._leave(query)

    def _leave(self, query: ContinuousQuery) -> None:
        """Takes a query out, as far as it is in."""
        core, parameterised, instance = self._core, query.parameterised, query.instance
        if parameterised is None or instance is None:
            return
        if query in self.queries:
            self.queries.remove(query)
        query.detach()
        if len(parameterised) == 1:
            self._end(parameterised)
        else:
            parameterised.drop(query, instance)
            if not instance.queries:
                parameterised.hide(instance, core.before - 1, core.now_tick)
                if parameterised.names_stream_terms:
                    core.readers_changed(parameterised.run.streams)

    def _end(self, parameterised: ParameterisedQuery) -> None:
        self.all_parameterised.remove(parameterised)
        self._open = {key: other for key, other in self._open.items() if other is not parameterised}
        parameterised.close(self._core.now_tick)
        self._closed(parameterised.emitter)
        self._core.readers_changed(parameterised.emitter.streams)

    # Snapshots --------------------------------------------------------------------------------------------------------

    def dump(self) -> dict[str, Any]:
        """All queries and runs, in plain values and arrays."""
        where = {
            query: (number, query.instance.id)
            for number, parameterised in enumerate(self.all_parameterised)
            for query in parameterised.queries
            if query.instance is not None
        }
        all_parameterised = {parameterised.emitter: number for number, parameterised in enumerate(self.all_parameterised)}
        return {
            "queries": [{**query.dump(), "family": where[query][0], "member": where[query][1]} for query in self.queries],
            "families": [parameterised.dump() for parameterised in self.all_parameterised],
            "runs": [
                {**run.dump(), "families": [all_parameterised[emitter] for emitter in run.emitters]} for run in self.runs
            ],
            "eras": self._eras,
        }

    def load(self, state: dict[str, Any]) -> None:
        """Takes what another registry dumped."""
        self._eras = stored.whole(state["eras"], 0, MOST_MS)
        made = [self._made(q["text"], q["output"], None, q["base"], q["now_ms"]) for q in state["queries"]]
        instances: list[list[tuple[ContinuousQuery, int]]] = [[] for _ in state["families"]]
        for query, kept in zip(made, state["queries"], strict=True):
            stored.whole(query.registered_with[2], -MOST_MS - 1, MOST_MS + 1)
            instances[stored.whole(kept["family"], 0, len(instances) - 1)].append((query, stored.whole(kept["member"])))
        if sorted(number for run in state["runs"] for number in run["families"]) != list(range(len(instances))):
            raise ValueError("a query has no run, or several")
        all_parameterised: dict[int, ParameterisedQuery] = {}
        for kept in state["runs"]:
            run = self._new_run(instances[kept["families"][0]][0][0], kept["firsts"])
            for number in kept["families"]:
                all_parameterised[number] = self._load_parameterised(run, instances[number], state["families"][number])
            run.load(kept)
            if run.tick < self._core.before - 1:
                raise ValueError("a query is not where the others are")
        self.all_parameterised = [all_parameterised[number] for number in sorted(all_parameterised)]
        for query, kept in zip(made, state["queries"], strict=True):
            self._entered(query)
            query.load(kept)
        self._core.readers_changed({iri for run in self.runs for iri in run.streams})

    def _load_parameterised(
        self, run: QueryRun, ours: list[tuple[ContinuousQuery, int]], state: dict[str, Any]
    ) -> ParameterisedQuery:
        shapes = [self._shape_of(query, query.registered_with[2]) for query, _ in ours]
        constants = [() if shape is None else shape.constants for shape in shapes]
        (first, _), shape, places = ours[0], shapes[0], state["places"]
        base, output, _ = first.registered_with
        plan = plan_of(first.query, places) if places else self._core.planned(first.text, base, output)
        asked = replace(first.query, output=output_named(state["output"]))
        emitter = run.add(asked, plan, first, stored.whole(state["era"], 0, self._eras))
        self._opened(emitter, is_free=_is_free(asked, shape, places))
        parameterised = ParameterisedQuery(constants[0], emitter, self._core.dictionary)
        parameterised.places = tuple(places)
        self._core.dictionary.check(np.array([instance_id for _, instance_id in ours], np.int64))
        for (query, instance_id), terms in zip(ours, constants, strict=True):
            parameterised.take(query, parameterised.instance(terms) or parameterised.add(terms, instance_id))
        parameterised.load(state)
        if shape is not None and not emitter.streams:
            self._open[shape.key] = parameterised
        return parameterised
