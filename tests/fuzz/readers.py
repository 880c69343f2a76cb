"""Sound documents of every format, damaged, into everything that reads them.

What cannot be read is set aside or an error of ours, and the engine goes on: what is pushed behind it is answered.
"""

from __future__ import annotations

import gzip
import io
import tempfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.feather as pf
import pyarrow.parquet as pq
from pyoxigraph import BlankNode, DefaultGraph, Literal, NamedNode, Quad, RdfFormat, parse, serialize

from millstream import Engine, MillstreamError
from millstream.rdf.element import Rejected, Rejections
from millstream.rdf.inputs import ByteStream, memory
from millstream.rdf.mapping.mapping import Mapped, map_rows
from millstream.rdf.mapping.templates import read_template
from tests.fuzz import garbage

E = "http://example.org/"
XSD = "http://www.w3.org/2001/XMLSchema#"
GENERATED = NamedNode("http://www.w3.org/ns/prov#generatedAtTime")
WATCHED = f"SELECT * {{ STREAM <{E}stream> [ALL] {{ <{E}probe> ?p ?o }} }}"

TEXT_FORMATS = {
    "ntriples": RdfFormat.N_TRIPLES,
    "nquads": RdfFormat.N_QUADS,
    "turtle": RdfFormat.TURTLE,
    "trig": RdfFormat.TRIG,
    "rdfxml": RdfFormat.RDF_XML,
    "jsonld": RdfFormat.JSON_LD,
}
TABLE_FORMATS = ("parquet", "arrow", "arrow stream", "csv")
TIMES = ("rate:1000", "rate:0.3", "prov", "column", "arrival", f"<{E}at>", "x", None)
ELEMENTS = (None, None, "line", "subject", "file", "graph", "x")
FILES = {
    "ntriples": "nt",
    "nquads": "nq",
    "turtle": "ttl",
    "trig": "trig",
    "rdfxml": "rdf",
    "jsonld": "jsonld",
    "jsonlines": "jsonl",
    "parquet": "parquet",
    "arrow": "arrow",
    "arrow stream": "arrows",
    "csv": "csv",
    "rdfpatch": "rdfp",
    "sparql": "ru",
}


def quads(chance: Random, *, graphs: bool) -> list[Quad]:
    """A few elements: named graphs with their times, or triples."""
    found = []
    for number in range(chance.randrange(1, 6)):
        graph = NamedNode(f"{E}g{number}") if graphs else DefaultGraph()
        for _ in range(chance.randrange(1, 4)):
            subject = chance.choice([NamedNode(f"{E}a"), NamedNode(f"{E}é"), BlankNode(f"b{number}")])
            object_ = chance.choice(
                [
                    NamedNode(f"{E}b"),
                    BlankNode("b1"),
                    Literal(chance.choice(["", "text", "a\n\t\"'\\b", "é\U0001f600", "x" * 300])),
                    Literal("text", language="en-GB"),
                    Literal(str(chance.randrange(-3, 9)), datatype=NamedNode(XSD + "integer")),
                    Literal("1.5", datatype=NamedNode(XSD + "double")),
                    Literal("2024-02-29T23:59:59Z", datatype=NamedNode(XSD + "dateTime")),
                ]
            )
            found.append(Quad(subject, NamedNode(f"{E}{chance.choice('pq')}"), object_, graph))
        if graphs:
            time = Literal(str(number), datatype=NamedNode(XSD + "integer"))
            found.append(Quad(graph, GENERATED, time, DefaultGraph()))
    return found


def document(chance: Random) -> tuple[str, bytes]:
    """A sound document of any format."""
    match chance.randrange(5):
        case 0 | 1:
            format = chance.choice(list(TEXT_FORMATS))
            some = quads(chance, graphs=format in ("nquads", "trig", "jsonld"))
            prefixes = {"e": E} if format in ("turtle", "trig", "rdfxml") and chance.random() < 0.7 else None
            return format, _serialized(some, TEXT_FORMATS[format], prefixes)
        case 2:
            lines = [_serialized(quads(chance, graphs=True), RdfFormat.JSON_LD).replace(b"\n", b"") for _ in range(3)]
            return "jsonlines", b"\n".join(lines)
        case 3:
            return chance.choice([_patch, _update])(chance)
        case _:
            return _table(chance)


