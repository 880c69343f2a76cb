"""What a server holds: an engine, its queries by name with the events kept of each, and how commands change it.

One thread at a time. Invariant: between two commands all that queries emitted has become events, so what a command brings
is a function of the commands before it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from millstream.engine import ContinuousQuery, Engine
from millstream.engine.output.live import bindings_of
from millstream.engine.snapshot import pack, taken_as_damage, unpack
from millstream.errors import DataError, MillstreamError, OptionError
from millstream.ingest import Want, chunks_of, quads_of
from millstream.ingest.plain_columns import columns_of
from millstream.limits import Limits
from millstream.rdf import Rejected
from millstream.server.durable import commands as c
from millstream.server.durable.commands import Command, Numbered
from millstream.server.durable.events import Event, Horizon, events_of, notification, row_text
from millstream.server.limits import ServerLimits
from millstream.server.problems import NotFoundError, TakenError, TooManyError

DATA_LIMITS = Limits(statement_bytes=64 << 20, literal_bytes=16 << 20, document_bytes=256 << 20)
"""What strangers may send is bounded closer than what files may have."""
_SMALL = 4096
MOST_REASONS = 20
"""How many reasons a response gives for what was set aside."""


@dataclass(slots=True, eq=False)
class Registered:
    """A query of the server."""

    name: str
    query: ContinuousQuery
    registration: int
    """The number of the command that registered it: another query of that name has another."""
    horizon: Horizon
    position: int = 0
    """How many answers it has emitted."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """An answer set at a position, which is put into words where nobody waits for it."""

    position: int
    at_ms: int
    variables: tuple[str, ...]
    solutions: list[Any]

    def event(self, *, missed: bool) -> Event:
        """As an event that replaces all before it."""
        said = '"snapshot": true, ' + ('"missed": true, ' if missed else "")
        body = notification(self.at_ms, self.variables, map(row_text, self.solutions), (), said=said)
        return Event(self.position, self.at_ms, body)


@dataclass(slots=True)
class Outcome:
    """What a command came to: a value for who asked, or an error, and events by query."""

    value: Any = None
    error: MillstreamError | None = None
    events: list[tuple[Registered, list[Event]]] = field(default_factory=list)
    clock_ms: int = -(1 << 62)
    """The event time that was reached."""


class ServerState:
    """Takes commands, one after the other."""

    def __init__(self, engine: Engine, limits: ServerLimits, begun_with: tuple[int, int | None] = (0, None)) -> None:
        self.engine = engine
        self.limits = limits
        self.begun_with = begun_with
        """The lateness and the largest jump of the engine, which stay."""
        self.queries: dict[str, Registered] = {}
        self.number = 0
        """The number of the last command."""
        self.streams: set[str] = set()
        """What was pushed to: the engine remembers a stream for ever."""
        self.positions: dict[str, bytes] = {}
        """How far sources were read, by their names."""
        self._do: dict[str, Callable[[Command], Any]] = {
            c.REGISTER: self._register,
            c.CLOSE: self._close,
            c.PUSH: self._push,
            c.CHUNK: self._chunk,
            c.ADVANCE: self._advance,
            c.PUT: self._put,
            c.POST: self._post,
            c.DROP: self._drop,
            c.UPDATE: self._update,
        }

    def apply(self, command: Command) -> tuple[Numbered, Outcome]:
        """Does what a command says. What it refuses is an error of the outcome; anything else that is raised is a fault."""
        self.number += 1
        numbered, outcome = Numbered(self.number, command), Outcome()
        try:
            outcome.value = self._do[command.op](command)
        except MillstreamError as error:
            outcome.error = error
        outcome.events = self._take()
        outcome.clock_ms = self.engine.clock_ms
        return numbered, outcome

    def _take(self) -> list[tuple[Registered, list[Event]]]:
        found = []
        for registered in self.queries.values():
            answers = registered.query.take()
            if not answers:
                continue
            events = list(events_of(answers, registered.query.variables, registered.position))
            registered.position += len(answers)
            for event in events:
                registered.horizon.add(event)
            if events:
                found.append((registered, events))
        return found

    # Queries ----------------------------------------------------------------------------------------------------------

    def named(self, name: str) -> Registered:
        if name not in self.queries:
            raise NotFoundError(f"there is no query {name!r}.")
        return self.queries[name]

    def _register(self, command: Command) -> str:
        name, text, output = (command.options[key] for key in ("name", "text", "output"))
        if name is None:
            name = f"q{self.number}"
        if name in self.queries:
            raise TakenError(f"there is a query {name!r} already; DELETE it first, or choose another name.")
        if len(self.queries) >= self.limits.queries:
            raise TooManyError(f"there are {len(self.queries)} queries, which is the most this server takes.")
        query = self.engine.register(text, output)
        horizon = Horizon(self.limits.horizon_events, self.limits.horizon_bytes)
        self.queries[name] = Registered(name, query, self.number, horizon)
        return str(name)

    def _close(self, command: Command) -> None:
        registered = self.named(command.options["name"])
        registered.query.close()
        del self.queries[registered.name]

    def resumed(self, name: str, registration: int, position: int) -> list[Event] | None:
        """The events of a query behind one of them; None if that is not known."""
        registered = self.named(name)
        if registered.registration != registration or position > registered.position:
            return None
        return registered.horizon.after(position)

    def snapshot(self, name: str) -> Snapshot:
        """The answer set of a query now, with the position of the last event that is in it."""
        registered = self.named(name)
        query = registered.query
        return Snapshot(registered.position, self.engine.clock_ms, query.variables, bindings_of(query))

    # Streams ----------------------------------------------------------------------------------------------------------

    def _push(self, command: Command) -> dict[str, Any]:
        options = command.options
        if options["iri"] not in self.streams:
            if len(self.streams) >= self.limits.streams:
                raise TooManyError(f"there are {len(self.streams)} streams, which is the most this server takes.")
            self.streams.add(options["iri"])
        rejected: list[Rejected] = []
        if _is_plain(command):
            try:
                self.engine.push(options["iri"], command.body, options["clock_ms"])
                return self._taken(1, self.engine.rejected(), rejected)
            except DataError:
                pass  # nothing was taken of it, and a reader says what is wrong
        want = Want(
            options["format"],
            options["time"],
            options["element"],
            clock_ms=lambda: int(options["clock_ms"]),
            on_rejected=rejected.append,
            limits=DATA_LIMITS,
            blank_prefix=f"c{self.number}",
        )
        arrivals, iri = self.engine.arrivals, options["iri"]
        came = 0
        try:
            for chunk in chunks_of(command.body, want):
                columns = arrivals.encode(iri, chunk)
                came += columns.elements
                arrivals.take(iri, columns)
        finally:
            untimely = self.engine.rejected()
        return self._taken(came, untimely, rejected)

    def _chunk(self, command: Command) -> dict[str, Any]:
        """Elements that a source of the server gave, with the position behind them."""
        state = unpack(command.body)
        arrivals, iri = self.engine.arrivals, command.options["iri"]
        columns = columns_of(state["columns"], arrivals.dictionary)
        self.positions[command.options["source"]] = state["position"]
        try:
            arrivals.take(iri, columns)
        finally:
            untimely = self.engine.rejected()
        return self._taken(columns.elements, untimely, [])

    def _taken(self, came: int, untimely: list[Rejected], malformed: list[Rejected]) -> dict[str, Any]:
        late = sum(rejected.reason.startswith("late") for rejected in untimely)
        reasons = [
            {"line": found.line, "column": found.column, "reason": found.reason}
            for found in (*untimely, *malformed)[:MOST_REASONS]
        ]
        return {
            "elements": came - len(untimely),
            "late": late,
            "rejected": len(untimely) - late + len(malformed),
            "reasons": reasons,
        }

    def _advance(self, command: Command) -> None:
        if command.options["at_ms"] > self.engine.clock_ms:
            self.engine.advance_to(command.options["at_ms"])

    # Datasets ---------------------------------------------------------------------------------------------------------

    def _want(self, command: Command) -> Want:
        return dataset_want(command, f"c{self.number}")

    def _put(self, command: Command) -> dict[str, Any]:
        graph = command.options["graph"]
        known = graph in self.engine.graph_store.sizes()
        self.engine.graph_store.replace(quads_of(command.body, self._want(command)), graph)
        return {"created": not known}

    def _post(self, command: Command) -> dict[str, Any]:
        graph = command.options["graph"]
        known = graph in self.engine.graph_store.sizes()
        added = self.engine.arrivals.load(quads_of(command.body, self._want(command)), graph)
        return {"created": not known, "added": added}

    def _drop(self, command: Command) -> None:
        graph = command.options["graph"]
        if graph not in self.engine.graph_store.sizes():
            raise NotFoundError(f"there is no graph <{graph}>.")
        self.engine.graph_store.clear(graph)

    def _update(self, command: Command) -> None:
        arrivals = self.engine.arrivals
        for chunk in chunks_of(command.body, self._want(command)):
            arrivals.change(arrivals.encode_changes(chunk), None)

    # As bytes ---------------------------------------------------------------------------------------------------------

    def dump(self) -> bytes:
        """All of it."""
        queries = [
            {
                "name": registered.name,
                "registration": registered.registration,
                "position": registered.position,
                "begins": registered.horizon.begins,
                "events": [[event.position, event.at_ms, len(event.body)] for event in registered.horizon.events],
                "bodies": b"".join(event.body for event in registered.horizon.events),
            }
            for registered in self.queries.values()
        ]
        positions = [[name, position] for name, position in self.positions.items()]
        state = {
            "number": self.number,
            "begun_with": list(self.begun_with),
            "queries": queries,
            "streams": sorted(self.streams),
            "positions": positions,
            "engine": self.engine.snapshot(),
        }
        return pack(state, compress=False)

    @classmethod
    def load(cls, data: bytes, limits: ServerLimits) -> ServerState:
        """What was dumped; SnapshotError for anything else."""
        found = unpack(data)
        with taken_as_damage():
            lateness_ms, max_jump_ms = found["begun_with"]
            state = cls(Engine.restore(found["engine"]), limits, (lateness_ms, max_jump_ms))
            state.number = found["number"]
            state.streams = set(found["streams"])
            state.positions = {name: bytes(position) for name, position in found["positions"]}
            for kept, query in zip(found["queries"], state.engine.queries, strict=True):
                horizon = Horizon(limits.horizon_events, limits.horizon_bytes)
                horizon.begins = kept["begins"]
                place = 0
                for position, at_ms, length in kept["events"]:
                    horizon.add(Event(position, at_ms, kept["bodies"][place : place + length]))
                    place += length
                state.queries[kept["name"]] = Registered(
                    kept["name"], query, kept["registration"], horizon, kept["position"]
                )
        return state


def _is_plain(command: Command) -> bool:
    """Whether a body is one small element of N-Triples without blank nodes: then no reader is needed."""
    options, body = command.options, command.body
    plain = options["element"] == "file" and options["time"] == "arrival" and options["format"] == "application/n-triples"
    return plain and len(body) <= _SMALL and body.startswith(b"<") and b"_:" not in body


def dataset_want(command: Command, blank_prefix: str) -> Want:
    """What is wanted of a body that changes graphs: all of it, or nothing."""
    options, changes = command.options, command.op == c.UPDATE
    return Want(
        options["format"], base=options["base"], limits=DATA_LIMITS, changes=changes, graphs=True, blank_prefix=blank_prefix
    )


def checked_name(name: object) -> str:
    """A name by which a query can be asked for."""
    allowed = isinstance(name, str) and 0 < len(name) <= 100 and all(ch.isalnum() or ch in "_-." for ch in name)
    if not allowed or not isinstance(name, str) or name.strip(".") == "" or not name.isascii():
        raise OptionError("the name of a query is up to 100 letters, digits, '_', '-' and '.'.")
    return name
