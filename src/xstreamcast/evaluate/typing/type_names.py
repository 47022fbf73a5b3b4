"""What an item is, in the words of the language, for messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from xstreamcast.algebra.show.types import KIND_TESTS
from xstreamcast.model.atomic import ARRAY, BY_TAG, FUNCTION, MAP, NODE
from xstreamcast.tape.layout import KIND_NAMES

if TYPE_CHECKING:
    from xstreamcast.model.items import Items
    from xstreamcast.tape.store import Store


def item_name(store: Store, item: Items) -> str:
    """What a single item is."""
    tag = int(item.all_tags()[0])
    if tag == NODE:
        kind = KIND_NAMES[int(store.kinds(item.values.astype(np.int64))[0])]
        return f"{KIND_TESTS.get(kind, kind)}()"
    words = {FUNCTION: "a function", MAP: "a map", ARRAY: "an array"}
    return words.get(tag) or f"xs:{BY_TAG[tag].name}"
