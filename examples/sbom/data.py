"""Makes the software bill of materials of a small company, and what happens to it in thirty days.

python -m examples.sbom.data FOLDER
"""

from __future__ import annotations

import sys
from pathlib import Path

SBOM = "http://example.org/sbom/"
DAYS = 30
APPLICATIONS = ("shop", "billing", "mobile", "intranet")
FIRST = {
    "shop": ("web-2", "pay-5", "img-1"),
    "billing": ("pay-5", "pdf-3"),
    "mobile": ("web-2", "json-7"),
    "intranet": ("web-1", "pdf-3"),
    "web-1": ("tls-1", "json-7"),
    "web-2": ("tls-2", "json-7", "log-1"),
    "pay-5": ("tls-2", "money-4"),
    "pdf-3": ("font-2", "img-1"),
    "money-4": ("log-1",),
}
"""What depends on what on the first day."""
# Day, insert or delete, subject, predicate, object.
CHANGES = (
    (3, "insert", "CVE-A", "affects", "log-1"),
    (5, "insert", "log-2", "a", "Package"),
    (6, "delete", "web-2", "dependsOn", "log-1"),
    (6, "insert", "web-2", "dependsOn", "log-2"),
    (9, "delete", "money-4", "dependsOn", "log-1"),
    (9, "insert", "money-4", "dependsOn", "log-2"),
    (11, "insert", "CVE-B", "affects", "img-1"),
    (13, "delete", "shop", "dependsOn", "img-1"),
    (15, "insert", "CVE-C", "affects", "tls-1"),
    (19, "delete", "intranet", "dependsOn", "web-1"),
    (19, "insert", "intranet", "dependsOn", "web-2"),
    (21, "insert", "CVE-D", "affects", "json-7"),
    (24, "delete", "pdf-3", "dependsOn", "img-1"),
    (26, "delete", "web-2", "dependsOn", "json-7"),
    (26, "insert", "web-2", "dependsOn", "json-8"),
    (28, "delete", "CVE-D", "affects", "json-7"),
)


def triple(subject: str, predicate: str, object_: str) -> str:
    """A triple as N-Triples."""
    predicate = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type" if predicate == "a" else SBOM + predicate
    return f"<{SBOM}{subject}> <{predicate}> <{SBOM}{object_}> ."


def first_day() -> str:
    """The graph before anything changes, as N-Triples."""
    found = [triple(name, "a", "Application") for name in APPLICATIONS]
    found += [triple(one, "dependsOn", other) for one, others in FIRST.items() for other in others]
    return "\n".join(found) + "\n"


def write(folder: Path) -> None:
    """The graph of the first day, and the changes as an RDF Patch."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "first_day.nt").write_text(first_day())
    words = {"insert": "A", "delete": "D"}
    (folder / "changes.rdfp").write_text("".join(f"{words[op]} {triple(s, p, o)}\n" for _, op, s, p, o in CHANGES))


if __name__ == "__main__":
    write(Path(sys.argv[1]))
