"""Update streams to test with: the paper's, in a short notation, and random ones."""

from __future__ import annotations

import re
from collections.abc import Callable

from hypothesis import strategies as st

from xstreamcast.edges.updates import events as e
from xstreamcast.edges.updates.events import Event, Token

_CALL = re.compile(r'(\w+)\(([^()"]*(?:"[^"]*"[^()"]*)?)\)')


def events(text: str) -> list[Event]:
    """`sM(0,1) cD(1,"x") eM(0,1)`, as the paper writes it."""
    return [_event(*found.groups()) for found in _CALL.finditer(text)]


def _event(word: str, arguments: str) -> Event:
    a = [one.strip().strip('"') for one in arguments.split(",")]
    simple: dict[str, Callable[[str], Event]] = {
        "sS": e.StartStream, "eS": e.EndStream, "sT": e.StartTuple, "eT": e.EndTuple,
        "freeze": e.Freeze, "hide": e.Hide, "show": e.Show,
    }  # fmt: skip
    match word:
        case "sE":
            return e.StartElement(a[0], a[1])
        case "eE":
            return e.EndElement(a[0], a[1])
        case "cD":
            return e.CharacterData(a[0], a[1])
        case "sM" | "sR" | "sB" | "sA":
            return e.Begin(word[1], a[0], a[1])  # type: ignore[arg-type]
        case "eM" | "eR" | "eB" | "eA":
            return e.End(word[1], a[0], a[1])  # type: ignore[arg-type]
        case _:
            return simple[word](a[0])


def shown(tokens: list[Token]) -> str:
    """Tokens as XML, tuples in brackets."""
    words = {"sE": "<{}>", "eE": "</{}>", "cD": "{}", "sT": "(", "eT": ")"}
    return "".join(words[str(token[0])].format(*token[1:]) for token in tokens)


IDS = st.sampled_from(["0", "1", "2", "3", "4"])
KINDS = st.sampled_from(["M", "R", "B", "A"])
TAGS = st.sampled_from(["a", "b"])

any_event: st.SearchStrategy[Event] = st.one_of(
    st.builds(e.StartElement, IDS, TAGS),
    st.builds(e.EndElement, IDS, TAGS),
    st.builds(e.CharacterData, IDS, st.sampled_from(["x", "y"])),
    st.builds(e.Begin, KINDS, IDS, IDS),
    st.builds(e.Begin, KINDS, IDS, IDS),
    st.builds(e.End, KINDS, IDS, IDS),
    st.builds(e.StartTuple, IDS),
    st.builds(e.EndTuple, IDS),
    st.builds(e.StartStream, IDS),
    st.builds(e.EndStream, IDS),
    st.builds(e.Freeze, IDS),
    st.builds(e.Hide, IDS),
    st.builds(e.Show, IDS),
)


@st.composite
def update_streams(draw: st.DrawFn, most: int = 12) -> list[Event]:
    """Streams that fit, made of whole regions and elements, woven into each other.

    A plan of ids, each ended somewhere: far denser in updates than random events would be.
    """
    out: list[Event] = []
    open_: list[list[Event]] = []  # for each thing begun: the events that still must come
    begun: list[str] = []

    def content(id: str) -> list[Event]:
        inner: list[Event] = []
        for _ in range(draw(st.integers(0, 2))):
            if draw(st.booleans()):
                inner.append(e.CharacterData(id, draw(st.sampled_from("xyz"))))
            else:
                tag = draw(TAGS)
                inner += [
                    e.StartElement(id, tag),
                    e.CharacterData(id, draw(st.sampled_from("uvw"))),
                ]
                inner += [e.EndElement(id, tag)]
        return inner

    for number in range(draw(st.integers(1, most))):
        what = draw(st.integers(0, 9)) if begun else 0
        if what < 7:
            kind = "M" if not begun else draw(KINDS)
            target = draw(st.sampled_from(["0", *begun])) if kind == "M" else draw(_one(begun))
            reuse = bool(begun) and draw(st.integers(0, 3)) == 0
            id = draw(_one(begun)) if reuse else str(number + 1)
            open_.append([
                e.Begin(kind, target, id), *content(id), e.End(kind, target, id),  # type: ignore[arg-type]
            ])  # fmt: skip
            begun.append(id)
        else:
            words: list[Callable[[str], Event]] = [e.Hide, e.Show, e.Hide, e.Show, e.Freeze]
            word = draw(st.sampled_from(words))
            open_.append([word(draw(_one(begun)))])
        while open_ and draw(st.integers(0, 3)) > 0:
            chosen = draw(st.integers(0, len(open_) - 1))
            out.append(open_[chosen].pop(0))
            open_ = [left for left in open_ if left]
        out += content("0") if draw(st.integers(0, 4)) == 0 else []
    while open_:
        out.append(open_[0].pop(0))
        open_ = [left for left in open_ if left]
    return out


def _one(ids: list[str]) -> st.SearchStrategy[str]:
    return st.sampled_from(ids)
