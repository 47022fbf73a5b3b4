"""Random streams of changes that fit."""

from __future__ import annotations

from hypothesis import strategies as st

from xstreamcast.model.change import Accumulated, Change
from xstreamcast.model.instant import SECOND

ITEMS = st.one_of(
    st.sampled_from(
        [
            "",
            "x",
            " ",
            "a & b",
            "a &amp; b",
            "<",
            "<a/>",
            "<a><b>1</b></a>",
            "<a  />",
            "<!--c-->",
            '<p:a xmlns:p="urn:p" n="&lt;&#xA;&quot;">t&gt;<?go on?></p:a>',
            "<a>x</a>y",
            "<a>&#xD;</a>",
        ]
    ),
    st.text(st.characters(blacklist_categories=["Cs", "Cc"]), max_size=5).filter(
        lambda text: "\ufffe" not in text and "\uffff" not in text
    ),
)


@st.composite
def change_streams(draw: st.DrawFn, most: int = 25) -> list[Change]:
    """Items come, go, are revised in their place and moved."""
    answer, out = Accumulated(), []
    instant = 0

    def say(change: Change) -> None:
        answer.apply(change)
        out.append(change)

    for number in range(draw(st.integers(0, most))):
        instant += draw(st.integers(0, 1)) * SECOND
        keys = [key for key, _ in answer]
        what = draw(st.sampled_from(["come", "come", "go", "revise", "move"])) if keys else "come"
        key = f"{number % 7}/{number}" if what == "come" else draw(st.sampled_from(keys))
        before = answer.behind(key)
        if what != "come":
            say(Change(instant, -1, key, before, answer[key]))
        if what != "go":
            left = [None, *(key for key, _ in answer)]
            after = before if what == "revise" else draw(st.sampled_from(left))
            say(Change(instant, 1, key, after, draw(ITEMS)))
    return out
