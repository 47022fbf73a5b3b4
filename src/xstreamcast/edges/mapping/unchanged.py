"""Units without a valid time of their own: sent again unchanged, they are no new version."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, Final

import numpy as np

from xstreamcast.model.fragment import FragmentBatch, Op

if TYPE_CHECKING:
    from xstreamcast.tape.layout import Bools


_DIGEST: Final = 16  # bytes


class Unchanged:
    """The content that each unit was last said to have."""

    def __init__(self) -> None:
        self.last: dict[int, tuple[int, bytes]] = {}  # id → valid time, digest of its bytes

    def news(self, made: FragmentBatch, timeless: set[int]) -> Bools:
        """Which fragments say anything new; `timeless`: the ids of those without a valid time."""
        c, news = made.tape.columns, np.ones(len(made), np.bool_)
        codes, valids, rows = made.id.tolist(), made.valid.tolist(), made.payload.tolist()
        # a removal stands behind all fragments of its batch, whenever it takes place
        for i in np.argsort(made.valid, kind="stable").tolist():
            code, valid, row = codes[i], valids[i], rows[i]
            known = self.last.get(code)
            if made.op[i] == Op.REMOVE:
                self.last.pop(code, None)
                continue
            if code not in timeless:
                continue
            first, size = int(c.start[row]), int(c.length[row])
            held = c.heap[first : first + size].tobytes() if size >= 0 else b""
            said = blake2b(held or made.tape.serialize(row), digest_size=_DIGEST).digest()
            if known is not None and valid >= known[0] and said == known[1]:
                news[i] = False
            elif known is None or valid >= known[0]:
                self.last[code] = valid, said
        return news

    def forget(self, codes: set[int]) -> None:
        """Units that are gone: what comes again is new."""
        for code in codes:
            self.last.pop(code, None)
