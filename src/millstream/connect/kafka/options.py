"""What is said of a topic: servers, names, offsets, and options of the client; from keywords or from a `kafka://` address.

    kafka://host:9092,other:9092/trips?format=jsonld&time=header:at&kafka.security.protocol=SSL

Options have Spark's names, those of the client behind `kafka.`. Values of client options can be secrets: they are shown
nowhere. `kafka.config=FILE` reads them from a file of lines `name=value`, so that they are on no command line.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from millstream.errors import OptionError

SCHEME = "kafka://"
CLIENT = "kafka."
EARLIEST, LATEST = "earliest", "latest"
_CONFIG = "config"
_NAMES = ("format", "time", "element", "base", "startingOffsets", "upsert", "mode", "key")


@dataclass(frozen=True, slots=True)
class Address:
    """Servers, topics and client options: what a connection needs."""

    servers: str
    topics: tuple[str, ...]
    client: Mapping[str, str] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.servers, str) or not self.servers.strip():
            raise OptionError("kafka: the servers are missing; give host:port, or several with commas between them")
        if not self.topics or not all(isinstance(topic, str) and topic for topic in self.topics):
            raise OptionError("kafka: the topic is missing; give its name, or several with commas between them")

    @property
    def name(self) -> str:
        """What it is called where something is wrong with it."""
        return f"{SCHEME}{self.servers}/{','.join(self.topics)}"

    def settings(self, **ours: Any) -> dict[str, Any]:
        """The settings of a client: what the user said comes first, but for those of ours that correctness needs."""
        return {"bootstrap.servers": self.servers, **self.client, **{name.replace("_", "."): v for name, v in ours.items()}}


def address(servers: str, topics: object, client: Mapping[str, object] | None = None) -> Address:
    """An address from what a caller passes: one topic, several with commas, or a list of them."""
    names = topics.split(",") if isinstance(topics, str) else topics
    if not isinstance(names, list | tuple):
        raise OptionError(f"kafka: a topic is a name, got {topics!r}")
    return Address(servers, tuple(name.strip() if isinstance(name, str) else name for name in names), client_options(client))


def servers_of(servers: str | None, options: Mapping[str, object] | None) -> tuple[str, dict[str, object]]:
    """The servers, which may be among the options of a client as Spark names them, and the other options."""
    given = {name.removeprefix(CLIENT): value for name, value in (options or {}).items()}
    found = servers or given.pop("bootstrap.servers", None)
    if found is None:
        raise OptionError("kafka: the servers are missing; give servers='host:port'.")
    return str(found), given


def client_options(given: Mapping[str, object] | None) -> dict[str, str]:
    """Options of the client by their own names; a leading `kafka.` is Spark's."""
    found: dict[str, str] = {}
    for name, value in (given or {}).items():
        plain = name.removeprefix(CLIENT)
        if plain == _CONFIG:
            found.update(_read_config(str(value)))
            continue
        if plain == "sasl.jaas.config":
            raise OptionError(f"{name} is of the Java client; give kafka.sasl.username and kafka.sasl.password instead")
        found[plain] = str(value).lower() if isinstance(value, bool) else str(value)
    return found


def _read_config(path: str) -> dict[str, str]:
    try:
        lines = Path(path).read_text().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text"
        raise OptionError(f"kafka.config {path}: cannot be read: {reason}") from None
    found = {}
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if not text or text.startswith(("#", "!")):
            continue
        name, sign, value = text.partition("=")
        if not sign:
            raise OptionError(f"kafka.config {path}: line {number}: write name=value")
        found[name.strip().removeprefix(CLIENT)] = value.strip()
    return found


def is_address(path: str) -> bool:
    """Whether a path is of Kafka, not of files."""
    return path.startswith(SCHEME)


def read_address(text: str) -> tuple[Address, dict[str, str]]:
    """A `kafka://` address, and the options that are not of the client."""
    try:
        parts = urlsplit(text)
    except ValueError:
        raise OptionError(f"{SCHEME}...: the address cannot be read; write {SCHEME}host:port/topic") from None
    if parts.username or parts.password:
        raise OptionError(
            f"{SCHEME}...: write no user or password before the host; give kafka.sasl.username, or kafka.config"
        )
    topics = unquote(parts.path.strip("/"))
    client: dict[str, object] = {}
    options: dict[str, str] = {}
    for name, value in parse_qsl(parts.query, keep_blank_values=True):
        if name.startswith(CLIENT):
            client[name] = value
        elif name in _NAMES:
            options[name] = value
        else:
            known = ", ".join(_NAMES)
            raise OptionError(f"{SCHEME}{parts.netloc}/{topics}: there is no option {name!r}; there are {known} and kafka.*")
    return address(parts.netloc, topics, client), options


def shown(path: str) -> str:
    """A path as it may be shown and kept: an address without the values of its client options."""
    if not is_address(path):
        return path
    try:
        parts = urlsplit(path)
    except ValueError:
        return f"{SCHEME}..."
    query = "&".join(
        f"{name}=..." if name.startswith(CLIENT) else f"{name}={quote(value, safe=':/,<>{}')}"
        for name, value in parse_qsl(parts.query, keep_blank_values=True)
    )
    host = parts.netloc.rpartition("@")[2]
    return f"{SCHEME}{host}{parts.path}" + (f"?{query}" if query else "")


def first_offset(given: str | Mapping[str, Mapping[int, int]], topic: str, partition: int, low: int, high: int) -> int:
    """Where a partition that has the messages from `low` up to `high` is begun, by what `starting_offsets` gave."""
    if isinstance(given, str):
        return low if given == EARLIEST else high
    offset = given.get(topic, {}).get(partition, -2)
    return low if offset == -2 else high if offset == -1 else offset


def starting_offsets(given: object) -> str | dict[str, dict[int, int]]:
    """`earliest`, `latest`, or for each topic and partition an offset (-2 earliest, -1 latest), as Spark has it."""
    if given in (EARLIEST, LATEST):
        return str(given)
    try:
        found = json.loads(given) if isinstance(given, str) else given
        if not isinstance(found, Mapping):
            raise ValueError
        return {str(topic): {int(p): int(o) for p, o in parts.items()} for topic, parts in found.items()}
    except (ValueError, AttributeError, TypeError):
        raise OptionError(
            f'startingOffsets is earliest, latest or an offset for each partition such as {{"topic": {{"0": 23}}}}, '
            f"got {given!r}"
        ) from None
