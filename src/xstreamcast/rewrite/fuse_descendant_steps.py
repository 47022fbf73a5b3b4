"""//x in one step."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from xstreamcast.algebra import plan as p
from xstreamcast.model.sequence_type import NodeItem
from xstreamcast.rewrite.known import Known

_FUSED: Final[dict[str, p.Axis]] = {
    "child": "descendant",
    "descendant": "descendant",
    "descendant-or-self": "descendant-or-self",
    "self": "descendant-or-self",
}


def fuse_descendant_steps(plan: p.Step, known: Known) -> p.Step:
    """A step below all descendants is a step to descendants.

    e/descendant-or-self::node()/child::t  →  e/descendant::t
    """
    match plan:
        case p.Step(p.Step(source, "descendant-or-self", NodeItem("node")), axis, test):
            if axis in _FUSED:
                return replace(plan, input=source, axis=_FUSED[axis], test=test, settled=False)
    return plan
