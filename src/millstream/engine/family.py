"""Registered queries that are run as one: those of one shape, which differ in constants and in what they emit.

A family has one run, or an outlet of one that is for other queries as well. While its queries have the same constants, its
answers are for all of them. Otherwise each different tuple of constants is a member: its constants are triples of a graph
that only this run reads, and the first column of every answer says which member it is for (`millstream.plan.members`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from pyoxigraph import BlankNode, Literal, NamedNode

from millstream.engine.answer_order import as_change
from millstream.engine.datasets import Graph, Triples
from millstream.engine.outlet import Outlet
from millstream.engine.query import ContinuousQuery
from millstream.engine.reporting import EverythingReporter, sign_of
from millstream.engine.run import QueryRun
from millstream.kernels.dictionary import Dictionary
from millstream.kernels.emission import parted, selected
from millstream.language.algebra import Output
from millstream.operators import stored
from millstream.operators.matching import Constants
from millstream.operators.rows import ELEMENT, MOST_MS, Deltas, tick
from millstream.plan.conjunction import GraphSource, SourcedPattern
from millstream.plan.lifting import lifted_blank
from millstream.plan.members import place_predicate

Terms = tuple[NamedNode | Literal, ...]
_INTEGER = "http://www.w3.org/2001/XMLSchema#integer"
_MOST_SPELLED_OUT = 1024
"""With more members a stream is not searched for the constants of each: that would be asked of every triple."""


class Member:
    """The queries with the same constants."""

    __slots__ = ("constants", "id", "queries")

    def __init__(self, constants: Terms, member_id: int) -> None:
        self.constants = constants
        self.id = member_id
        self.queries: list[ContinuousQuery] = []


class Family:
    """Queries with one outlet of a run."""

    def __init__(self, constants: Terms, outlet: Outlet, dictionary: Dictionary, moment: object = None) -> None:
        self.outlet = outlet
        self.moment = moment
        """When it began, for those who can join only then."""
        self.places: tuple[int, ...] = ()
        """The places at which members have different constants."""
        self._constants = constants
        self._dictionary = dictionary
        self._graph = Graph(dictionary)
        self._members: dict[Terms, Member] = {}
        self._by_id: dict[int, Member] = {}
        self._next = 0
        self._size = 0

    @property
    def run(self) -> QueryRun:
        return self.outlet.run

    # Who belongs to it ------------------------------------------------------------------------------------------------

    @property
    def queries(self) -> Iterator[ContinuousQuery]:
        return (query for member in self._members.values() for query in member.queries)

    def __len__(self) -> int:
        return self._size

    def member(self, constants: Terms) -> Member | None:
        """The member with these constants."""
        return self._members.get(constants)

    def output_with(self, output: Output) -> Output:
        """What the run must emit, once a query with some output has joined."""
        return output if output is self.outlet.query.output else Output.CHANGES

    def places_with(self, constants: Terms) -> tuple[int, ...]:
        """The places at which members have different constants, once these have joined."""
        pairs = zip(self._constants, constants, strict=True)
        return tuple(sorted({*self.places, *(i for i, (one, other) in enumerate(pairs) if one != other)}))

    def add(self, constants: Terms, member_id: int | None = None) -> Member:
        """A new member, of which the run knows nothing yet, or one that a snapshot has."""
        if member_id is None:
            # An integer is all in its id: nobody has to keep it in the dictionary.
            member_id = self._dictionary.encode_one(f'"{self._next}"^^<{_INTEGER}>'.encode())
            self._next += 1
        member = Member(constants, member_id)
        self._members[constants] = self._by_id[member_id] = member
        return member

    def take(self, query: ContinuousQuery, member: Member) -> None:
        """A query whose constants are those of a member."""
        member.queries.append(query)
        self._size += 1
        query.attach(self, member)
        self.route()

    def drop(self, query: ContinuousQuery, member: Member) -> None:
        """Lets a query of a member go that is not the last one of all."""
        member.queries.remove(query)
        self._size -= 1
        if not member.queries:
            # Whatever the run still says of it is for nobody.
            del self._members[member.constants], self._by_id[member.id]
        self.route()

    def member_id(self, member: Member) -> int | None:
        """What the run calls a member; None where it knows of none."""
        return member.id if self.places else None

    # Its run ----------------------------------------------------------------------------------------------------------

    def go_on_with(self, outlet: Outlet, places: tuple[int, ...]) -> Triples:
        """Another outlet, for members that differ at these places; gives their constants."""
        self._graph.delete(self._graph.triples(), outlet.run.tick)
        self.outlet, self.places = outlet, places
        self._name()
        return self._graph.insert(self._triples(self._members.values()))

    def mute(self) -> None:
        """Has the run say nothing to anybody until a query is taken."""
        self.outlet.emit = lambda rows: None

    def _name(self) -> None:
        """Tells the run, which is for nobody else, what its members ask for."""
        if self.places:
            self.run.contents.named = self._named

    def route(self) -> None:
        """Says where answers go, now that queries came or went."""
        if self.places:
            self.outlet.emit = self._hand_out
            return
        (member,) = self._members.values()
        alone = len(member.queries) == 1 and member.queries[0].query.output is self.outlet.query.output
        self.outlet.emit = member.queries[0] if alone else self._repeat

    def show(self, member: Member, at_tick: int) -> None:
        """Shows the run a new member."""
        if self.places:
            self.run.members_changed(self._graph.insert(self._triples([member])), 1, at_tick)

    def hide(self, member: Member, passed: int, now: int) -> None:
        """Takes a member from the run, after all that has passed; nobody hears of it."""
        gone = self._graph.delete(self._triples([member]), now)
        self.run.members_changed(gone, -1, passed)

    def close(self, at_tick: int) -> None:
        """Lets go of all terms."""
        self.run.drop(self.outlet, at_tick)
        self._graph.delete(self._graph.triples(), at_tick)

    def tell(self, query: ContinuousQuery, member: Member, at_ms: int) -> None:
        """Tells a query over datasets alone what its answers are, when others have been told before."""
        rows = as_change(self.outlet.current_rows(self.member_id(member)), tick(at_ms, ELEMENT))
        self._give(query, selected(rows, sign_of(query.query.output)))

    @property
    def tells_everything(self) -> bool:
        """Whether it emits everything after every change, and so nothing that a new member brings."""
        return isinstance(self.outlet.reporter, EverythingReporter)

    def _triples(self, members: Iterable[Member]) -> Triples:
        encode = self._dictionary.encode_one
        predicates = [encode(str(place_predicate(place)).encode()) for place in self.places]
        rows = [
            (member.id, predicate, encode(str(member.constants[place]).encode()))
            for member in members
            for place, predicate in zip(self.places, predicates, strict=True)
        ]
        return np.array(rows, np.int64).reshape(-1, 3)

    # Its answers ------------------------------------------------------------------------------------------------------

    def _repeat(self, rows: Deltas) -> None:
        for member in self._members.values():
            self._hand(member, rows)

    def _hand_out(self, rows: Deltas) -> None:
        """Hands each member its rows: what that costs depends on the rows, not on how many members there are."""
        for member_id, part in parted(rows):
            member = self._by_id.get(member_id)
            if member is not None:
                self._hand(member, part)

    def _hand(self, member: Member, rows: Deltas) -> None:
        for query in member.queries:
            output = query.query.output
            self._give(query, rows if output is self.outlet.query.output else selected(rows, sign_of(output)))

    @staticmethod
    def _give(query: ContinuousQuery, rows: Deltas) -> None:
        if len(rows):
            query.emit(rows)

    # What it reads ----------------------------------------------------------------------------------------------------

    @property
    def names_stream_terms(self) -> bool:
        """Whether members ask a stream for different triples."""
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
        if asked == [None, None] or len(self._members) > _MOST_SPELLED_OUT:
            return (constants,)
        found: dict[Constants, None] = {}
        for member in self._members.values():
            one, other = (None if place is None else str(member.constants[place]).encode() for place in asked)
            found[one or constants[0], constants[1], other or constants[2]] = None
        return found

    # Snapshots --------------------------------------------------------------------------------------------------------

    def dump(self) -> dict[str, Any]:
        """All it keeps, its queries aside."""
        return {
            "output": self.outlet.query.output.value,
            "places": list(self.places),
            "members": self._graph.triples(),
            "next": self._next,
            "era": self.outlet.root.era,
        }

    def load(self, state: dict[str, Any]) -> None:
        """Takes what a family of the same queries dumped, its members added."""
        self._name()
        self._graph.restore(state["members"])
        self._next = stored.whole(state["next"], len(self._members), MOST_MS)
        self.route()
