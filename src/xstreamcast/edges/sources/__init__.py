"""How bytes and messages come from a place: files that grow, pipes, sockets, brokers, servers.

A source hands out pieces: bytes as they come, None where a file, a message or a connection ends,
b"" where there is nothing just now, and `Burst` for messages that came together.
"""

from xstreamcast.edges.sources.bursts import Burst, flattened, joined
from xstreamcast.edges.sources.place import SourceAddress, is_place, place_of, shown

__all__ = ["Burst", "SourceAddress", "flattened", "is_place", "joined", "place_of", "shown"]
