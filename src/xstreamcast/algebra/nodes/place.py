"""Where in the query text a plan node was written: for errors; equal plans may differ in it."""

from typing import Final

from xstreamcast.errors import Span

NOWHERE: Final[Span] = (0, 0)
