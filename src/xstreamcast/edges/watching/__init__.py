"""A running query and the world: what is read, in which pieces, and what is remembered of it."""

from xstreamcast.edges.watching.options import Options
from xstreamcast.edges.watching.run import Watching

__all__ = ["Options", "Watching"]
