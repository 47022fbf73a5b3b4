"""`xstreamcast bench growth`: what one change costs a running query as its streams grow."""

from bench.growth.command import add_arguments, main

__all__ = ["add_arguments", "main"]
