"""The reader of RDF/XML.

Of a malformed document the statements before the fault are kept, for its statements are complete where they end. The same
holds for one that becomes too large. Entities are replaced by the parser where they are declared, so a few nested
declarations can become gigabytes: `_Expansion` bounds that before the parser sees a byte of it. Nothing outside of the
document is ever read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from xml.parsers import expat

from pyoxigraph import Quad, RdfFormat, parse

from millstream.errors import DataError, OptionError
from millstream.limits import Limits
from millstream.rdf.blanks import BlankScope
from millstream.rdf.element import Rejections
from millstream.rdf.readers.bounds import ByteSource
from millstream.rdf.readers.faults import fault_of
from millstream.rdf.readers.parsing import check_sizes, check_supported, names_size
from millstream.rdf.statements import Event, Statement

CHUNK = 1 << 20
# Elements, not triples: RDF/XML nests two a step, and the parser frees them recursively.
MAX_XML_DEPTH = 2000
# How much longer than the text the names of its statements may be: every statement repeats its subject and a namespace.
_TIMES_TEXT = 16


def read_rdf_xml(
    source: ByteSource, scope: BlankScope, rejections: Rejections, *, base: str | None, limits: Limits
) -> Iterator[Event]:
    """The statements of an RDF/XML document, one quad each."""
    watched = _WatchedXml(source, limits)
    try:
        quads: Iterator[Quad] = parse(input=watched, format=RdfFormat.RDF_XML, base_iri=base)  # type: ignore[arg-type]
    except ValueError as error:
        raise OptionError(f"base: {error}") from None
    renamed = scope.rename_document(quads)
    names = 0
    while True:
        try:
            quad = next(renamed, None)
            if quad is None:
                return
            names += names_size(quad)
            if names > limits.document_bytes + _TIMES_TEXT * watched.size:
                raise DataError(too_large(limits))
        except DataError as refused:
            fault = refused
        except BaseException as error:
            fault = fault_of(error)
        else:
            try:
                check_supported((quad,))
                check_sizes((quad,), limits)
            except DataError as refused:
                rejections.reject(refused.reason, line=watched.line, text=f"{quad.subject} {quad.predicate} ...")
                continue
            yield Statement([quad], None)
            continue
        line, column = watched.fault or (fault.line, fault.column)
        rejections.reject(f"{fault.reason}; the document is kept up to here", line=line, column=column, text=watched.text)
        return


def too_large(limits: Limits) -> str:
    """Why a document was set aside."""
    return f"a document that becomes more than {limits.document_bytes} bytes (limit document_bytes)"


class _Expansion:
    """An upper bound for what a text becomes when its entities are replaced, told by its bytes alone.

    The parser takes `<!ENTITY` for a declaration wherever it stands in a document type, and replaces what a declaration
    refers to by what was declared before it. So what one becomes is at most its own text and, for each `&` in it, the
    largest one before it.
    """

    _DECLARATION = b"<!ENTITY"
    _BEGINNINGS = tuple(b"<!ENTITY"[:size] for size in range(1, 8))
    _REST = re.compile(rb"[^<]*+")

    def __init__(self, most: int) -> None:
        self.size = 0
        self._most = most
        self._largest = 0
        self._cut_off = b""

    def follow(self, data: bytes) -> bool:
        """Takes the next bytes into account; whether all may still be within the bound."""
        if self._cut_off or self._DECLARATION in data or data.endswith(self._BEGINNINGS):
            self._declare(self._cut_off + data)
        self.size += len(data)
        if self._largest:
            self.size += data.count(b"&") * self._largest
        return max(self.size, self._largest, len(self._cut_off)) <= self._most

    def _declare(self, text: bytes) -> None:
        place = 0
        while (place := text.find(self._DECLARATION, place)) >= 0:
            rest = self._REST.match(text, place + 1)
            assert rest is not None
            # Past the bound its size does not matter any more.
            size = len(rest[0]) + rest[0].count(b"&") * self._largest
            self._largest = min(max(self._largest, size), self._most + 1)
            place = rest.end()
        # The last one may go on, and only now begin.
        begin = text.rfind(b"<")
        self._cut_off = text[begin:] if begin >= 0 and self._DECLARATION.startswith(text[begin : begin + 8]) else b""


class _WatchedXml:
    """Passes XML on while a second parser follows: for the places of faults, which the first does not tell, and for depth.

    What the second parser objects to is not passed on, so nothing reaches the first that was not looked at.
    """

    def __init__(self, source: ByteSource, limits: Limits) -> None:
        self._source = source
        self._limits = limits
        self._expansion = _Expansion(limits.document_bytes)
        self._pending = b""
        self._objection: str | None = None
        self._depth = 0
        self._since_tag = 0
        self._expat = expat.ParserCreate(namespace_separator=" ")
        self._expat.StartElementHandler = self._enter
        self._expat.EndElementHandler = self._leave
        self.size = 0
        self.fault: tuple[int, int] | None = None
        self.text = b""

    @property
    def line(self) -> int:
        """The line up to which the text was read."""
        return self._expat.CurrentLineNumber

    def read(self, size: int = CHUNK, /) -> bytes:
        if not self._pending:
            if self._objection is not None:
                raise DataError(self._objection)
            data = self._source.read(CHUNK)
            if objection := self._too_much(data):
                self._object(objection, data, 0)
                raise DataError(objection)
            self._pending = self._follow(data)
            self.size += len(self._pending)
            if not self._pending and self._objection is not None:
                raise DataError(self._objection)
        found, self._pending = self._pending[:size], self._pending[size:]
        return found

    def _too_much(self, data: bytes) -> str | None:
        """Why the parser must not see the data: it would hold all of a text, or of what the text becomes."""
        if not self._expansion.follow(data):
            return too_large(self._limits)
        last = data.rfind(b"<")
        self._since_tag = len(data) - last if last >= 0 else self._since_tag + len(data)
        if self._since_tag > self._limits.literal_bytes + CHUNK:
            return f"a literal of more than {self._limits.literal_bytes} bytes (limit literal_bytes)"
        return None

    def _follow(self, data: bytes) -> bytes:
        """As much of the data as there is nothing to object to."""
        try:
            self._expat.Parse(data, not data)
        except expat.ExpatError as error:
            return self._object(expat.ErrorString(error.code), data, self._expat.ErrorByteIndex - self.size)
        except (LookupError, ValueError) as error:  # what Python says of encodings that it lacks, or that Expat cannot use
            return self._object(str(error), data, self._expat.CurrentByteIndex - self.size)
        except DataError as error:
            return self._object(error.reason, data, self._expat.CurrentByteIndex - self.size)
        return data

    def _object(self, reason: str, data: bytes, inside: int) -> bytes:
        inside = min(max(0, inside), len(data))
        parser = self._expat
        self._objection = reason
        self.fault = (parser.ErrorLineNumber, parser.ErrorColumnNumber + 1)
        line_start = data.rfind(b"\n", 0, inside) + 1
        self.text = data[max(line_start, inside - 100) :][:1024].split(b"\n", 1)[0]
        return data[:inside]

    def _enter(self, name: str, attributes: Any) -> None:
        self._depth += 1
        if self._depth > MAX_XML_DEPTH:
            raise DataError(f"nested more than {MAX_XML_DEPTH} deep")

    def _leave(self, name: str) -> None:
        self._depth -= 1
