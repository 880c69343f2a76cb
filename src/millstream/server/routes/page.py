"""/ and /page/FILE: the console, a page that is built from `console/` into `millstream/server/page`.

Its files have names that change with their content, so browsers may keep them for ever. The page itself loads nothing from
anywhere else, and may not: the content security policy allows this server alone.
"""

from __future__ import annotations

import secrets
from pathlib import Path

from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, PlainTextResponse, Response

from millstream.server.http.openapi import described
from millstream.server.problems import NotFoundError

FOLDER = Path(__file__).resolve().parent.parent / "page"
# Browsers write style attributes themselves when somebody types over coloured text.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-{nonce}'; style-src-attr 'unsafe-inline'; "
    "font-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_KINDS = {".css": "text/css", ".js": "text/javascript", ".woff2": "font/woff2", ".svg": "image/svg+xml"}


async def index(request: Request) -> Response:
    """The console for browsers; for others, or where it is not built, all paths, a line each."""
    built = FOLDER / "index.html"
    if "text/html" in request.headers.get("accept", "") and built.is_file():
        # The editor puts its styles into the page, which it may because it knows this word.
        nonce = secrets.token_urlsafe(16)
        policy = _POLICY.format(nonce=nonce)
        headers = {"Content-Security-Policy": policy, "Cache-Control": "no-store", "X-Frame-Options": "DENY"}
        return HTMLResponse(built.read_text("utf-8").replace("NONCE", nonce), headers=headers)
    lines = [
        f"{method.upper():7} {path:26} {operation['summary']}"
        for path, operations in described()["paths"].items()
        for method, operation in operations.items()
    ]
    console = "open this link in a browser" if built.is_file() else "not built; in a clone, `make console` builds it"
    return PlainTextResponse(f"millstream\n\nconsole: {console}\n\n" + "\n".join(lines) + "\n")


async def file(request: Request) -> Response:
    """A file of the page; needs no token, since it is the same everywhere."""
    path = FOLDER / request.path_params["file"]
    if path.parent != FOLDER or path.suffix not in _KINDS or not path.is_file():
        raise NotFoundError("the page has no such file.")
    headers = {"Cache-Control": "public, max-age=31536000, immutable"}
    return FileResponse(path, headers=headers, media_type=_KINDS[path.suffix])
