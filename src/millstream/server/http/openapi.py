"""The description of the server's paths, after OpenAPI 3.1; one table, from which the document is made."""

from __future__ import annotations

from typing import Any

from millstream import __version__

_NAME = {"name": "name", "in": "path", "required": True, "schema": {"type": "string"}}
# method, path, summary, right, parameters, body types, status: response types
_PATHS: tuple[tuple[str, str, str, str | None, str, str, str, str], ...] = (
    ("get", "/sparql", "A SPARQL query over the datasets as they are now; without one, the service description", "read",
     "query default-graph-uri named-graph-uri format", "", "200", "application/sparql-results+json text/turtle"),
    ("post", "/sparql", "The same, as SPARQL 1.1 Protocol posts it", "read", "default-graph-uri named-graph-uri",
     "application/sparql-query application/x-www-form-urlencoded", "200", "application/sparql-results+json text/turtle"),
    ("get", "/queries", "All registered queries with their plans, counts, rates and latencies", "read", "", "", "200",
     "application/json"),
    ("post", "/queries", "Registers a query", "admin", "name output", "application/json application/sparql-query", "201",
     "application/json"),
    ("get", "/queries/{name}", "One query", "read", "", "", "200", "application/json"),
    ("delete", "/queries/{name}", "Closes a query", "admin", "", "", "204", ""),
    ("get", "/queries/{name}/answers", "The answer set now", "read", "format", "", "200",
     "application/sparql-results+json application/sparql-results+xml text/csv text/tab-separated-values text/turtle"),
    ("get", "/queries/{name}/operators", "What each of its operators has done, and where CPU time goes", "read", "", "",
     "200", "application/json"),
    ("get", "/queries/{name}/events", "A subscription; Last-Event-ID resumes it", "read", "last_event_id", "", "200",
     "text/event-stream"),
    ("post", "/streams", "Elements of a stream", "write", "iri at_ms time element",
     "application/n-quads application/trig text/turtle application/n-triples application/ld+json application/x-ndjson",
     "200", "application/json"),
    ("get", "/streams", "All streams: elements, rates, what was late or set aside and why", "read", "", "", "200",
     "application/json"),
    ("get", "/datasets", "A graph; without a parameter, which graphs there are", "read", "graph default", "", "200",
     "text/turtle application/n-triples application/rdf+xml application/ld+json"),
    ("put", "/datasets", "Replaces a graph", "write", "graph default", "text/turtle application/n-triples", "204", ""),
    ("post", "/datasets", "Adds to a graph", "write", "graph default", "text/turtle application/n-triples application/trig",
     "204", ""),
    ("delete", "/datasets", "Empties a graph", "write", "graph default", "", "204", ""),
    ("post", "/update", "INSERT DATA and DELETE DATA, or an RDF Patch", "write", "",
     "application/sparql-update application/rdf-patch", "204", ""),
    ("post", "/check", "What a text would mean as a query, or what is wrong with it and where", "read", "",
     "application/sparql-query", "200", "application/json"),
    ("get", "/vocabulary", "Words of the language, and IRIs that streams, graphs and data have here", "read", "", "", "200",
     "application/json"),
    ("get", "/metrics", "Counts and durations for Prometheus", "read", "", "", "200", "text/plain"),
    ("get", "/health", "Whether the server takes requests", None, "", "", "200", "application/json"),
    ("get", "/openapi.json", "This document", None, "", "", "200", "application/json"),
)  # fmt: skip


def described() -> dict[str, Any]:
    """The document."""
    paths: dict[str, Any] = {}
    for method, path, summary, right, parameters, bodies, status, gives in _PATHS:
        given = [{"name": name, "in": "query", "schema": {"type": "string"}} for name in parameters.split()]
        operation: dict[str, Any] = {
            "summary": summary,
            "parameters": [*([_NAME] if "{name}" in path else []), *given],
            "responses": {
                status: {"description": "done", "content": {kind: {} for kind in gives.split()}},
                "4XX": {"description": "refused", "content": {"application/json": {"schema": _ERROR}}},
            },
            "security": [] if right is None else [{"token": [right]}],
        }
        if bodies:
            operation["requestBody"] = {"required": True, "content": {kind: {} for kind in bodies.split()}}
        paths.setdefault(path, {})[method] = operation
    return {
        "openapi": "3.1.0",
        "info": {"title": "millstream", "version": __version__, "summary": "Continuous SPARQL queries over RDF streams"},
        "paths": paths,
        "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
    }


_ERROR = {
    "type": "object",
    "required": ["error"],
    "properties": {"error": {"type": "string"}, "line": {"type": "integer"}, "column": {"type": "integer"}},
}
