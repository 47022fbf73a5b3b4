"""`python -m xstreamcast` is the command `xstreamcast`."""

from xstreamcast.cli.main import entry

entry()
