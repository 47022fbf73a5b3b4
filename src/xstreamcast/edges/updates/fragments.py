"""An update stream as fragments: a region is a hole, its replacement a new filler for it.

The elements that travel are cut out of what is around them. One at the top of a region
is named by the place of the region, so that what replaces it is its next version. The element
around the region is sent again only if its holes or its text are different now: the holes of a
hidden region stay, and what was sent for them is removed until the region is shown. Only the
events decide what is sent, at the end of each update; where the time of sending does not matter,
what has arrived by the end of a chunk is sent, too. Where the stream states instants, everything
of one instant is emitted together, and once more at the end of what has arrived: of two fillers
of one instant the later counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, TypeGuard

from xstreamcast.edges.updates import events as e
from xstreamcast.edges.updates.events import Event
from xstreamcast.edges.updates.regions import Regions
from xstreamcast.edges.updates.tags import Learnt, StructureTags, Tags, scope
from xstreamcast.edges.updates.tree import (
    Leaf,
    Region,
    TreeElement,
    TreeNode,
    elements_on_top,
    everything,
    is_hidden,
    walk,
)
from xstreamcast.edges.updates.writing import leaf, start_tag
from xstreamcast.edges.wire.encoder import declaring, fragment_line, hole
from xstreamcast.errors import error
from xstreamcast.model.instant import DAY, NOW, SECOND, show_instant
from xstreamcast.model.structure import TagStructure

ROOT: Final = "root"
_EARLIEST: Final = -719_162 * DAY  # 0001-01-01: what has been so from the start is of this instant


class Cutter:
    """The fragments that say what changed.

    `wrap` names an element to put around the streams; without it they must be one document.
    """

    def __init__(
        self, structure: TagStructure | None = None, wrap: str | None = None, versions: bool = False
    ) -> None:
        self.regions = Regions(self._touch)
        self._tags: Tags = Learnt(versions) if structure is None else StructureTags(structure)
        self._wrap: TreeElement | None = None
        self._root: TreeElement | None = None
        self._above = self._recut = False  # whether anything around the root changed
        self._regions: dict[Region, None] = {}
        self._hosts: dict[TreeElement, None] = {}
        self._timeless = not versions and (
            structure is None or all(tag.type == "snapshot" for tag in structure.tags.values())
        )
        self._serial = 0
        self.sent_hosts = 0
        self._instant: tuple[int, bool] | None = None
        if wrap:
            self.wrap(wrap)

    def wrap(self, name: str) -> None:
        """Put an element around the streams, before anything has come on them."""
        self._root = self._wrap = TreeElement(("sE", name, ()))
        self._tags.note(self._wrap)

    @property
    def structure(self) -> TagStructure | None:
        """The tag structure, as far as it is known."""
        return None if self._root is None else self._tags.structure(self._root)

    @property
    def timed(self) -> bool:
        """Whether the stream has instants: repeated updates of one instant are emitted once."""
        return self._instant is not None

    @property
    def timeless(self) -> bool:
        """Whether no query can see lifespans: only the current content counts."""
        return self._timeless and not self.timed

    @property
    def waiting(self) -> int:
        """The number of changes since the last emission."""
        return len(self._regions) + len(self._hosts) + self._above

    def take(self, event: Event) -> bool:
        """Apply an event → whether the changes are to be emitted now."""
        self.regions.take(event)
        match event:
            case e.At(instant, zoned):
                if instant != NOW:  # which is no valid time: what is said now is of the last one
                    self._instant = max(instant, _EARLIEST), zoned
                return False
            case e.EndStream() if self._wrap is not None:
                self._hosts[self._wrap] = None  # it exists although it is empty
                return not self.timed
            case _ if self.timed:
                return False
            case e.End(kind):
                return kind != "M"
            case e.EndElement(id):
                return self._wrap is None and self.regions.is_between_items(id)
            case _:
                return isinstance(event, e.Hide | e.Show | e.EndStream | e.EndTuple)

    def emitted(self) -> Iterator[bytes]:
        """The fragments that say what changed since, each a line."""
        if self._above:
            self._find_root()
        if self._root is None:
            return
        if self._recut:
            self._cut_again()
        self._compare_regions()
        hosts, self._hosts = self._hosts, {}
        self.sent_hosts += len(hosts)
        for host in hosts:
            yield from self._tell(host)

    # -- what was touched -------------------------------------------------------------------------

    def _touch(self, place: TreeNode) -> None:
        if isinstance(place, TreeElement) and place.is_element and place.tag is None:
            self._recut |= self._tags.note(place)
            self._give_name(place)
        if isinstance(place, Region) and place.begun is not None:
            self._regions[place] = None
            self._above |= place.around is None
            if place.hidden != place.was_hidden:  # at once: the region may be dissolved later
                place.was_hidden = place.hidden
                self._hosts |= dict.fromkeys(filter(self._is_hole, elements_on_top(place)))
        else:
            self._invalidate(place)

    def _invalidate(self, place: TreeNode) -> None:
        """The content below the place changed, and so does the fragment around it."""
        inner: TreeNode | None = place
        while inner is not None and not (isinstance(inner, TreeElement) and self._travels(inner)):
            if isinstance(inner, Region):
                inner.sent = None
            inner = inner.above
        if isinstance(inner, TreeElement):
            self._hosts[inner] = None
        else:
            self._above = True
            if self._wrap is not None:
                self._hosts[self._wrap] = None

    def _travels(self, element: TreeElement) -> bool:
        return element is self._root or (element.is_element and self._tags.travels(element))

    def _compare_regions(self) -> None:
        regions, self._regions = self._regions, {}
        for region in regions:
            if region.placed:
                now = self._content(region)
                if now != region.sent:
                    if region.sent is not None or not _is_inside(region, regions):
                        self._invalidate(region)
                    region.sent = now

    def _cut_again(self) -> None:
        """Elements travel that did not before: look at everything, hidden or not."""
        self._recut = False
        assert self._root is not None
        for place in everything(self._root if self._wrap is None else self.regions.top):
            if isinstance(place, Region):
                place.sent = None
            if self._is_hole(place):
                self._hosts[place] = None
        self._hosts[self._root] = None

    def _find_root(self) -> None:
        """The document element; it may be another one now, of the same tag."""
        self._above = False
        if self._wrap is not None:
            return
        found: list[TreeElement] = []
        for place, leaving in walk(self.regions.top, lambda place: not _is_element(place)):
            if leaving:
                continue
            if isinstance(place, TreeElement) and place.is_element:
                found.append(place)
            elif isinstance(place, Leaf) and place.token[0] == "cD" and str(place.token[1]).strip():
                raise error(
                    "XSCE0007", "a document must not have text outside its element", hint=_WRAP
                )
        if len(found) > 1:
            raise error("XSCE0007", f"a document must be one element; got {len(found)}", hint=_WRAP)
        if found and found[0] is not self._root:
            self._set_root(found[0])

    def _set_root(self, root: TreeElement) -> None:
        if self._root is not None and self._root.tag != root.tag:
            old, new = self._root.token[1], root.token[1]
            said = (
                f"the document element must stay {old}; got {new}, so the document stays as it was"
            )
            raise error("XSCE0007", f"{said}: replace what is in {old}, or use another input")
        if root.tag is None:
            raise error("XSCE0007", f"the tag structure has another root than {root.token[1]}")
        if self._root is not None:
            self._root.sent = None  # what is sent under its id from now on is another element
        self._root, self._recut = root, True

    # -- emitting --------------------------------------------------------------------------------

    def _tell(self, host: TreeElement) -> Iterator[bytes]:
        if host.gone or host.tag is None:
            return
        if host is not self._root and is_hidden(host):
            if host.sent is not None and not host.removed and self._tags.is_removable(host):
                host.removed = True
                yield fragment_line(self._name(host), host.tag, b"", self._valid(), "remove")
            return
        payload = self._payload(host)
        name = self._name(host)
        if payload == host.sent and not host.removed:
            return
        host.sent, host.removed = payload, False
        # At one instant something may become what it was before: a filler would be a repetition.
        word = "replace" if self.timed else "filler"
        yield fragment_line(name, host.tag, payload, self._valid(), word)

    def _valid(self) -> str:
        """The instant last said; without any, the n-th event is of second n."""
        if self._instant is None:
            return show_instant(self.regions.counts.events * SECOND)
        return show_instant(*self._instant)

    def _give_name(self, element: TreeElement) -> None:
        """Name the element at the top of a region by the region's place; at once, as the region
        may be dissolved later."""
        above, tag = element.above, element.tag
        if isinstance(above, Region) and above.begun is not None and tag is not None:
            count = above.counts[tag] = above.counts.get(tag, 0) + 1
            element.fragment = f"{tag}.{count}.{above.slot}"

    def _name(self, host: TreeElement) -> str:
        if host is self._root:
            return ROOT
        if host.fragment is None:
            self._serial += 1
            host.fragment = f"e{self._serial}"
        return host.fragment

    def _payload(self, host: TreeElement) -> bytes:
        inside = self.regions.top if host is self._wrap else host
        whole = _start(host) + self._content(inside) + _end(host)
        return declaring(whole, scope(host.around))

    def _content(self, top: TreeNode) -> bytes:
        """The content below, with holes for fragments; unchanged regions as they were sent."""
        if isinstance(top, Region) and top.hidden:
            return self._kept_holes(top)
        parts: list[bytes] = []
        child = top.first
        while child is not None:
            if isinstance(child, Region) and child.sent is not None:
                parts.append(child.sent)
            else:
                self._write(child, False, parts)
                if not self._is_hole(child):
                    for place, leaving in walk(child, self._enters):
                        self._write(place, leaving, parts)
                self._write(child, True, parts)
            child = child.behind
        return b"".join(parts)

    def _kept_holes(self, region: Region) -> bytes:
        """The holes of a hidden region that something was sent for, which is removed."""
        removed = (
            one
            for one in elements_on_top(region)
            if self._is_hole(one) and one.sent is not None and self._tags.is_removable(one)
        )
        return b"".join(hole(self._name(one), one.tag or 0) for one in removed)

    def _enters(self, place: TreeNode) -> bool:
        return not (self._is_hole(place) or (isinstance(place, Region) and place.sent is not None))

    def _write(self, place: TreeNode, leaving: bool, parts: list[bytes]) -> None:
        match place:
            case Leaf(token=token) if not leaving:
                parts.append(leaf(token).encode())
            case TreeElement() if self._is_hole(place):
                if not leaving:
                    parts.append(hole(self._name(place), place.tag or 0))
            case TreeElement() if place.is_element:
                parts.append(_end(place) if leaving else _start(place))
            case Region(sent=bytes(said)) if not leaving:
                parts.append(said)
            case Region(hidden=True) if not leaving:
                parts.append(self._kept_holes(place))
            case _:
                pass

    def _is_hole(self, place: TreeNode) -> TypeGuard[TreeElement]:
        return isinstance(place, TreeElement) and self._travels(place)


_WRAP: Final = "name an element to put around the streams (wrap)"


def _is_inside(region: Region, others: dict[Region, None]) -> bool:
    """Whether a region is directly in one that is compared, too."""
    return isinstance(region.above, Region) and region.above in others


def _is_element(place: TreeNode) -> bool:
    return isinstance(place, TreeElement) and place.is_element


def _start(element: TreeElement) -> bytes:
    return start_tag(element.token).encode()


def _end(element: TreeElement) -> bytes:
    return f"</{element.token[1]}>".encode()
