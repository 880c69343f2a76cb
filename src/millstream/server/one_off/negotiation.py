"""Content negotiation: which of the media types that can be given somebody would like best (RFC 9110, section 12.5.1)."""

from __future__ import annotations

from collections.abc import Sequence

JSON, XML = "application/sparql-results+json", "application/sparql-results+xml"
CSV, TSV = "text/csv", "text/tab-separated-values"
TRUTHS = (JSON, "application/json", XML, "application/xml", "text/xml")
"""Media types of truth values."""
SOLUTIONS = (*TRUTHS, CSV, TSV)
TRIPLES = (
    "text/turtle",
    "application/n-triples",
    "application/rdf+xml",
    "application/ld+json",
    "application/n-quads",
    "application/trig",
    "text/plain",
)
SHORT = {
    "json": JSON,
    "xml": XML,
    "csv": CSV,
    "tsv": TSV,
    "turtle": "text/turtle",
    "ttl": "text/turtle",
    "ntriples": "application/n-triples",
    "nt": "application/n-triples",
    "rdfxml": "application/rdf+xml",
    "jsonld": "application/ld+json",
}
"""What the parameter `format` may say instead of the header."""


def choose(accept: str | None, offers: Sequence[str]) -> str | None:
    """The offer that is liked best, the first of equals; None if none is accepted."""
    if not accept or not accept.strip():
        return offers[0]
    ranges = [_range(part) for part in accept.split(",")[:64] if part.strip()]
    liked = max(offers, key=lambda offer: _quality(ranges, offer))
    return liked if _quality(ranges, liked) > 0 else None


def _range(part: str) -> tuple[str, float]:
    name, *parameters = part.split(";")
    quality = 1.0
    for parameter in parameters:
        key, _, value = parameter.partition("=")
        if key.strip().lower() == "q":
            try:
                quality = min(1.0, max(0.0, float(value)))
            except ValueError:
                quality = 0.0
    return name.strip().lower(), quality


def _quality(ranges: list[tuple[str, float]], offer: str) -> float:
    """What the most specific range that means an offer says of it."""
    kind = offer.partition("/")[0]
    for wanted in (offer, f"{kind}/*", "*/*"):
        found = [quality for name, quality in ranges if name == wanted]
        if found:
            return max(found)
    return 0.0
