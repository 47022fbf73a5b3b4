"""The wire: fragments as bytes, read in every dialect, written in one form."""

from xstreamcast.edges.wire.decoder import Counts, Decoder
from xstreamcast.model.fragment import STREAM

__all__ = ["STREAM", "Counts", "Decoder"]
