"""A running query and the world: what is read, in which pieces, and what is remembered of it."""

from xstreamcast.edges.watching.options import WatchOptions
from xstreamcast.edges.watching.run import Watching

__all__ = ["WatchOptions", "Watching"]
