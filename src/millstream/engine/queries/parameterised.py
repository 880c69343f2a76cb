"""Parameterised queries: those of one shape, which differ in constants and in what they emit, run as one.

A parameterised query has one run, or an emitter of one that is for other queries as well. While its queries have the same
constants, its answers are for all of them. Otherwise each different tuple of constants is an instance: its constants are
triples of a graph that only this run reads, and the first column of every answer says which instance it is for
(`millstream.plan.instances`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from pyoxigraph import BlankNode, Literal, NamedNode

from millstream.engine.input.datasets import Graph, Triples
from millstream.engine.output.answer_order import as_change
from millstream.engine.output.emitter import Emitter
from millstream.engine.output.reporting import EverythingReporter, sign_of
from millstream.engine.queries.query import ContinuousQuery
from millstream.engine.queries.run import QueryRun
from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.kernels.emission.emission import parted, selected
from millstream.language.algebra import Output
from millstream.operators import stored
from millstream.operators.leaves.matching import Constants
from millstream.operators.ticks import ELEMENT, MOST_MS, Deltas, tick
from millstream.plan.conjunction import GraphSource, SourcedPattern
from millstream.plan.instances import place_predicate
from millstream.plan.lifting import lifted_blank

Terms = tuple[NamedNode | Literal, ...]
_INTEGER = "http://www.w3.org/2001/XMLSchema#integer"
_MOST_SPELLED_OUT = 1024
"""With more instances a stream is not searched for the constants of each: that would be asked of every triple."""


class QueryInstance:
    """The queries with the same constants."""

    __slots__ = ("constants", "id", "queries")

    def __init__(self, constants: Terms, instance_id: int) -> None:
        self.constants = constants
        self.id = instance_id
        self.queries: list[ContinuousQuery] = []


class ParameterisedQuery:
    """Queries with one emitter of a run."""

    def __init__(self, constants: Terms, emitter: Emitter, dictionary: Dictionary, moment: object = None) -> None:
        self.emitter = emitter
        self.moment = moment
        """When it began, for those who can join only then."""
        self.places: tuple[int, ...] = ()
        """The places at which instances have different constants."""
        self._constants = constants
        self._dictionary = dictionary
        self._graph = Graph(dictionary)
        self._instances: dict[Terms, QueryInstance] = {}
        self._by_id: dict[int, QueryInstance] = {}
        self._next = 0
        self._size = 0

    @property
    def run(self) -> QueryRun:
        return self.emitter.run

    # Who belongs to it ------------------------------------------------------------------------------------------------

    @property
    def queries(self) -> Iterator[ContinuousQuery]:
        return (query for instance in self._instances.values() for query in instance.queries)

    def __len__(self) -> int:
        return self._size

    def instance(self, constants: Terms) -> QueryInstance | None:
        """The instance with these constants."""
        return self._instances.get(constants)

    def output_with(self, output: Output) -> Output:
        """What the run must emit, once a query with some output has joined."""
        return output if output is self.emitter.query.output else Output.CHANGES

    def places_with(self, constants: Terms) -> tuple[int, ...]:
        """The places at which instances have different constants, once these have joined."""
        pairs = zip(self._constants, constants, strict=True)
        return tuple(sorted({*self.places, *(i for i, (one, other) in enumerate(pairs) if one != other)}))

    def add(self, constants: Terms, instance_id: int | None = None) -> QueryInstance:
        """A new instance, of which the run knows nothing yet, or one that a snapshot has."""
        if instance_id is None:
            # An integer is all in its id: nobody has to keep it in the dictionary.
            instance_id = self._dictionary.encode_one(f'"{self._next}"^^<{_INTEGER}>'.encode())
            self._next += 1
        instance = QueryInstance(constants, instance_id)
        self._instances[constants] = self._by_id[instance_id] = instance
        return instance

    def take(self, query: ContinuousQuery, instance: QueryInstance) -> None:
        """A query whose constants are those of an instance."""
        instance.queries.append(query)
        self._size += 1
        query.attach(self, instance)
        self.route()

    def drop(self, query: ContinuousQuery, instance: QueryInstance) -> None:
        """Lets a query of an instance go that is not the last one of all."""
        instance.queries.remove(query)
        self._size -= 1
        if not instance.queries:
            # Whatever the run still says of it is for nobody.
            del self._instances[instance.constants], self._by_id[instance.id]
        self.route()

    def instance_id(self, instance: QueryInstance) -> int | None:
        """What the run calls an instance; None where it knows of none."""
        return instance.id if self.places else None

    # Its run ----------------------------------------------------------------------------------------------------------

    def go_on_with(self, emitter: Emitter, places: tuple[int, ...]) -> Graph:
        """Another emitter, for instances that differ at these places; gives the graph of their constants."""
        self._graph.delete(self._graph.triples(), emitter.run.tick)
        for query in self.run.operator.watchers & set(self.queries):
            emitter.run.operator.measure(query, measured=True)
        self.emitter, self.places = emitter, places
        self._name()
        self._graph.insert(self._triples(self._instances.values()))
        return self._graph

    def mute(self) -> None:
        """Has the run say nothing to anybody until a query is taken."""
        self.emitter.emit = lambda rows: None

    def _name(self) -> None:
        """Tells the run, which is for nobody else, what its instances ask for."""
        if self.places:
            self.run.contents.named = self._named

    def route(self) -> None:
        """Says where answers go, now that queries came or went."""
        if self.places:
            self.emitter.emit = self._hand_out
            return
        (instance,) = self._instances.values()
        alone = len(instance.queries) == 1 and instance.queries[0].query.output is self.emitter.query.output
        self.emitter.emit = instance.queries[0] if alone else self._repeat

    def show(self, instance: QueryInstance, at_tick: int) -> None:
        """Shows the run a new instance."""
        if self.places:
            self.run.parameters_changed(self._graph.insert(self._triples([instance])), 1, at_tick)

    def hide(self, instance: QueryInstance, passed: int, now: int) -> None:
        """Takes an instance from the run, after all that has passed; nobody hears of it."""
        gone = self._graph.delete(self._triples([instance]), now)
        self.run.parameters_changed(gone, -1, passed)

    def close(self, at_tick: int) -> None:
        """Lets go of all terms."""
        self.run.drop(self.emitter, at_tick)
        self._graph.delete(self._graph.triples(), at_tick)

    def tell(self, query: ContinuousQuery, instance: QueryInstance, at_ms: int) -> None:
        """Tells a query over datasets alone what its answers are, when others have been told before."""
        rows = as_change(self.emitter.current_rows(self.instance_id(instance)), tick(at_ms, ELEMENT))
        self._give(query, selected(rows, sign_of(query.query.output)))

    @property
    def tells_everything(self) -> bool:
        """Whether it emits everything after every change, and so nothing that a new instance brings."""
        return isinstance(self.emitter.reporter, EverythingReporter)

    def _triples(self, instances: Iterable[QueryInstance]) -> Triples:
        encode = self._dictionary.encode_one
        predicates = [encode(str(place_predicate(place)).encode()) for place in self.places]
        rows = [
            (instance.id, predicate, encode(str(instance.constants[place]).encode()))
            for instance in instances
            for place, predicate in zip(self.places, predicates, strict=True)
        ]
        return np.array(rows, np.int64).reshape(-1, 3)

    # Its answers ------------------------------------------------------------------------------------------------------

    def _repeat(self, rows: Deltas) -> None:
        for instance in self._instances.values():
            self._hand(instance, rows)

    def _hand_out(self, rows: Deltas) -> None:
        """Hands each instance its rows: what that costs depends on the rows, not on how many instances there are."""
        for instance_id, part in parted(rows):
            instance = self._by_id.get(instance_id)
            if instance is not None:
                self._hand(instance, part)

    def _hand(self, instance: QueryInstance, rows: Deltas) -> None:
        for query in instance.queries:
            output = query.query.output
            self._give(query, rows if output is self.emitter.query.output else selected(rows, sign_of(output)))

    @staticmethod
    def _give(query: ContinuousQuery, rows: Deltas) -> None:
        if len(rows):
            query.emit(rows)

    # What it reads ----------------------------------------------------------------------------------------------------

    @property
    def names_stream_terms(self) -> bool:
        """Whether instances ask a stream for different triples."""
        labels = {lifted_blank(place).value for place in self.places}
        return any(
            isinstance(t, BlankNode) and t.value in labels
            for p in self.run.operator.patterns.values()
            if not isinstance(p.source, GraphSource)
            for t in (p.triple.subject, p.triple.object)
        )

    def _named(self, pattern: SourcedPattern, constants: Constants) -> Iterable[Constants]:
        places = {lifted_blank(place).value: place for place in self.places}
        ends = (pattern.triple.subject, pattern.triple.object)
        asked = [places.get(t.value) if isinstance(t, BlankNode) else None for t in ends]
        if asked == [None, None] or len(self._instances) > _MOST_SPELLED_OUT:
            return (constants,)
        found: dict[Constants, None] = {}
        for instance in self._instances.values():
            one, other = (None if place is None else str(instance.constants[place]).encode() for place in asked)
            found[one or constants[0], constants[1], other or constants[2]] = None
        return found

    # Snapshots --------------------------------------------------------------------------------------------------------

    def dump(self) -> dict[str, Any]:
        """All it keeps, its queries aside."""
        return {
            "output": self.emitter.query.output.value,
            "places": list(self.places),
            "members": self._graph.triples(),
            "next": self._next,
            "era": self.emitter.root.era,
        }

    def load(self, state: dict[str, Any]) -> None:
        """Takes what a parameterised query of the same queries dumped, its instances added."""
        self._name()
        self._graph.restore(state["members"])
        self._next = stored.whole(state["next"], len(self._instances), MOST_MS)
        self.route()
