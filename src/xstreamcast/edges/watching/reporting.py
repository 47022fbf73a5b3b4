"""What a query that was left running says of itself at its end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from xstreamcast.model.counted import CIRCULAR, ORPHANS, counted
from xstreamcast.operators.watching.network import Network

if TYPE_CHECKING:
    from xstreamcast.edges.watching.arriving import Arriving, Watched

# What is said of one, and of several.
_UNREAD: Final = (
    "not kept, because the query does not read it",
    "not kept, because the query does not read them",
)
_IGNORED: Final = (
    "update of immutable elements ignored", "updates of immutable elements ignored"
)  # fmt: skip


def reported(
    watch: Watched | None, inputs: Mapping[str | None, Arriving], emitted: int, ticked: int,
    refused: int,
) -> list[str]:  # fmt: skip
    """What was read, emitted and kept, a line each."""
    said = [f"{counted(emitted, 'change')} in {counted(ticked, 'tick')}"]
    if watch is not None:
        said.append(f"{watch.state_bytes} bytes of state{_by_query(watch)}")
        said += [f"not cut: {why}" for why in watch.refusals]
        said += [line for one in inputs.values() if (line := _of_input(watch, one))]
    said += [f"note: {why}" for one in inputs.values() if (why := _unfit(one)) is not None]
    if refused:
        said.append(f"{counted(refused, 'fragment')} refused")
    return said


def _unfit(one: Arriving) -> str | None:
    """A sentence, if the mapping of an input found nothing in its messages."""
    from xstreamcast.edges.mapping.decoder import MappingDecoder  # here: most inputs have none
    from xstreamcast.edges.mapping.unfit import unfit

    return unfit(one.decoder) if isinstance(one.decoder, MappingDecoder) else None


def _by_query(watch: Watched) -> str:
    if not isinstance(watch, Network):
        return ""
    each = (f"{name or 'body'} {one.state_bytes}" for name, one in watch.watches.items())
    return f" ({', '.join(each)})"


def _of_input(watch: Watched, one: Arriving) -> str:
    """What of an input did not count, and why; nothing if all of it did."""
    counts = {
        ("repeated", "repeated"): watch.repeated(one.name),
        _UNREAD: watch.unread(one.name),
        ORPHANS: watch.orphans(one.name),
        CIRCULAR: watch.circular(one.name),
        ("late", "late"): one.late,
        ("too far ahead", "too far ahead"): one.ahead,
        _IGNORED: one.ignored,
    }
    said = ", ".join(counted(count, *what) for what, count in counts.items() if count)
    return f"{one.name}: {said}" if said else ""
