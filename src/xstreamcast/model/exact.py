"""Exact decimal arithmetic: Python's default context would round every result to 28 digits."""

from __future__ import annotations

from decimal import Context
from typing import Final

# Wide enough that sums and products of any decimals a query can write are exact.
EXACT: Final = Context(prec=20_000, Emax=999_999, Emin=-999_999)
