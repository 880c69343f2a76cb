"""millstream behind the protocol of docs/benchmarks/adapters.md: shows that what goes over the pipes is enough to answer.

Run as a program by tests/test_adapters.py.
"""

from __future__ import annotations

import sys
import time
from itertools import groupby

import pyoxigraph as ox

import millstream as ms


def main() -> None:
    length = int(sys.stdin.buffer.readline().split()[1])
    query = sys.stdin.buffer.read(length + 1)[:length].decode()
    engine = ms.Engine()
    registered = engine.register(query, output="istream")
    print("ready", *(f"?{name}" for name in registered.variables))
    for message in sys.stdin.buffer:
        kind, *numbers = message.decode().split()
        if kind == "end":
            return
        at_ms, count = map(int, numbers)
        quads = list(ox.parse(b"".join(sys.stdin.buffer.readline() for _ in range(count)), format=ox.RdfFormat.N_QUADS))
        began = time.process_time_ns()
        for name, some in groupby(quads, lambda quad: quad.graph_name):
            text = "".join(f"{quad.triple} .\n" for quad in some)
            graph = name.value if isinstance(name, ox.NamedNode) else None
            if kind == "element":
                engine.push(str(graph), text, at_ms)
            else:
                (engine.insert if kind == "insert" else engine.delete)(text, graph=graph, at_ms=at_ms)
        answers = registered.take()
        print("took", time.process_time_ns() - began)
        for answer in answers:
            print("answer", answer.at_ms, "+1", "\t".join(str(answer.bindings[name]) for name in registered.variables))


if __name__ == "__main__":
    main()
