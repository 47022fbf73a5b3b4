"""`xstreamcast bench linear_road`: the Linear Road benchmark, played, measured and validated.

Arasu et al., Linear Road: A Stream Data Management Benchmark, VLDB 2004.
"""

from bench.linear_road.command import add_arguments, main

__all__ = ["add_arguments", "main"]
