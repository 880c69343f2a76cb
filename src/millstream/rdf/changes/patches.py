"""RDF Patch: one change a line.

`A s p o [g] .` adds and `D s p o [g] .` deletes; `PA` and `PD` set and drop prefixes, header lines `H` are passed over.
The changes of a transaction (`TX` ... `TC`) come when it commits, those of an aborted one (`TA`) never; one that the
text ends in is set aside. Memory holds one transaction. Most lines never come here: see
`millstream.ingest.readers.patching`.
"""

from __future__ import annotations

import enum
import re

from millstream.errors import DataError
from millstream.limits import Limits
from millstream.rdf.blanks import BlankScope
from millstream.rdf.readers.prologue import Prologue
from millstream.rdf.statements import Change

_IRI = rb"<[^<>\"{}|^`\s]*+>"
_TERM = re.compile(
    _IRI + rb'|<<\(.*\)>>|"(?:[^"\\]|\\.)*+"(?:@[A-Za-z0-9-]++|\^\^(?:' + _IRI + rb"|[^\s<>\"]++))?|[^\s<>\"]++"
)
_ROW = re.compile(rb"(?P<code>[A-Z]{1,2})(?=[\s.]|\Z)\s*+(?P<rest>.*)", re.DOTALL)
_PREFIX = re.compile(rb'"?(?P<name>[^\s":<>]*+):?"?\s++[<"](?P<iri>[^<>"\s]*+)[>"]')
_SYSTEM_NODE = re.compile(rb"<(_:[^<>\s]++)>")


class Transaction(enum.Enum):
    """What lines say about transactions."""

    BEGIN = "begin"
    COMMIT = "commit"
    ABORT = "abort"


class Patch:
    """The lines of one RDF Patch: the prefixes in force, and whether a transaction is open."""

    def __init__(self, scope: BlankScope, *, base: str | None, limits: Limits) -> None:
        self._scope = scope
        self._prologue = Prologue(base, limits)
        self.began: int | None = None
        """The line on which the open transaction began."""

    def take(self, number: int, line: bytes) -> Change | Transaction | None:
        """What a line says; raises DataError for what is none."""
        text = line.strip()
        if not text or text.startswith(b"#"):
            return None
        row = _ROW.fullmatch(text)
        match row["code"] if row else None:
            case b"A" | b"D" if row:
                return _change(row, self._prologue, self._scope, number)
            case b"PA" | b"PD" if row:
                _prefix(row, self._prologue)
            case b"TX" | b"TB":
                if self.began is not None:
                    raise DataError(f"a transaction is already open since line {self.began}")
                self.began = number
                return Transaction.BEGIN
            case b"TC" | b"TA" if row:
                if self.began is None:
                    raise DataError("no transaction is open")
                self.began = None
                return Transaction.COMMIT if row["code"] == b"TC" else Transaction.ABORT
            case b"H":
                pass
            case _:
                raise DataError("not a line of RDF Patch: it begins with A, D, H, PA, PD, TX, TC or TA")
        return None


def not_committed(changes: int) -> str:
    """Why the changes of a transaction in which the text ends do not come."""
    return f"the transaction is not committed: its {changes} changes are left out"


def _change(row: re.Match[bytes], prologue: Prologue, scope: BlankScope, line: int) -> Change:
    body = _SYSTEM_NODE.sub(rb"\1", row["rest"])
    terms = _TERM.findall(body.removesuffix(b"."))
    left_over = _TERM.sub(b"", body.removesuffix(b".")).strip()
    if not body.endswith(b".") or len(terms) not in (3, 4) or left_over:
        raise DataError("a change is three or four terms and a dot")
    quads = prologue.statement(b" ".join((*terms[:3], b".")), scope)
    if len(quads) != 1:
        raise DataError("not one triple")
    graph = prologue.graph_name(terms[3], scope) if len(terms) == 4 else None
    return Change(row["code"] == b"A", (quads[0].triple,), graph, line=line)


def _prefix(row: re.Match[bytes], prologue: Prologue) -> None:
    rest = row["rest"].removesuffix(b".").strip()
    if row["code"] == b"PD":
        prologue.drop(rest.strip(b'":').decode("utf-8", "replace"))
        return
    match = _PREFIX.fullmatch(rest)
    if match is None:
        raise DataError("a prefix is written PA name: <iri> .")
    prologue.obey(b"@prefix " + match["name"] + b": <" + match["iri"] + b"> .")
