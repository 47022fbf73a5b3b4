"""A source of fragments that can be read again from any point: files and folders that grow."""

from xstreamcast.edges.replay.offset import Offset, Seen
from xstreamcast.edges.replay.plan import Replay
from xstreamcast.edges.replay.splits import Split, split_rows

__all__ = ["Offset", "Replay", "Seen", "Split", "split_rows"]
