"""How a query is left running: what its caller chooses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xstreamcast.edges.watching.metrics import Metrics
    from xstreamcast.edges.wire.decoder import OnError
    from xstreamcast.errors import Error
    from xstreamcast.model.fragment import Refused


def _forget(refused: Refused) -> None:
    """Ignore refused fragments; they are counted."""


def _unheard(note: str) -> None:
    """Ignore notes."""


def _unnoticed() -> None:
    """Do nothing about it."""


@dataclass(frozen=True, slots=True)
class WatchOptions:
    """How a query is left running."""

    policy: str = "optimistic"
    follow: bool = False
    batch: int = 1000
    clock: str = "event"
    lateness: int | None = None  # microseconds
    skew: int | None = None
    on_error: OnError = "quarantine"
    keep: Callable[[Refused], None] = _forget
    checkpoint: str | None = None
    seconds: float | None = None
    immutable: tuple[str, ...] = ()  # paths whose content is not revised
    tell: str = ""  # the declared stream whose changes are emitted; "" is the body
    snapshot_every: int | None = None  # input bytes between two snapshots of a checkpoint
    max_memory: int | None = None  # bytes that the process may hold
    metrics: Metrics | None = None  # where numbers are written
    output: str = ""  # the form that changes are written in: a checkpoint belongs to one
    say: Callable[[str], None] = _unheard  # called with notes
    stoppable: bool = False  # another thread may stop it, so no input is awaited without end
    on_counted: Callable[[], None] = _unnoticed  # a restart would not emit again what was emitted
    on_failure: Callable[[str, Error], None] | None = None  # a program of a set; others continue
