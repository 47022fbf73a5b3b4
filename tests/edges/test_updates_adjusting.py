"""The law of state adjustment: an update stream is transformed without being applied."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.edges.adjusting import Transformer, Wrapper, child_step, counting
from tests.edges.update_streams import events, shown, update_streams
from xstreamcast.edges.updates import apply
from xstreamcast.edges.updates import events as e
from xstreamcast.edges.updates.events import Event, Token
from xstreamcast.edges.updates.reference import Reference
from xstreamcast.errors import Error

ADJUSTABLE = {
    "count of texts": counting("cD"),
    "count of a": counting("sE", "a"),
    "count of texts x": counting("cD", "x"),
}


def fitting(stream: list[Event]) -> list[Event]:
    """The events that are not refused."""
    reference, out = Reference(), []
    for event in stream:
        try:
            reference.take(event)
        except Error:
            continue
        out.append(event)
    return out


@given(update_streams(), st.sampled_from(sorted(ADJUSTABLE)))
def test_the_adjusted_state_is_that_of_the_applied_stream_at_every_event(stream, name) -> None:
    f: Transformer[int] = ADJUSTABLE[name]
    wrapper, told = Wrapper(f), list[Event]()
    for event in fitting(stream):
        told.append(event)
        list(wrapper.take(event))
        assert wrapper.state == f.whole(apply(told), f.zero)[1]


@given(update_streams(), st.sampled_from("ab"))
def test_a_step_of_an_update_stream_is_the_step_of_what_it_makes(stream, tag) -> None:
    f = child_step(tag)
    wrapper, out, told = Wrapper(f), list[Event](), list[Event]()
    nested = [e.StartElement("0", "r"), *stream]
    for event in fitting(nested):
        told.append(event)
        out += wrapper.take(event)
    whole = [token for token in apply(told) if token[0] not in ("sT", "eT")]
    if balanced(whole[1:]):
        assert apply(out) == f.whole(whole, f.zero)[0]


def balanced(tokens: list[Token]) -> bool:
    """Whether every element that began has ended: f* is asked about well-formed sequences only."""
    depth = 0
    for token in tokens:
        depth += (token[0] == "sE") - (token[0] == "eE")
    return depth == 0


tokens = st.recursive(
    st.sampled_from([[("cD", "x")], [("cD", "y")], []]),
    lambda inner: st.lists(inner, max_size=3).map(
        lambda parts: [("sE", "a", ()), *(one for part in parts for one in part), ("eE", "a")]
    ),
    max_leaves=8,
)


@given(tokens, st.integers(0, 9), st.integers(0, 9), st.integers(0, 9))
def test_adjusting_obeys_its_three_laws(v, s1, s2, s3) -> None:
    for f in ADJUSTABLE.values():
        assert f.adjust(s1, s2, s2) == s1
        assert f.adjust(s1, s1, s2) == s2
        after = f.whole(v, s1)[1]
        assert f.adjust(after, s2, s3) == f.whole(v, f.adjust(s1, s2, s3))[1]


@given(tokens, st.integers(0, 3), st.booleans())
def test_a_step_is_inert(v, depth, passes) -> None:
    f = child_step("a")
    state = (depth, passes and depth > 1)
    assert f.whole(v, state)[1] == state


def test_the_counter_of_section_iii_is_revised_in_place() -> None:
    stream = events('sM(0,1) cD(1,"x") eM(0,1) cD(0,"y") sA(1,2) cD(2,"z") eA(1,2) hide(1)')
    wrapper, out = Wrapper(counting("cD")), events('sS(c) sM(c,n) cD(n,"0") eM(c,n)')
    seen = []
    for event in stream:
        before = wrapper.state
        list(wrapper.take(event))
        if wrapper.state != before:
            out += events(f'sR(n,r) cD(r,"{wrapper.state}") eR(n,r)')
        seen.append(shown(apply(out)))
    assert seen == ["0", "1", "1", "2", "2", "3", "3", "2"]


woven = st.lists(st.tuples(st.sampled_from("lr"), st.sampled_from("xyz")), max_size=12)


@given(woven)
def test_concatenation_of_woven_streams_needs_no_buffer(parts) -> None:
    """Section VI-A: the right stream is a mutable region, the left one is inserted before it."""
    out = events("sT(o) sM(o,r) sB(r,l)")
    for side, text in parts:
        out.append(e.CharacterData(side, text))
        left = "".join(text for s, text in texts(out) if s == "l")
        right = "".join(text for s, text in texts(out) if s == "r")
        assert shown(apply(out)) == f"({left}{right}"
    out += events("eB(r,l) eM(o,r) eT(o)")
    assert shown(apply(out)).endswith(")")


def texts(stream: list[Event]) -> list[tuple[str, str]]:
    return [(event.id, event.text) for event in stream if isinstance(event, e.CharacterData)]


books = st.lists(
    st.tuples(st.sampled_from(["a", "b"]), st.lists(st.sampled_from("xs"))), max_size=6
)


@given(books, st.data())
def test_a_predicate_shows_at_once_and_takes_back_what_fails(stream, data) -> None:
    """Section VI-B: //*[text = "s"], each element a region, shown and hidden by its outcome."""
    out: list[Event] = []
    outcome: dict[str, int] = {}
    for number, (tag, words) in enumerate(stream):
        id = f"n{number}"
        out += [e.Begin("M", "0", id), e.StartElement(id, tag)]
        out += [e.CharacterData(id, word) for word in words]
        out += [e.EndElement(id, tag), e.End("M", "0", id)]
        outcome[id] = words.count("s")
        out += [] if outcome[id] else [e.Hide(id)]
    for id in data.draw(st.lists(st.sampled_from(sorted(outcome)), max_size=5)) if outcome else []:
        more = data.draw(st.integers(0, 2))  # an update of the condition adjusts the outcome
        changed, outcome[id] = (outcome[id] == 0) != (more == 0), more
        out += [e.Show(id) if more else e.Hide(id)] if changed else []
    kept = [one for number, one in enumerate(stream) if outcome[f"n{number}"]]
    assert shown(apply(out)) == "".join(f"<{tag}>{''.join(words)}</{tag}>" for tag, words in kept)
