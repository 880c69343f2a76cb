"""RDF Patch: one change a line.

`A s p o [g] .` adds and `D s p o [g] .` deletes; `PA` and `PD` set and drop prefixes, header lines `H` are passed over.
The changes of a transaction (`TX` ... `TC`) come when it commits, those of an aborted one (`TA`) never; one that the
text ends in is set aside. Memory holds one transaction.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from millstream.errors import DataError
from millstream.limits import Limits
from millstream.rdf.blanks import BlankScope
from millstream.rdf.bounds import ByteSource
from millstream.rdf.documents import text_lines
from millstream.rdf.element import Rejections
from millstream.rdf.prologue import Prologue
from millstream.rdf.statements import Change

_IRI = rb"<[^<>\"{}|^`\s]*+>"
_TERM = re.compile(
    _IRI + rb'|<<\(.*\)>>|"(?:[^"\\]|\\.)*+"(?:@[A-Za-z0-9-]++|\^\^(?:' + _IRI + rb"|[^\s<>\"]++))?|[^\s<>\"]++"
)
_ROW = re.compile(rb"(?P<code>[A-Z]{1,2})(?=[\s.]|\Z)\s*+(?P<rest>.*)", re.DOTALL)
_PREFIX = re.compile(rb'"?(?P<name>[^\s":<>]*+):?"?\s++[<"](?P<iri>[^<>"\s]*+)[>"]')
_SYSTEM_NODE = re.compile(rb"<(_:[^<>\s]++)>")


def read_patch(
    source: ByteSource, scope: BlankScope, rejections: Rejections, *, base: str | None, limits: Limits
) -> Iterator[Change]:
    """The changes of an RDF Patch."""
    prologue = Prologue(base, limits)
    # The changes of the open transaction, and the line it began on.
    waiting: list[Change] = []
    began: int | None = None
    for number, line in text_lines(source, limits, rejections):
        text = line.strip()
        if not text or text.startswith(b"#"):
            continue
        row = _ROW.fullmatch(text)
        try:
            match row["code"] if row else None:
                case b"A" | b"D" if row:
                    change = _change(row, prologue, scope, number)
                    if began is None:
                        yield change
                    else:
                        waiting.append(change)
                case b"PA" | b"PD" if row:
                    _prefix(row, prologue)
                case b"TX" | b"TB":
                    if began is not None:
                        raise DataError(f"a transaction is already open since line {began}")
                    began = number
                case b"TC" | b"TA" if row:
                    if began is None:
                        raise DataError("no transaction is open")
                    if row["code"] == b"TC":
                        yield from waiting
                    waiting, began = [], None
                case b"H":
                    pass
                case _:
                    raise DataError("not a line of RDF Patch: it begins with A, D, H, PA, PD, TX, TC or TA")
        except DataError as error:
            rejections.reject(error.reason, line=number, column=1, text=line)
    if began is not None:
        reason = f"the transaction is not committed: its {len(waiting)} changes are left out"
        rejections.reject(reason, line=began, column=1, text="TX .")


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
