"""Work without garbage collection: rows and plans hold no cycles, and looking through them for some
is in vain. What a tick or a compilation leaves behind is looked through once, when it is over.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """No garbage is collected until the end, unless somebody else decides about it."""
    decides = gc.isenabled()
    if decides:
        gc.disable()
    try:
        yield
    finally:
        if decides:
            gc.enable()


def set_aside() -> None:
    """What a tick leaves is state, without cycles: never look through it again.

    Now and then all that lives would be: 0.5 s with 0.5 GB, in which nothing is answered. This is
    for a process whose objects are all ours, because what others left in it is set aside as well.
    """
    gc.collect(0)
    gc.freeze()
