"""From the tree to the plan: all names are resolved, or it is a static error."""

from __future__ import annotations

from xstreamcast.algebra.lowering.linking import Modules
from xstreamcast.algebra.lowering.module import lower, lower_library

__all__ = ["Modules", "lower", "lower_library"]
