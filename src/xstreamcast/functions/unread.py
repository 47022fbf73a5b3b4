"""Values of nodes that have not been read yet: kernels process them in place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, cast

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from xstreamcast.model.items import Items

    Ints = npt.NDArray[np.int64]


class Texts(Protocol):
    """What values need of a store of tapes: kinds and string values of many nodes at once."""

    def strings(self, handles: Ints) -> npt.NDArray[Any]: ...
    def string_bytes(self, handles: Ints) -> tuple[npt.NDArray[Any], Ints]: ...
    def doubles(self, handles: Ints) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]: ...
    def equals(self, handles: Ints, constant: bytes) -> npt.NDArray[np.bool_]: ...
    def hashes(self, handles: Ints) -> npt.NDArray[np.uint64]: ...
    def kinds(self, handles: Ints) -> npt.NDArray[np.uint8]: ...


def unread(items: Items) -> tuple[Texts, Ints] | None:
    """The store and the nodes behind lazy items; None where the values are at hand only."""
    if items.nodes is None:
        return None
    return cast("Texts", items.store), items.nodes
