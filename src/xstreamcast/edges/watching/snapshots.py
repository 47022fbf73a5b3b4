"""Snapshots of a query that is left running: when they are written, and how one is restored."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from xstreamcast.edges.snapshot.folder import SnapshotFolder
from xstreamcast.edges.wire.decoder import Decoder
from xstreamcast.errors import UsageError, error
from xstreamcast.model.fragment import NewStructure
from xstreamcast.operators.snapshot.arrow import NotNow, Unreadable, Unwritten, is_there

if TYPE_CHECKING:
    from xstreamcast.edges.mapping.form import Mapping as FeedMapping
    from xstreamcast.edges.sinks.forms import OutputForm, WrittenAnswer
    from xstreamcast.edges.snapshot.container import Snapshot
    from xstreamcast.edges.watching.arriving import Arriving
    from xstreamcast.edges.watching.journal import Covered, Journal
    from xstreamcast.edges.watching.options import WatchOptions
    from xstreamcast.model.items import Items
    from xstreamcast.operators.watching.network import Network
    from xstreamcast.operators.watching.watch import Watch

_REST: Final = 256  # of a query that stops: less than this part is read again more quickly


@dataclass(slots=True)
class Snapshots:
    """The snapshots of one checkpoint.

    One is written when so many bytes have come since the last, and as many as it is long, so that
    writing costs a part of reading; and when the query stops.
    """

    folder: SnapshotFolder
    owner: Mapping[str, Any]
    every: int
    say: Callable[[str], None]
    found: Snapshot | None = None
    since: int = 0  # bytes that have come since the last one
    _least: int = 0  # bytes that must come before the next one
    _reported: set[str] = field(default_factory=set)

    def find(self, length: int) -> Covered | None:
        """What the newest snapshot covers of a journal of this length."""
        from xstreamcast.edges.watching.journal import Covered

        self.found = self.folder.newest(self.owner, length)
        return None if self.found is None else Covered.of(self.found.header["covered"])

    def restore(
        self, watch: Watch | Network, inputs: Mapping[str | None, Arriving],
        form: OutputForm | None = None,
    ) -> dict[str, int]:  # fmt: skip
        """Restore a new query from what was found → its counts; Unreadable if that fails."""
        from xstreamcast.edges.snapshot.query import restored, written_of

        assert self.found is not None
        header = self.found.header
        said = {name: one.form for name, one in inputs.items()}
        if said != dict(header["inputs"]):
            raise Unreadable("it is of other inputs")
        needs = form is not None and form.written() is not None
        written = written_of(self.found) if needs else None
        restored(self.found, watch, _decoders(inputs))
        if form is not None and written is not None:
            form.restore(written)
        for (_, arriving), facts in zip(inputs.items(), header["arriving"], strict=True):
            go_on_arriving(arriving, facts)
        self.found = None  # its tables have done what they were for
        counts: dict[str, int] = header["counts"]
        return counts

    def refuse(self, why: Unreadable) -> None:
        """What was found cannot be restored."""
        self.found = None
        self.say(f"the snapshot is not used: {why}; the journal is read from its beginning")

    def take(
        self, watch: Watch | Network, inputs: Mapping[str | None, Arriving], journal: Journal,
        counts: Mapping[str, int], written: Callable[[], WrittenAnswer | None] | None = None,
        stops: bool = False,
    ) -> None:  # fmt: skip
        """Write one if it is time; a failure is reported once."""
        if self.since < (max(1, self.every // _REST) if stops else max(self.every, self._least)):
            return
        if not is_there():
            self._tell_once("pyarrow is not installed (pip install 'xstreamcast[table]')", stops)
            return
        from xstreamcast.edges.snapshot.query import taken

        covered = journal.covered_now()
        try:
            header = {
                "owner": dict(self.owner),
                "covered": covered.facts(),
                "inputs": [[name, one.form] for name, one in inputs.items()],
                "arriving": [arriving_facts(one) for one in inputs.values()],
                "counts": dict(counts),
            }
            answer = None if written is None else written()
            raw = taken(watch, _decoders(inputs), header, answer)
        except NotNow:
            return
        except Unwritten as why:
            self._tell_once(str(why), stops)
            return
        try:
            self.folder.write(raw, covered.offset)
        except (OSError, UsageError) as failed:  # the journal is complete: continue
            said = failed.strerror if isinstance(failed, OSError) else failed.message
            self._tell_once((said or "it cannot be written").lower(), stops)
        self.since, self._least = 0, len(raw)

    def _tell_once(self, why: str, stops: bool) -> None:
        if why not in self._reported and not stops:
            self._reported.add(why)
            self.say(
                f"no snapshot is written: {why}; a restart replays the journal behind the last"
            )


def owner_of(
    query: str, inputs: list[str | None], variables: Mapping[tuple[str, str], Items],
    options: WatchOptions, mappings: Sequence[FeedMapping | None] = (),
) -> dict[str, Any]:  # fmt: skip
    """What a snapshot belongs to; `mappings`: of the inputs."""
    given = [
        [list(name), list(map(str, items.all_tags().tolist())), list(map(repr, items.values))]
        for name, items in sorted(variables.items())
    ]
    said = [options.policy, options.clock, options.lateness, options.skew, options.tell]
    return {
        "query": sha256(query.encode()).hexdigest(),
        "inputs": inputs,
        "variables": sha256(repr(given).encode()).hexdigest(),
        "options": [*said, list(options.immutable)],
        **({"mappings": sha256(repr(mappings).encode()).hexdigest()} if any(mappings) else {}),
    }


def _decoders(inputs: Mapping[str | None, Arriving]) -> dict[str, Any]:
    return {str(name): one.decoder for name, one in inputs.items() if one.decoder is not None}


def arriving_facts(arriving: Arriving) -> dict[str, Any]:
    """What an input has read, and left out."""
    kept = arriving._kept
    return {
        "files": arriving.files,
        "late": arriving.late,
        "ahead": arriving.ahead,
        "ignored": 0 if kept is None else kept.ignored,
        "known": [] if kept is None else np.flatnonzero(kept._known).tolist(),
        "document": arriving.document_progress(),
    }


def go_on_arriving(arriving: Arriving, facts: Mapping[str, Any]) -> None:
    """Let an input count on."""
    arriving.files, arriving.late, arriving.ahead = facts["files"], facts["late"], facts["ahead"]
    if facts.get("document") is not None:  # older snapshots are of fragments
        arriving.continue_document(facts["document"])
    kept, decoder = arriving._kept, arriving.decoder
    if kept is not None and isinstance(decoder, Decoder) and decoder.structure is not None:
        kept.arriving(NewStructure(decoder.structure))
        kept.ignored = facts["ignored"]
        known = facts["known"]
        kept._known = np.zeros(max([1023, *known]) + 1, np.bool_)
        kept._known[known] = True


def skip_covered(stream: Any, name: str, covered: tuple[int, int], rests: dict[str, bytes]) -> None:
    """Pass by what a snapshot covers of an input: bytes, and ends of files or messages."""
    count, ends = covered
    while count or ends:
        piece = next(stream, _SHORTER)
        if piece is _SHORTER:
            raise error("XSCU0003", f"the input {name or '-'} is shorter than it was")
        if piece is None:
            ends -= 1
        elif isinstance(piece, bytes):
            rests[name] = piece[count:]
            count -= min(count, len(piece))
        if ends < 0 or (rests.get(name) and ends):
            raise error("XSCU0003", f"the input {name or '-'} has changed")


_SHORTER: Final = b"shorter"  # distinguished from a piece by identity, not by content
