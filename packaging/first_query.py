"""A first query on an installed millstream, by the library and by the command: what every wheel must do."""

import subprocess
import sys
from pathlib import Path

import millstream as ms

engine = ms.Engine()
engine.insert("<http://e/s1> <http://e/in> <http://e/lab> .")
query = engine.register("""
    PREFIX : <http://e/>
    SELECT CHANGES ?room ?degrees WHERE {
      STREAM :readings [RANGE 10s] { ?sensor :shows ?degrees } ?sensor :in ?room FILTER (?degrees > 30)
    }""")
integer = "http://www.w3.org/2001/XMLSchema#integer"
for at_ms, degrees in ((0, 21), (4000, 35)):
    engine.push("http://e/readings", f'<http://e/s1> <http://e/shows> "{degrees}"^^<{integer}> .', at_ms=at_ms)
engine.finish()
found = [(a.at_ms, a.weight, a.bindings["degrees"].value) for a in query.take()]
assert found == [(4000, 1, "35"), (14000, -1, "35")], found

command = Path(sys.executable).with_name("millstream.exe" if sys.platform == "win32" else "millstream")
subprocess.run([command, "demo", "--engine", "embedded"], check=True, stdout=subprocess.DEVNULL)
sources = [p for p in Path(ms.__file__).parent.rglob("*") if p.suffix in (".pyx", ".pxd", ".c")]
assert not sources, sources
print(f"millstream {ms.__version__} on Python {sys.version.split()[0]}: the first query is answered")
