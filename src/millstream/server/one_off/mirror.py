"""The mirror: a process with a copy of the datasets, from which one-off queries are answered by children it forks.

It is told every change of the datasets in order, by the server that started it, and forks for each query: the child sees
the datasets as they were at that moment, however they change, and nobody waits for it. The kernel ends a child that takes
too long (an alarm) or allocates too much (its address space), and lets it open no file and no connection. The mirror itself
has one thread, so forking is safe.

    message   kind (1 byte), length (8 bytes), with a file descriptor for a query; then as many bytes
    reply     pieces on that descriptor: kind (1 byte), length (4 bytes), bytes; ended by an `E`, or cut short by death
"""

from __future__ import annotations

import json
import os
import resource
import signal
import socket
import struct
import sys
from collections.abc import Iterator
from typing import Any

import pyoxigraph as ox

from millstream.errors import MillstreamError
from millstream.ingest import chunks_of, quads_of
from millstream.kernels.dictionary.dictionary import Dictionary
from millstream.language import algebra as a
from millstream.plan.passes import query_of
from millstream.server.durable import commands as c
from millstream.server.durable.commands import Numbered, unpacked
from millstream.server.durable.state import dataset_want
from millstream.server.one_off import results
from millstream.server.one_off.negotiation import SOLUTIONS, TRIPLES, TRUTHS, choose
from millstream.server.problems import ServerError, TooLargeError, described, status_of

MESSAGE = struct.Struct("<cQ")
PIECE = struct.Struct("<cI")
LOAD, CHANGE, ASK = b"L", b"C", b"A"
HEAD, DATA, END, ERROR = b"H", b"D", b"E", b"X"
_SEND = 1 << 16


class Mirror:
    """The datasets as a store, kept up to date."""

    def __init__(self) -> None:
        self.store = ox.Store()

    def load(self, lines: bytes) -> None:
        """Quads in N-Quads syntax."""
        # Not by `load`, which would make other blank nodes of the same label in every call.
        self.store.extend(ox.parse(lines, format=ox.RdfFormat.N_QUADS, lenient=True))

    def change(self, numbered: Numbered) -> None:
        """A command that changed graphs of the engine; it was taken, so it is well-formed."""
        command = numbered.command
        graph = command.options.get("graph")
        name = ox.DefaultGraph() if graph is None else ox.NamedNode(graph)
        want = dataset_want(command, f"c{numbered.number}") if command.op != c.DROP else None
        if command.op in (c.PUT, c.DROP):
            self.store.clear_graph(name)
        if command.op in (c.PUT, c.POST):
            assert want is not None
            for chunk in quads_of(command.body, want):
                self._take(chunk, name, names_graphs=command.op == c.POST)
        elif command.op == c.UPDATE:
            assert want is not None
            for chunk in chunks_of(command.body, want):
                self._take(chunk, name, names_graphs=True)

    def _take(self, chunk: Any, default: Any, *, names_graphs: bool) -> None:
        dictionary = Dictionary()
        columns = chunk.encode(dictionary, None)
        terms = iter(dictionary.texts(columns.triples.ravel()))
        graphs = dictionary.texts(columns.graph) if columns.graph is not None and names_graphs else None
        inserts: list[ox.Quad] = []
        for place, (s, p, o) in enumerate(zip(terms, terms, terms, strict=True)):
            named = graphs[place] if graphs is not None else None
            line = f"{s} {p} {o} {named or ('' if isinstance(default, ox.DefaultGraph) else default)} ."
            [quad] = ox.parse(line, format=ox.RdfFormat.N_QUADS, lenient=True)
            if columns.sign is None or columns.sign[columns.element[place]] > 0:
                inserts.append(quad)
            else:
                self.store.extend(inserts)
                inserts = []
                self.store.remove(quad)
        self.store.extend(inserts)


# One query -------------------------------------------------------------------------------------------------------------


def answer(store: ox.Store, asked: dict[str, Any], reply: Any) -> None:
    """Evaluates one query, in a process of its own, and replies."""
    try:
        media_type, pieces = _evaluated(store, asked)
        reply(HEAD, media_type.encode())
        size, some, held = 0, [], 0
        for piece in pieces:
            data = piece if isinstance(piece, bytes) else piece.encode("utf-8", "replace")
            size += len(data)
            held += len(data)
            if size > asked["most_bytes"]:
                raise TooLargeError(f"the result has more than {asked['most_bytes']} bytes; ask for less, or add a LIMIT.")
            some.append(data)
            if held >= _SEND:
                reply(DATA, b"".join(some))
                some, held = [], 0
        reply(DATA, b"".join(some))
        reply(END, b"")
    except MillstreamError as error:
        reply(ERROR, json.dumps({"status": status_of(error), **described(error)}).encode())
    except SyntaxError as error:
        reply(ERROR, json.dumps({"status": 400, "error": f"the query is not understood: {error.msg}"}).encode())
    except (OSError, RuntimeError, ValueError):
        # pyoxigraph tells what it could not evaluate, which may name hosts.
        reply(ERROR, json.dumps({"status": 400, "error": "the query could not be evaluated."}).encode())
    except MemoryError:
        reply(ERROR, json.dumps({"status": 413, "error": TOO_MUCH_MEMORY}).encode())


