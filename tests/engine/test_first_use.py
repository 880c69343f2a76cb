"""What a process imports for its first query: large packages that only some need wait until somebody needs them."""

import subprocess
import sys

# Each with who needs it.
LATER = {
    "pyarrow": "tables, frames, batches that expressions are evaluated over",
    "pandas": "frames",
    "lark": "the build",
    "re2": "REGEX and REPLACE",
    "_hashlib": "hashes and CONSTRUCT's blank nodes",
    "rich": "the command line",
    "typer": "the command line",
    "pyspark": "the pipeline",
    "rdflib": "triples of its terms",
}
SESSION = """
import sys
import millstream as ms

engine = ms.Engine()
query = engine.register('SELECT ?s ?o { STREAM <http://e/s> [RANGE 10s] { ?s <http://e/p> ?o } FILTER (?o > 1) }')
engine.push("http://e/s", '<http://e/a> <http://e/p> "2"^^<http://www.w3.org/2001/XMLSchema#integer> .', at_ms=0)
engine.push("http://e/s", [("<http://e/a>", "<http://e/p>", 3)], at_ms=0)
engine.insert("<http://e/a> <http://e/p> <http://e/b> .")
engine.read("http://e/s", b"<http://e/a> <http://e/p> <http://e/c> .", format="ntriples", time="rate:1")
assert len(query.take()) == 2
engine.finish()
print(*sys.modules)
"""


def test_elements_as_text_need_no_tables_and_no_tools() -> None:
    done = subprocess.run([sys.executable, "-c", SESSION], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) & LATER.keys() == set()
