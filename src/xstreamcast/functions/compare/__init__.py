"""Comparison, its one door: value and general comparison, keys for grouping, ranks for sorting."""

from xstreamcast.functions.compare.general import compare_pairs, equal_pairs, general_compare
from xstreamcast.functions.compare.keys import group_codes, hash_keys, order_ranks, row_codes
from xstreamcast.functions.compare.values import Op, value_compare

__all__ = [
    "Op",
    "compare_pairs",
    "equal_pairs",
    "general_compare",
    "group_codes",
    "hash_keys",
    "order_ranks",
    "row_codes",
    "value_compare",
]
