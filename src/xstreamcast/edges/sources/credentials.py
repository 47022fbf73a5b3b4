"""Who we are to a server: from the address, the environment, or a file; never printed.

The environment: XSTREAMCAST_USER, XSTREAMCAST_PASSWORD, XSTREAMCAST_TOKEN for every place, and
XSTREAMCAST_NAME_PASSWORD (…) for the input NAME, which goes first; XSTREAMCAST_CA, or ca=FILE in
the address, names certificates to trust. The file, whose path is in XSTREAMCAST_CREDENTIALS, is
TOML with a table for each host:

    ["broker.example.org"]
    user = "reader"
    password = "…"        # or token = "…"; ca = "ca.pem"; headers = {X-Api-Key = "…"}
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from xstreamcast.edges.sources.place import SourceAddress
from xstreamcast.edges.sources.trust import checked
from xstreamcast.errors import error

ASKING: Final = "XSTREAMCAST_USER and XSTREAMCAST_PASSWORD, or XSTREAMCAST_TOKEN, say who asks"
_KNOWN: Final = ("user", "password", "token", "ca", "headers")


@dataclass(frozen=True, slots=True)
class Credentials:
    """The credentials for a server; values are not shown."""

    user: str | None = field(default=None, repr=False)
    password: str | None = field(default=None, repr=False)
    token: str | None = field(default=None, repr=False)
    ca: str | None = None  # a file of certificates to trust
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)

    def http_headers(self) -> dict[str, str]:
        """Headers for a server that speaks HTTP."""
        made = dict(self.headers)
        if self.token is not None:
            made["Authorization"] = f"Bearer {self.token}"
        return made


def credentials(place: SourceAddress, name: str | None = None) -> Credentials:
    """What is known for a place that is read as the input `name`."""
    found = {**_from_file(place), **_from_environment(name)}
    if place.user is not None:
        found["user"] = place.user
    if place.password is not None:
        found["password"] = place.password
    if "ca" in place.options:
        found["ca"] = place.options["ca"]
    if place.secure:
        checked(found.get("ca"))
    return Credentials(**found)


def _from_environment(name: str | None) -> dict[str, Any]:
    found: dict[str, Any] = {}
    words = [""] if name is None else ["", re.sub(r"\W", "_", name).upper() + "_"]
    for word in words:
        for what in ("user", "password", "token", "ca"):
            value = os.environ.get(f"XSTREAMCAST_{word}{what.upper()}")
            if value is not None:
                found[what] = value
    return found


def _from_file(place: SourceAddress) -> dict[str, Any]:
    path = os.environ.get("XSTREAMCAST_CREDENTIALS")
    if path is None:
        return {}
    try:
        tables = tomllib.loads(Path(path).read_text("utf-8"))
    except OSError as failed:
        raise error("XSCU0003", f"cannot open {path}: {failed.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError):
        # The library's own message would quote the line, and that line may be the password.
        raise error("XSCU0003", f"{path} is not a TOML file", hint='["HOST"] user = …') from None
    table = tables.get(f"{place.host}:{place.port}") or tables.get(place.host) or {}
    unknown = sorted(set(table) - set(_KNOWN)) if isinstance(table, dict) else ["a value"]
    if unknown:
        known = ", ".join(_KNOWN)
        raise error(
            "XSCU0003", f"{path}: {place.host} has {unknown[0]}, which means nothing",
            hint=f"{known} do",
        )  # fmt: skip
    return dict(table)
