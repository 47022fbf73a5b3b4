"""Whether fragments conform to their tag structure: names inside them, and holes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from xstreamcast.algebra.analysis.guide import Link
from xstreamcast.tape.fragments.payload_kernels import mark_names

if TYPE_CHECKING:
    from collections.abc import Iterable

    from xstreamcast.algebra.analysis.forgetting import SeenTags
    from xstreamcast.algebra.analysis.guide import Guide, Name
    from xstreamcast.history.history import History
    from xstreamcast.model.fragment import FragmentBatch
    from xstreamcast.tape.layout import Bools

Codes = npt.NDArray[np.signedinteger[Any]]  # of tags, as wide as there are tags
_NO_HOLE, _UNSAID = -1, -2  # in place of a tag: an id is in no hole, or its hole names none
_MIXED = 0x9E3779B97F4A7C15


class Conforming:
    """Compares arrivals with a guide; what has been met once is not looked at again."""

    def __init__(self, kept: SeenTags, history: History) -> None:
        self._structure = history.structure
        self._guide, self._names = kept.guide, history.store.names
        self._tags = max(history.structure.tags, default=0) + 2
        self._allowed: Bools = np.zeros((self._tags, 0), np.bool_)
        self._met: set[tuple[int, int, int]] = set()
        narrow = np.dtype(np.int16 if self._tags < 1 << 15 else np.int32)
        self._hole_tag: Codes = np.full(1024, -1, narrow)  # by id
        self._own_tag: Codes = np.full(1024, -1, narrow)
        self._early: dict[int, set[int]] = {}  # tags attached to ids that have not come

    def grown(self, kept: SeenTags, history: History) -> Conforming:
        """The same for another guide: which tags ids have had is known still."""
        other = Conforming(kept, history)
        other._hole_tag = self._hole_tag.astype(other._hole_tag.dtype)
        other._own_tag = self._own_tag.astype(other._own_tag.dtype)
        other._early = self._early
        return other

    def broken(self, batch: FragmentBatch) -> Guide | None:
        """The guide that covers all that is in the batch, if the known one does not."""
        names, links = self._new_names(batch), self._new_links(batch)
        links += self._other_tags(batch)
        links += self._attached(batch)
        if not names and not links:
            return None
        inner, known = dict(self._guide.inner), dict(self._guide.links)
        for tag, name in names:
            inner[tag] = inner.get(tag, frozenset()) | {name}
        for tag, link in links:
            known[tag] = known.get(tag, frozenset()) | {link}
        # a tag that should be embedded may have come as a fragment
        embedded = {link.child for _, link in links} - self._guide.name.keys()
        tags = {tag: self._structure[tag] for tag in embedded}
        timed = {tag for tag, one in tags.items() if one.type != "snapshot"}
        return replace(
            self._guide,
            name={**self._guide.name, **{tag: (one.uri, one.local) for tag, one in tags.items()}},
            timed=self._guide.timed | timed,
            inner=inner,
            links=known,
        )

    # -- names ------------------------------------------------------------------------------------

    def _new_names(self, batch: FragmentBatch) -> list[tuple[int, Name]]:
        count = len(self._names)
        if self._allowed.shape[1] != count:
            self._allowed = np.zeros((self._tags, count), np.bool_)
            for tag, inner in self._guide.inner.items():
                for uri, local in inner:
                    self._allowed[tag] |= self._names.matching(local, uri)[:count]
        seen = np.zeros_like(self._allowed)
        skip = np.zeros(len(batch.tape), np.bool_)
        skip[batch.hole_row] = True
        mark_names(batch.tape.columns, batch.payload, batch.tsid, skip, seen)
        found = np.argwhere(seen & ~self._allowed)
        return [(tag, self._names.qname(name)[:0:-1]) for tag, name in found.tolist()]

    # -- holes ------------------------------------------------------------------------------------

    def _new_links(self, batch: FragmentBatch) -> list[tuple[int, Link]]:
        if len(batch.hole_id) == 0:
            return []
        c = batch.tape.columns
        owner = batch.tsid[batch.hole_fragment]
        root = batch.payload[batch.hole_fragment]
        above = c.parent[batch.hole_row]
        hashed = np.zeros(len(above), np.uint64)
        while (inside := above != root).any():
            mixed = (hashed ^ c.name[above].astype(np.uint64)) * np.uint64(_MIXED) + np.uint64(1)
            hashed = np.where(inside, mixed, hashed)
            above = np.where(inside, c.parent[above], above)
        pairs = owner.astype(np.uint64) << np.uint64(32) | batch.hole_tsid.astype(np.uint64)
        keys = (hashed ^ pairs) * np.uint64(_MIXED)
        _, first = np.unique(keys, return_index=True)
        out = []
        for at in first[batch.hole_tsid[first] >= 0].tolist():
            key = int(owner[at]), int(batch.hole_tsid[at]), int(hashed[at])
            if key not in self._met:
                self._met.add(key)
                link = Link(self._path(batch, at), key[1])
                if link not in self._guide.links.get(key[0], frozenset()):
                    out.append((key[0], link))
        return out

    def _path(self, batch: FragmentBatch, at: int) -> tuple[Name, ...]:
        c, root = batch.tape.columns, int(batch.payload[batch.hole_fragment[at]])
        row, path = int(c.parent[batch.hole_row[at]]), []
        while row != root:
            _, local, uri = self._names.qname(int(c.name[row]))
            path.append((uri, local))
            row = int(c.parent[row])
        return tuple(reversed(path))

    def _other_tags(self, batch: FragmentBatch) -> list[tuple[int, Link]]:
        """Where a fragment is of another tag than its hole said: it may be below any tag."""
        most = max(int(batch.id.max(initial=0)), int(batch.hole_id.max(initial=0))) + 1
        if most > len(self._own_tag):
            more = np.full(most, -1, self._own_tag.dtype)
            self._own_tag = np.concatenate((self._own_tag, more))
            self._hole_tag = np.concatenate((self._hole_tag, more))
        said_tag = batch.tsid >= 0  # a removal need not say one
        self._own_tag[batch.id[said_tag]] = batch.tsid[said_tag]
        self._hole_tag[batch.hole_id] = np.where(batch.hole_tsid < 0, _UNSAID, batch.hole_tsid)
        ids = np.concatenate((batch.id, batch.hole_id))
        own, said = self._own_tag[ids], self._hole_tag[ids]
        strange = (own >= 0) & (said != _NO_HOLE) & (own != said)
        if not strange.any():
            return []
        odd = np.unique(own[strange]).tolist()
        paths = {(tag, k.path) for tag, links in self._guide.links.items() for k in links}
        paths |= {(tag, ()) for tag in self._guide.name}
        found = [(tag, Link(path, child)) for child in odd for tag, path in paths]
        return [(t, link) for t, link in found if link not in self._guide.links.get(t, ())]

    def _attached(self, batch: FragmentBatch) -> list[tuple[int, Link]]:
        """Where a fragment names a parent of a tag that its own tag is not below."""
        pairs: set[tuple[int, int]] = set()
        if self._early:
            come = set(batch.id.tolist()) & self._early.keys()
            for code in [one for one in come if self._own_tag[one] >= 0]:
                pairs |= {(int(self._own_tag[code]), child) for child in self._early.pop(code)}
        if batch.within is not None:
            named = np.flatnonzero((batch.within >= 0) & (batch.tsid >= 0))
            above, below = batch.within[named], batch.tsid[named]
            known = above < len(self._own_tag)
            tags = np.full(len(named), -1, np.int64)
            tags[known] = self._own_tag[above[known]]
            pairs |= set(zip(tags[tags >= 0].tolist(), below[tags >= 0].tolist(), strict=True))
            for code, child in zip(above[tags < 0].tolist(), below[tags < 0].tolist(), strict=True):
                self._early.setdefault(code, set()).add(child)
        found = [(tag, Link((), child)) for tag, child in sorted(pairs)]
        return [(t, link) for t, link in found if link not in self._guide.links.get(t, ())]

    def mark(self, codes: Bools, dropped: Iterable[int]) -> None:
        """Mark the ids that must stay known: of fragments that were not kept, of such tags, and in
        holes of those; and parents that have not come.
        """
        tags = [tag for tag in dropped if tag >= 0]  # a removal need not say one
        if tags:
            known = min(len(codes), len(self._own_tag))
            own, hole = self._own_tag[:known], self._hole_tag[:known]
            codes[:known] |= np.isin(own, tags) | (hole != _NO_HOLE)
        codes[list(self._early)] = True

    def forget(self, codes: Codes) -> None:
        """Others will have these codes."""
        inside = codes[codes < len(self._own_tag)]
        self._own_tag[inside] = self._hole_tag[inside] = _NO_HOLE

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self._own_tag.nbytes + self._hole_tag.nbytes + self._allowed.nbytes
