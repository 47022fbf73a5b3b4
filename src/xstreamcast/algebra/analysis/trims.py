"""What a query sees inside the fragments of a tag: the rest of them need not be written."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from typing import TYPE_CHECKING, TypeAlias

from xstreamcast.model.frozen import dataclass

if TYPE_CHECKING:
    from xstreamcast.algebra.analysis.guide import Names

    Within: TypeAlias = tuple[int, Names]  # a tag, and names below the root of its fragments


@dataclass(frozen=True, slots=True)
class Trim:
    """What is left of a fragment: its root, what its holes are in, and the elements at `paths`.

    texts: of which elements what is directly in them is left too, elements without content;
    whole: of which everything is.
    """

    paths: frozenset[Names] = frozenset()
    texts: frozenset[Names] = frozenset()
    whole: frozenset[Names] = frozenset()

    @property
    def empty(self) -> bool:
        """Whether nothing is left but the root and holes."""
        return not (self.paths or self.texts or self.whole)


@dataclass(slots=True)
class Seen:
    """What is seen inside fragments, as far as it has been followed; `every`: anything may be."""

    paths: set[Within] = field(default_factory=set)
    texts: set[Within] = field(default_factory=set)
    whole: set[Within] = field(default_factory=set)
    every: set[int] = field(default_factory=set)

    def element(self, tag: int, path: Names | None) -> None:
        """An element is stepped to; a root is there anyway."""
        if path != ():
            self._add(self.paths, tag, path)

    def text(self, tag: int, path: Names | None) -> None:
        """What is directly in an element is stepped to."""
        self._add(self.texts, tag, path)

    def value(self, tag: int, path: Names | None) -> None:
        """Everything in an element is read."""
        self._add(self.whole, tag, path or None)

    def trims(self, tags: Iterable[int]) -> dict[int, Trim]:
        """What is left of the fragments of these tags; those of which anything may be seen stay."""
        return {
            tag: Trim(_of(tag, self.paths), _of(tag, self.texts), _of(tag, self.whole))
            for tag in tags
            if tag not in self.every
        }

    def _add(self, known: set[Within], tag: int, path: Names | None) -> None:
        if path is None:
            self.every.add(tag)
        else:
            known.add((tag, path))


def _of(tag: int, known: set[Within]) -> frozenset[Names]:
    return frozenset(path for one, path in known if one == tag)
