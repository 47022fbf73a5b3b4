"""The syntax for streams and time, listed with the functions.

The compiler understands these itself, so they have no row with a body in the registry.
"""

from __future__ import annotations

from typing import Final

from xstreamcast.model.frozen import dataclass


@dataclass(frozen=True, slots=True)
class Form:
    """How it is written, and its result."""

    name: str
    signature: str
    doc: str


FORMS: Final = (
    Form(
        "stream", "stream($name as xs:string) as document-node()",
        "The temporal view of an input or declared stream; the name is a string literal.",
    ),
    Form(
        "vtFrom", "vtFrom($e as element()) as xs:dateTime",
        "When the lifespan of an element begins.",
    ),
    Form(
        "vtTo", "vtTo($e as element()) as xs:dateTime",
        "When the lifespan of an element ends; now for the last version.",
    ),
    Form("?[ ]", "e?[t]", "The elements of e as they are at an instant."),
    Form("?[ , ]", "e?[t1, t2]", "The versions of e that live in an interval, clipped to it."),
    Form("#[ ]", "e#[n]", "The n-th version of e in order of valid time; e#[last] is the last."),
    Form("#[ , ]", "e#[n1, n2]", "The versions of e from the n1-th to the n2-th."),
    Form("now", "now", "The current instant, in projections, time arithmetic and comparisons."),
    Form("start", "start", "The beginning of time, in projections."),
    Form("last", "last", "The number of the last version, in version projections."),
    *(
        Form(word, f"e1 {word} e2", f"Whether the lifespan of e1 {meaning} that of e2 or [t1, t2].")
        for word, meaning in {
            "before": "ends before",
            "after": "begins after",
            "meets": "ends where it meets the beginning of",
            "overlaps": "begins before and ends within",
            "during": "lies within",
            "contains": "contains",
            "starts": "begins together with, and ends before,",
            "finishes": "ends together with, and begins after,",
            "equals": "equals",
        }.items()
    ),
)  # fmt: skip
