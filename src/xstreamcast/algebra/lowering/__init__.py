"""From the tree to the plan: all names are resolved, or it is a static error."""

from __future__ import annotations

from xstreamcast.algebra.lowering.module import lower

__all__ = ["lower"]
