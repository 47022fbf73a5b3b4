"""Comparison, its one door: value and general comparison, keys for grouping, ranks for sorting."""

from xstreamcast.functions.general_comparison import compare_pairs, equal_pairs, general_compare
from xstreamcast.functions.keys import group_codes, hash_keys, order_ranks, row_codes
from xstreamcast.functions.value_comparison import Op, value_compare

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
