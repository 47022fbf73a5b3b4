"""What an expression may refer to while it is translated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from xstreamcast.algebra.translate.shapes import PLAIN, Shape
from xstreamcast.syntax import tree as t


@dataclass(frozen=True, slots=True)
class Scope:
    """The shapes of the variables and of the context item."""

    variables: Mapping[str, Shape] = field(default_factory=dict)
    focus: Shape = PLAIN
    versions: bool = False  # inside #[…], where `last` is the number of what stands before it

    def bind(self, name: t.Name | None, shape: Shape) -> Scope:
        """With one more variable."""
        if name is None:
            return self
        return replace(self, variables={**self.variables, str(name): shape})

    def at(self, focus: Shape) -> Scope:
        """With another context item."""
        return replace(self, focus=focus.single())

    def variable(self, name: t.Name) -> Shape:
        """The shape of a variable."""
        return self.variables.get(str(name), PLAIN)
