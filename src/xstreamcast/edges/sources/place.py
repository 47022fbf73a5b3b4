"""A place on the network that a source is read from, in the words of its address.

http(s)://HOST/PATH?…#every=30s      ws(s)://HOST/PATH?…#quiet=2s      the ? is the server's
mqtt(s)://HOST/TOPIC?session=NAME    kafka(s)://HOST,HOST/TOPIC?group=NAME     tcp://HOST:PORT
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal
from urllib.parse import parse_qsl, unquote, urlsplit

from xstreamcast.errors import error, without_credentials

Scheme = Literal["http", "ws", "mqtt", "kafka", "tcp"]

_SCHEME: Final = re.compile(r"(http|ws|mqtt|kafka|tcp)(s?)://", re.ASCII)
_PORTS: Final = {"http": 80, "https": 443, "ws": 80, "wss": 443, "mqtt": 1883, "mqtts": 8883}
_PORTS_OF_KAFKA: Final = 9092
# What may be said of a place, by its scheme.
OPTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "http": ("every", "quiet", "timeout", "ca"),
    "ws": ("quiet", "send", "ca"),
    "mqtt": ("session", "qos", "quiet", "ca"),
    "kafka": ("group", "from", "sasl", "ca"),
    "tcp": ("listen", "quiet"),
}
_UNITS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "": 1.0}


@dataclass(frozen=True, slots=True)
class SourceAddress:
    """Where a source is: `url` has neither our options nor a password."""

    scheme: Scheme
    secure: bool
    url: str
    host: str
    port: int
    path: str
    options: Mapping[str, str] = field(default_factory=dict)
    user: str | None = field(default=None, repr=False)
    password: str | None = field(default=None, repr=False)

    def seconds(self, option: str, default: float) -> float:
        """A duration that an option says."""
        word = self.options.get(option)
        if word is None:
            return default
        found = re.fullmatch(r"(\d+(?:\.\d+)?)(ms|s|m|h|)", word)
        if found is None:
            raise error("XSCU0003", f"{option} must be like 30s or 5m; got {word} ({self.url})")
        return float(found[1]) * _UNITS[found[2]]


def is_place(source: Any) -> bool:
    """Whether a source is an address on the network."""
    return isinstance(source, str) and _SCHEME.match(source) is not None


def shown(source: Any) -> str:
    """A source as messages name it: no user, no password."""
    return without_credentials(
        os.fspath(source) if isinstance(source, os.PathLike) else str(source)
    )


def addresses(source: str) -> list[str]:
    """The addresses of a source: one, or several with commas or spaces between."""
    return [word for word in re.split(r"[,\s]+(?=(?:http|ws|mqtt|kafka|tcp)s?://)", source) if word]


def place_of(address: str) -> SourceAddress:
    """An address, read; a mistake in it is named without what is secret."""
    found = _SCHEME.match(address)
    if found is None:
        raise error("XSCU0003", f"an address must begin with a scheme; got {shown(address)}")
    scheme: Any = found[1]
    rest = address[found.end() :]
    words, options = _options(scheme, rest, shown(address))
    user, password, words = _secret(words)
    authority, slash, path = words.partition("/")
    if not authority:
        raise error("XSCU0003", f"{shown(address)} names no host")
    host, port = _host(scheme, found[2], authority, shown(address))
    url = f"{found[1]}{found[2]}://{words}"
    return SourceAddress(
        scheme, bool(found[2]), url, host, port, slash + path, options, user, password
    )


def _options(scheme: str, rest: str, given: str) -> tuple[str, dict[str, str]]:
    """Our options follow # where ? belongs to the server, and ? elsewhere."""
    mark = "#" if scheme in ("http", "ws") else "?"
    words, _, said = rest.partition(mark)
    options = dict(parse_qsl(said, keep_blank_values=True))
    unknown = sorted(set(options) - set(OPTIONS[scheme]))
    if unknown:
        known = ", ".join(OPTIONS[scheme])
        raise error("XSCU0003", f"{given}: there is no option {unknown[0]}", hint=f"{known} are")
    return words, options


def _secret(words: str) -> tuple[str | None, str | None, str]:
    authority, slash, path = words.partition("/")
    secret, at, hosts = authority.rpartition("@")
    if not at:
        return None, None, words
    user, colon, password = secret.partition(":")
    return unquote(user), unquote(password) if colon else None, hosts + slash + path


def _host(scheme: str, secure: str, authority: str, given: str) -> tuple[str, int]:
    if scheme == "kafka":  # several brokers may be named
        return authority, _PORTS_OF_KAFKA
    try:
        parts = urlsplit(f"//{authority}")
        port = parts.port
    except ValueError:
        raise error("XSCU0003", f"{given}: the host or the port is not valid") from None
    port = _PORTS.get(scheme + secure) if port is None else port
    if parts.hostname is None or port is None:
        raise error("XSCU0003", f"a socket must be tcp://HOST:PORT; got {given}")
    return parts.hostname, port
