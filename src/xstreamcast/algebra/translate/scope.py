"""What an expression may refer to while it is translated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace

from xstreamcast.algebra.translate.shapes import PLAIN, Shape
from xstreamcast.model.frozen import dataclass
from xstreamcast.syntax import tree as t


@dataclass(frozen=True, slots=True)
class ShapeScope:
    """The shapes of the variables and of the context item."""

    variables: Mapping[str, Shape] = field(default_factory=dict)
    focus: Shape = PLAIN
    versions: bool = False  # inside #[…], where `last` is the number of what is before it
    # Ends of the projections around, which may reach planned states, and how many of them were
    # around the binding of each variable, and of the context item.
    ends: tuple[t.Name, ...] = ()
    inside: Mapping[str, int] = field(default_factory=dict)
    focus_inside: int = 0

    def bind(self, name: t.Name | None, shape: Shape) -> ShapeScope:
        """With one more variable."""
        if name is None:
            return self
        return replace(
            self,
            variables={**self.variables, str(name): shape},
            inside={**self.inside, str(name): len(self.ends)},
        )

    def at(self, focus: Shape) -> ShapeScope:
        """With another context item."""
        return replace(self, focus=focus.single(), focus_inside=len(self.ends))

    def projected(self, end: t.Name) -> ShapeScope:
        """Inside the operand of one more projection."""
        return replace(self, ends=(*self.ends, end))

    def ends_around(self, name: t.Name | None) -> tuple[t.Name, ...]:
        """The projections between a variable, or the context item, and its use."""
        known = self.focus_inside if name is None else self.inside.get(str(name), 0)
        return self.ends[known:]

    def variable(self, name: t.Name) -> Shape:
        """The shape of a variable."""
        return self.variables.get(str(name), PLAIN)
