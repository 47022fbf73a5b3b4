"""Update streams: events that say XML and change what was said, read, applied and written."""

from xstreamcast.edges.updates.reference import apply
from xstreamcast.edges.updates.regions import Regions

__all__ = ["Regions", "apply"]
