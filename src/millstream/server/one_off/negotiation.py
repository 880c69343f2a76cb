"""Content negotiation: which of the media types that can be given somebody would like best (RFC 9110, section 12.5.1)."""

from __future__ import annotations

from collections.abc import Mapping

JSON, XML = "application/sparql-results+json", "application/sparql-results+xml"
CSV, TSV = "text/csv", "text/tab-separated-values"
SOLUTIONS = {
    JSON: JSON,
    "application/json": "application/json",
    XML: XML,
    "application/xml": "application/xml",
    "text/xml": "text/xml",
    CSV: CSV,
    TSV: TSV,
}
"""Media types of solutions, and of truth values but for the last two."""
TRUTHS = {name: given for name, given in SOLUTIONS.items() if given not in (CSV, TSV)}
TRIPLES = {
    name: name
    for name in (
        "text/turtle",
        "application/n-triples",
        "application/rdf+xml",
        "application/ld+json",
        "application/n-quads",
        "application/trig",
        "text/plain",
    )
}
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


def choose(accept: str | None, offers: Mapping[str, str]) -> str | None:
    """The offer that is liked best, the first of equals; None if none is accepted."""
    if not accept or not accept.strip():
        return next(iter(offers.values()))
    ranges = [_range(part) for part in accept.split(",")[:64] if part.strip()]
    best: tuple[float, int] = (0.0, 0)
    found = None
    for place, offer in enumerate(offers):
        quality = _quality(ranges, offer)
        if quality > 0 and (found is None or (quality, -place) > best):
            best, found = (quality, -place), offers[offer]
    return found


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
