"""What is computed again when something it reads has changed, and compared with what was told."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from xstreamcast.evaluate.deep import deep
from xstreamcast.evaluate.frame import Frame, Key, Value
from xstreamcast.evaluate.results import lines
from xstreamcast.evaluate.walk import evaluate
from xstreamcast.model.column import Column
from xstreamcast.operators.answer import Answer
from xstreamcast.operators.asking import Asking
from xstreamcast.tape.store import Store

if TYPE_CHECKING:
    from collections.abc import Mapping

    from xstreamcast.algebra import plan as p
    from xstreamcast.model.change import Change
    from xstreamcast.model.items import Items


class Rewriting:
    """The answer as one list; a new list is told by what differs."""

    def __init__(self, plan: p.Expression) -> None:
        self._plan = plan
        self._answer = Answer()

    def on_batch(
        self, asking: Asking, store: Store, values: Mapping[int, Items], instant: int
    ) -> list[Change]:
        """Compute again with these values of variables → what changed."""
        return self._answer.revise({"": self._items(asking, store, values)}, instant, {"": 0})

    def _items(self, asking: Asking, store: Store, values: Mapping[int, Items]) -> list[str]:
        context = asking.context(store)
        bound: dict[Key, Value] = {
            n: Column(v, np.array([0, len(v)], np.int64)) for n, v in values.items()
        }
        frame = Frame(context, 1, context.root, None, bound)
        return list(lines(store, deep(lambda: evaluate(self._plan, frame)).items))

    def retracted(self, instant: int) -> list[Change]:
        """The changes that take all of it back."""
        return self._answer.retracted(instant)

    @property
    def state_bytes(self) -> int:
        """About what it keeps."""
        return self._answer.state_bytes

    def __len__(self) -> int:
        return len(self._answer)
