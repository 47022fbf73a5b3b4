"""Streams whose fragments say when they will hold, and when no longer."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import strategies as st


@st.composite
def planned(
    draw: st.DrawFn, state: Callable[[int, str], str], event: Callable[[int], str]
) -> list[str]:
    """States of three units (of a key) and events in them, some of which are planned.

    The callbacks give a filler's attributes, and its payload behind `>`.
    """
    out = []
    for _ in range(draw(st.integers(1, 7))):
        begin = draw(st.integers(0, 9))
        at = f'validTime="2020-01-01T00:0{begin}:00"'
        if draw(st.booleans()):
            at += f' messageTime="2020-01-01T00:0{draw(st.integers(0, 9))}:00"'
        if draw(st.booleans()):
            at += f' validTo="2020-01-01T00:0{draw(st.integers(begin, 9))}:00"'
        unit = draw(st.integers(1, 3))
        one = state(unit, draw(st.sampled_from("ab"))) if draw(st.booleans()) else event(unit)
        out.append(f"<stream:filler {at} {one}</stream:filler>")
    return out
