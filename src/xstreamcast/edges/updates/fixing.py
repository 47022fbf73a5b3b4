"""Regions that their reader does not want updated: updates of them are left out.

fix[uid] ← fix[id]    an update of what is fixed is fixed: it is left out with all that it says
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from xstreamcast.edges.updates import events as e
from xstreamcast.edges.updates.events import Event
from xstreamcast.edges.updates.tree import Region, TreeElement

if TYPE_CHECKING:
    from xstreamcast.edges.immutable import TagPath
    from xstreamcast.edges.updates.regions import Regions


class Fixing:
    """Events, without updates of regions that are in an immutable element, or contain

    one. Next to a region that contains one, others may still be inserted.
    """

    def __init__(self, regions: Regions, paths: tuple[TagPath, ...]) -> None:
        self._regions, self._paths = regions, paths
        self._fixed: dict[str, bool] = {}  # region: whether regions inserted next to it are, too
        self._left_out: set[str] = set()  # what updates that were left out are called
        self.ignored = 0

    def take(self, event: Event) -> Iterator[Event]:
        """The event, if it counts; and what follows from it."""
        if self._passes(event):
            yield event
            if isinstance(event, e.End):
                yield from self._settled(event.id)

    def _passes(self, event: Event) -> bool:
        match event:
            case e.Begin(kind, target, id):
                fixed = self._fixed.get(target)
                if target in self._left_out or fixed or (fixed is False and kind == "R"):
                    self.ignored += 1
                    self._left_out.add(id)
                    return False
                if kind != "R" or target != id:
                    self._fixed.pop(id, None)
                self._left_out.discard(id)
                return True
            case e.End(_, target, id) if id in self._left_out:
                if target == id:
                    self._left_out.discard(id)
                return False
            case e.Hide(id) | e.Show(id) if id in self._fixed or id in self._left_out:
                self.ignored += 1
                return False
            case e.At():
                return True
            case _:
                return event.id not in self._left_out

    def _settled(self, id: str) -> Iterator[Event]:
        """A region is complete: if it is fixed, nothing but its id is kept of it."""
        region = self._regions.named(id)
        if region is None or not self._paths:
            return
        if any(path.covers(names) for names in (_names(region.around),) for path in self._paths):
            self._fixed[id] = True
            yield e.Freeze(id)
        elif any(self._is_at_path(child) for child in region.children()):
            self._fixed[id] = False

    def _is_at_path(self, child: object) -> bool:
        if isinstance(child, Region):
            return any(self._is_at_path(inner) for inner in child.children())
        return isinstance(child, TreeElement) and any(p.matches(_names(child)) for p in self._paths)


def _names(element: TreeElement | None) -> tuple[str, ...]:
    """The local names from the root down to an element."""
    found: list[str] = []
    while element is not None:
        if element.is_element:
            found.append(str(element.token[1]).rpartition(":")[2])
        element = element.around
    return tuple(reversed(found))
