"""Kind tests of the plan as node tests of the tape."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from xstreamcast.model.atomic import ATOMIC
from xstreamcast.tape.layout import KIND_NAMES
from xstreamcast.tape.steps.axes import NodeTest

if TYPE_CHECKING:
    from xstreamcast.model.sequence_type import NodeItem

_UNTYPED_ATTRIBUTE: Final = frozenset({ATOMIC["untypedAtomic"].tag, ATOMIC["anyAtomicType"].tag})


def node_test(test: NodeItem, axis: str) -> NodeTest:
    """The test as the store takes it."""
    if test.kind == "node":
        return NodeTest.node()
    return NodeTest(1 << KIND_NAMES.index(test.kind), test.local, test.uri)


def untyped_only(test: NodeItem) -> bool:
    """Whether an unvalidated node can pass the test: all nodes here are unvalidated."""
    return test.type_tag is None or (
        test.kind == "attribute" and test.type_tag in _UNTYPED_ATTRIBUTE
    )
