"""A source of fragments that can be read again from any point: files and folders that grow."""

from xstreamcast.edges.replay.offset import Offset, ReadOffset
from xstreamcast.edges.replay.plan import Replay
from xstreamcast.edges.replay.splits import Split, split_rows

__all__ = ["Offset", "ReadOffset", "Replay", "Split", "split_rows"]