def _serialized(some: list[Quad], format: RdfFormat, prefixes: dict[str, str] | None = None) -> bytes:
    given = some if format.supports_datasets else [quad.triple for quad in some]
    found = serialize(given, format=format, prefixes=prefixes)
    assert found is not None
    return found


def _patch(chance: Random) -> tuple[str, bytes]:
    lines = ["H id <urn:x> .", f"PA e: <{E}> .", "TX ."]
    lines += [f"{chance.choice('AD')} {quad} ." for quad in quads(chance, graphs=chance.random() < 0.5)]
    return "rdfpatch", "\n".join([*lines, "TC ."]).encode()


def _update(chance: Random) -> tuple[str, bytes]:
    words = [f"PREFIX e: <{E}>"]
    for quad in quads(chance, graphs=False):
        triple = f"{quad.triple} ."
        inner = f"GRAPH e:g {{ {triple} }}" if chance.random() < 0.4 else triple
        words.append(f"{chance.choice(['INSERT', 'DELETE'])} DATA {{ {inner} }} ;")
    return "sparql", "\n".join(words).encode()


def _table(chance: Random) -> tuple[str, bytes]:
    format = chance.choice(TABLE_FORMATS)
    some = quads(chance, graphs=False)
    columns: dict[str, Any] = {name: [str(getattr(q, part)) for q in some] for name, part in _PARTS.items()}
    columns["at_ms"] = sorted(chance.randrange(20) for _ in some)
    if chance.random() < 0.5:
        columns["element"] = sorted(chance.randrange(3) for _ in some)
    table, sink = pa.table(columns), io.BytesIO()
    match format:
        case "parquet":
            pq.write_table(table, sink, compression=chance.choice(["snappy", "zstd", "none", "gzip"]))
        case "arrow":
            pf.write_feather(table, sink, compression=chance.choice(["uncompressed", "lz4", "zstd"]))
        case "arrow stream":
            with pa.ipc.new_stream(sink, table.schema) as writer:
                writer.write_table(table)
        case _:
            pc.write_csv(table, sink)
    return format, sink.getvalue()


_PARTS = {"s": "subject", "p": "predicate", "o": "object"}


class _Slow:
    """A file object that gives little at a time, and sometimes fails."""

    def __init__(self, chance: Random, data: bytes) -> None:
        self._chance = chance
        self._data = io.BytesIO(data)

    def read(self, size: int = -1, /) -> bytes:
        return self._data.read(self._chance.choice([1, 7, 100, 5000]) if size != 0 else 0)


def readers(chance: Random) -> None:
    """Damaged documents by any way in; what comes behind them is answered."""
    engine = Engine(lateness_ms=chance.choice([0, 0, 5]), strict=chance.random() < 0.2)
    query = engine.register(WATCHED)
    if chance.random() < 0.5:
        engine.register(f"SELECT * {{ STREAM <{E}stream> [RANGE 5] {{ ?a ?b ?c }} }}")
        engine.register("SELECT * { { ?a ?b ?c } UNION { GRAPH ?g { ?a ?b ?c } } }")
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(chance.randrange(1, 4)):
            format, data = document(chance)
            data = garbage.damaged(chance, data)
            if chance.random() < 0.2:
                data = garbage.damaged(chance, gzip.compress(data))
            try:
                _read(engine, chance, format, _given(chance, data, Path(folder), FILES[format]))
            except MillstreamError as error:
                garbage.check_told(error)
    for rejected in engine.rejected():
        assert rejected.reason
        str(rejected)
    engine.advance_to(max(engine.clock_ms, 0) + 1)
    engine.push(f"{E}stream", f"<{E}probe> <{E}p> <{E}o> .", at_ms=engine.clock_ms + 1)
    engine.finish()
    assert len(query.take()) == 1
    engine.snapshot()


