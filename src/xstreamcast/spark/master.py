"""The address of a cluster: what it may look like, and whether a server listens there."""

from __future__ import annotations

import ipaddress
import re
import socket
from typing import Final

from xstreamcast.errors import error

_PATIENCE: Final = 5.0  # seconds until one who does not answer counts as not there
_LOCAL: Final = re.compile(r"local(\[(\*|\d+)(\s*,\s*\d+)?\])?|local-cluster\[.+\]")
_CLUSTER: Final = re.compile(r"(spark|sc|k8s)://\S+|yarn")
_PEER: Final = re.compile(r"(?:spark|sc)://([^/;]+)")
_CONNECT: Final = 15002  # the default port of a server of Spark Connect


def is_local(master: str | None) -> bool:
    """Whether all of Spark is in this process and what it starts."""
    return master is None or master.startswith("local")


def is_here(master: str | None) -> bool:
    """Whether all of it is on this machine: others cannot reach a loopback address."""
    return is_local(master) or all(_is_loopback(host) for host, _ in _peers(master or ""))


def check_master(master: str) -> None:
    """Refuse what is no address of a cluster, or one where no server listens."""
    if not (_LOCAL.fullmatch(master) or _CLUSTER.fullmatch(master)):
        raise error(
            "XSCU0001", f"--master is no address of a Spark cluster: {master}",
            hint="local[2], spark://HOST:7077, sc://HOST:15002, yarn or k8s://https://HOST:PORT",
        )  # fmt: skip
    peers = _peers(master)
    reasons = [why for host, port in peers if (why := _unreachable(host, port))]
    if peers and len(reasons) == len(peers):
        raise error(
            "XSCU0003", f"no Spark answers at {master}: {'; '.join(reasons)}",
            hint="without --master, Spark runs inside this process",
        )  # fmt: skip


def _peers(master: str) -> list[tuple[str, int]]:
    """Hosts and ports that a driver speaks to; none where only Spark itself knows them."""
    found = _PEER.match(master)
    if found is None:
        return []
    peers = []
    for one in found[1].split(","):
        host, colon, port = one.rpartition(":")
        if not colon and master.startswith("sc://"):
            host, port = one, str(_CONNECT)
        if not host or not port.isdigit() or int(port) > 65535:
            raise error("XSCU0001", f"--master must name a host and a port; got {master}")
        peers.append((host.strip("[]"), int(port)))
    return peers


def _unreachable(host: str, port: int) -> str | None:
    """Why no server can be reached there."""
    try:
        socket.create_connection((host, port), _PATIENCE).close()
    except OSError as failed:
        return f"{host}:{port}: {(failed.strerror or str(failed)).lower()}"
    return None


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def refuse_connect(spark: object, what: str) -> None:
    """Raise an error for work that must run in the driver: Spark Connect has none here."""
    if type(spark).__module__.startswith("pyspark.sql.connect"):
        raise error(
            "XSCU0001", f"{what} writes from the driver, which is not here with Spark Connect",
            hint="give --master spark://…, or in Python: query(…).spark(session).watch(…) "
            "returns a streaming DataFrame for any sink of Spark",
        )  # fmt: skip