TOO_MUCH_MEMORY = "the query needs more memory than a one-off query may; ask for less."


def _evaluated(store: ox.Store, asked: dict[str, Any]) -> tuple[str, Iterator[Any]]:
    text, accept = asked["query"], asked["accept"]
    query = query_of(text)
    if query.windows:
        raise ServerError("this query reads streams: register it with POST /queries, and it answers as they come.")
    if _names_service(query.pattern):
        raise ServerError("SERVICE is not supported: no other host is reached because a query names it.")
    offers = {a.Form.SELECT: SOLUTIONS, a.Form.ASK: TRUTHS}.get(query.form, TRIPLES)
    media_type = choose(accept, offers)
    if media_type is None:
        raise ServerError(f"none of the accepted types can be given; there are {', '.join(offers)}.", status=406)
    options: dict[str, Any] = {"base_iri": asked["base"]}
    if asked["default_graphs"] or asked["named_graphs"]:
        options["default_graph"] = [_graph(iri) for iri in asked["default_graphs"]]
        options["named_graphs"] = [_graph(iri) for iri in asked["named_graphs"]]
    found: Any = store.query(text, **options)
    if isinstance(found, ox.QueryBoolean):
        return media_type, iter((results.truth(media_type, bool(found)),))
    counted = _counted(found, asked["most_rows"])
    if isinstance(found, ox.QuerySolutions):
        names = [variable.value for variable in found.variables]
        rows = ([solution[name] for name in names] for solution in counted)
        return media_type, results.solutions(media_type, names, rows)
    return media_type, iter((results.triples(media_type, counted),))


def _graph(iri: str) -> ox.NamedNode:
    try:
        return ox.NamedNode(iri)
    except ValueError:
        raise ServerError(f"not the IRI of a graph: {iri[:200]!r}.") from None


def _counted(rows: Any, most: int) -> Iterator[Any]:
    for number, row in enumerate(rows):
        if number >= most:
            raise TooLargeError(f"the result has more than {most} rows; ask for less, or add a LIMIT.")
        yield row


def _names_service(node: Any) -> bool:
    """Whether a pattern asks another endpoint, anywhere in it."""
    if isinstance(node, a.Service):
        return True
    if isinstance(node, tuple | list):
        return any(map(_names_service, node))
    names = getattr(type(node), "__dataclass_fields__", ())
    return any(_names_service(getattr(node, name)) for name in names)


# The process -----------------------------------------------------------------------------------------------------------


def _confine(seconds: float, memory: int) -> None:
    """From now on this process ends after some time, can have so much more memory, and opens nothing."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    with open("/proc/self/statm") as file:
        pages = int(file.read().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + memory,) * 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))


def _child(store: ox.Store, asked: dict[str, Any], descriptor: int) -> None:
    def reply(kind: bytes, data: bytes) -> None:
        left = memoryview(PIECE.pack(kind, len(data)) + data)
        while left:
            left = left[os.write(descriptor, left) :]

    try:
        _confine(asked["seconds"], asked["memory"])
        answer(store, asked, reply)
    finally:
        # Nothing of the parent's is ended twice.
        os._exit(0)


def _warm_up() -> None:
    """Has everything imported that a query may need: children open no file."""
    store = ox.Store()
    store.load(b'<http://e/a> <http://e/b> "1"@en .', format=ox.RdfFormat.N_QUADS)
    bounds: dict[str, Any] = {"most_rows": 10, "most_bytes": 1 << 20, "base": None, "default_graphs": [], "named_graphs": []}
    texts = (
        "SELECT * { ?x ?y ?z }",
        "ASK {}",
        "DESCRIBE ?x { ?x ?y ?z }",
        "SELECT ?x { ?x <p> REGEXX }",
        "SELECT * { FILTER(1) ",
    )
    for accept in (None, *SOLUTIONS, *TRIPLES):
        for text in texts:
            answer(store, {"query": text, "accept": accept, **bounds}, lambda kind, data: None)


def _received(channel: socket.socket, length: int) -> bytes:
    parts = []
    while length:
        part = channel.recv(min(length, 1 << 20))
        if not part:
            raise EOFError
        parts.append(part)
        length -= len(part)
    return b"".join(parts)


def main() -> None:
    """Follows what the server says on a socket, until it is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # children are not waited for
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    channel = socket.socket(fileno=int(sys.argv[1]))
    mirror = Mirror()
    _warm_up()
    while True:
        try:
            head, descriptors, _, _ = socket.recv_fds(channel, MESSAGE.size, 1)
            if not head:
                return
            kind, length = MESSAGE.unpack(head + _received(channel, MESSAGE.size - len(head)))
            data = _received(channel, length)
        except EOFError:
            return
        if kind == LOAD:
            mirror.load(data)
        elif kind == CHANGE:
            for numbered in unpacked(data):
                mirror.change(numbered)
        else:
            asked = json.loads(data)
            if os.fork() == 0:
                channel.close()
                _child(mirror.store, asked, descriptors[0])
            os.close(descriptors[0])


if __name__ == "__main__":
    main()
