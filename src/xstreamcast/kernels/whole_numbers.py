"""Texts that are whole numbers, to numbers."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from xstreamcast.kernels.compiled import kernel

U8 = npt.NDArray[np.uint8]
I64 = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

LONGEST = 17  # digits of a number that fits in 64 bits whatever the digits are


@kernel
def whole_numbers(heap: U8, starts: I64, lengths: I64, values: I64, good: Bools) -> None:
    """values[i] is the number that text i says, where it has 1 to 17 ASCII digits and no more."""
    for i in range(len(starts)):
        n, at, value = lengths[i], starts[i], 0
        fits = 0 < n <= LONGEST
        if fits:
            for k in range(at, at + n):
                digit = int(np.int64(heap[k])) - 48
                if digit < 0 or digit > 9:
                    fits = False
                    break
                value = value * 10 + digit
        good[i] = fits
        values[i] = value if fits else 0