def _given(chance: Random, data: bytes, folder: Path, ending: str) -> Any:
    """The same bytes as any kind of source."""
    match chance.randrange(5):
        case 0:
            path = folder / f"file.{ending}"
            path.write_bytes(data)
            return chance.choice([path, str(path), str(folder)])
        case 1:
            return _Slow(chance, data)
        case 2:
            return io.BytesIO(data)
        case 3:
            pieces = data.splitlines()
            return chance.choice([pieces, iter(pieces), [piece.decode("utf-8", "replace") for piece in pieces]])
        case _:
            return chance.choice([bytes, bytearray, memoryview])(data)


def _read(engine: Engine, chance: Random, format: str, source: Any) -> None:
    named: str | None = format.removesuffix(" stream")
    if chance.random() < 0.1:
        named = chance.choice([None, *TEXT_FORMATS, "csv", "parquet"])
    base = chance.choice([None, None, E, "not a base"])
    if format in ("rdfpatch", "sparql"):
        engine.read_changes(source, graph=chance.choice([None, f"{E}g"]), format=named, base=base)
    elif chance.random() < 0.4:
        engine.load(source, chance.choice([None, f"{E}g"]), format=named, base=base)
    else:
        # Mostly in a way that can be.
        time, element = chance.choice(["rate:1000", None]), None
        if chance.random() < 0.5:
            time, element = chance.choice(TIMES), chance.choice(ELEMENTS)
        clock: Callable[[], int] | None = (lambda: 7) if time == "arrival" else None
        engine.read(f"{E}stream", source, format=named, time=time, element=element, base=base, clock_ms=clock)


def lines_kept(chance: Random) -> None:
    """Lines that are sound are read, whatever stands between them."""
    graphs = chance.random() < 0.5
    some = quads(chance, graphs=graphs)
    sound = [f"{quad} .\n".encode() if graphs else f"{quad.triple} .\n".encode() for quad in some]
    mixed = []
    for line in sound:
        if chance.random() < 0.5:
            # An escape would hide the line behind it, and a version makes it another format.
            mixed.append(garbage.damaged(chance, line).replace(b"\r", b"").replace(b"VERSION", b"") + b"\n")
        mixed.append(line)
    engine, format = Engine(), "nquads" if graphs else "ntriples"
    data = b"".join(mixed)
    engine.load(_Slow(chance, data) if chance.random() < 0.5 else data, format=format)
    everything = engine.register("SELECT ?a ?b ?c ?g { { ?a ?b ?c } UNION { GRAPH ?g { ?a ?b ?c } } }")
    found = {tuple(map(_without_label, a.bindings.values())) for a in everything.take()}
    for quad in parse(b"".join(sound), format=TEXT_FORMATS[format]):
        graph = None if isinstance(quad.graph_name, DefaultGraph) else quad.graph_name
        terms = (quad.subject, quad.predicate, quad.object, graph)
        assert tuple(_without_label(t) for t in terms if t is not None) in found, f"{quad} is lost in {data!r}"


def _without_label(term: Any) -> str:
    return "blank" if isinstance(term, BlankNode) else str(term)


TEMPLATE = """
[prefixes]
"" = "http://example.org/"

[element]
time = "at"
graph = ":ride/{id}"
triples = '''
:r/{id} :name "{name}"
:r/{id} :n "{n}"^^xsd:integer
:r/{id} :at "{#}"
'''
"""


def mapping(chance: Random) -> None:
    """Damaged tables, and damaged templates, through `map`."""
    text = TEMPLATE
    if chance.random() < 0.4:
        text = garbage.damaged(chance, text.encode()).decode("utf-8", "replace")
    lines = chance.random() < 0.5
    data = (
        b'{"id": "a", "at": 5, "name": "x\\n", "n": 3}\n{"id": {"b": [1]}, "at": "2024-01-01T00:00:00Z"}\n'
        if lines
        else b'id,at,name,n\na,5,"x\n""y",3\nb,2024-01-01T00:00:00Z,,\n'
    )
    set_aside: list[Rejected] = []
    try:
        template = read_template(text)
        rejections = Rejections("source", set_aside.append)
        source = ByteStream(memory(garbage.damaged(chance, data * 3)), rejections)
        for element in map_rows(template, source, rejections, Mapped(), lines=lines, graphs=chance.random() < 0.5):
            list(parse(element.encode(), format=RdfFormat.N_QUADS))
    except MillstreamError as error:
        str(error)
