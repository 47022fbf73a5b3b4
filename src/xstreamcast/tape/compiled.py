"""How a loop over the columns of a tape is compiled."""

from __future__ import annotations

import numpy as np

from xstreamcast.kernels.compiled import kernel as kernel
from xstreamcast.kernels.compiled import part as part


@part
def signed(value: int) -> int:
    """A value of a column as int64: unsigned and signed mixed would become a float."""
    return int(np.int64(value))
