"""XCQL compiled away: standard XQuery over files of fragments, for each of the three strategies."""

from xstreamcast.algebra.translate.assemble import Strategy, translate

__all__ = ["Strategy", "translate"]
