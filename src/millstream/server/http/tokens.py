"""Bearer tokens and their rights: read (ask and subscribe), write (push and change graphs), admin (all, and queries).

Tokens are compared in constant time: all of them, each by its digest, whatever was found before.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import secrets
from collections.abc import Iterable
from pathlib import Path

from millstream.errors import OptionError
from millstream.server.problems import ServerError

READ, WRITE, ADMIN = "read", "write", "admin"
RIGHTS = (READ, WRITE, ADMIN)
_SHORTEST = 16


class UnauthorizedError(ServerError):
    """No token, or none that is known."""

    status = 401


class ForbiddenError(ServerError):
    """A token without that right."""

    status = 403


class Tokens:
    """Which token has which rights; `admin` has all."""

    def __init__(self, tokens: Iterable[tuple[str, frozenset[str]]]) -> None:
        self._known = [(_digest(token), rights) for token, rights in tokens]

    def check(self, token: str | None, right: str) -> None:
        """Raises unless a token has a right."""
        found: frozenset[str] | None = None
        given = _digest(token or "")
        for digest, rights in self._known:
            if hmac.compare_digest(digest, given):
                found = rights
        if found is None or token is None:
            raise UnauthorizedError(
                "a token is needed: Authorization: Bearer TOKEN.", headers={"WWW-Authenticate": 'Bearer realm="millstream"'}
            )
        if right not in found and ADMIN not in found:
            raise ForbiddenError(f"this token may not {right}.")


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "replace")).digest()


def read_tokens(path: Path) -> Tokens:
    """A file with a line a token: its rights, separated by commas, then the token."""
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not UTF-8 text"
        raise OptionError(f"--token-file {path}: cannot be read: {reason}") from None
    found = []
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        rights, *token = line.split()
        names = frozenset(rights.split(","))
        if len(token) != 1 or not names <= set(RIGHTS):
            raise OptionError(f"--token-file {path}, line {number}: write RIGHTS TOKEN, with rights of {', '.join(RIGHTS)}")
        if len(token[0]) < _SHORTEST or not re.fullmatch(r"[A-Za-z0-9._~+/=-]+", token[0]):
            raise OptionError(
                f"--token-file {path}, line {number}: a token is {_SHORTEST} or more of A-Z a-z 0-9 - . _ ~ + / ="
            )
        found.append((token[0], names))
    if not found:
        raise OptionError(f"--token-file {path}: has no token")
    return Tokens(found)


def generated_token(folder: Path | None) -> str:
    """A token for everything; with a folder it is kept there, for its owner alone, and is the same next time."""
    if folder is None:
        return secrets.token_urlsafe(24)
    path = folder / "token"
    if path.exists():
        return path.read_text("ascii").strip()
    token = secrets.token_urlsafe(24)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(token + "\n")
    return token
