"""Windows for each value of a key: after each tick the answer is that over what has come."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.operators.test_law_divided import ended
from tests.operators.test_windows import Told, _root, outcome
from tests.operators.watched import Watched
from tests.operators.window_queries import ENDS, RESULTS, STARTS, item_lists, items
from tests.streams_strategies import HEAD
from xstreamcast.api import compiled
from xstreamcast.operators.growing_windows.by_key import WindowsByKey
from xstreamcast.operators.relational.explain import explain_circuit
from xstreamcast.operators.watching.explain import unbounded

SESSIONS = """
  for $u in fn:distinct-values(stream("s")/r/e/user)
  forseq $w in stream("s")/r/e[user eq $u] tumbling window
    start curItem $in when $in/op eq 'login'
    end curItem $out when $out/op eq 'logout'
  return <session user="{ $u }">{ count($w) }</session>"""


def entry(user: str, op: str) -> bytes:
    return f"<e><user>{user}</user><op>{op}</op></e>".encode()


@st.composite
def keyed_queries(draw: st.DrawFn) -> str:
    """A query with windows for each value of a key."""
    near = [one for one in RESULTS if ".." not in one]
    start, end = draw(st.sampled_from(STARTS)), draw(st.sampled_from(ENDS))
    result = draw(st.sampled_from([*near, "return <u k='{$u}'>{ count($w), $w/@t/string() }</u>"]))
    key = draw(st.sampled_from(["@k", "@n"]))
    test = draw(st.sampled_from([f"{key} eq $u", f"$u = {key}"]))
    values = draw(st.sampled_from(['stream("s")/r/e', 'stream("s")//e']))
    source = f"{values}{draw(st.sampled_from(['', '', '[@t != 3]']))}[{test}]"
    loop = f"for $u in distinct-values({values}/{key})"
    if draw(st.booleans()):
        kind, only = (
            draw(st.sampled_from(["tumbling", "sliding"])),
            draw(st.sampled_from(["", "only "])),
        )
        clause = (
            f"for {kind} window $w in {source} start $s at $sp previous $sb next $sa when {start} "
            f"{only}end $e at $ep previous $eb next $ea when {end}"
        )
    else:
        kind = draw(st.sampled_from(["tumbling", "sliding", "landmark"]))
        names = "curItem ${0}, position ${0}p, prevItem ${0}b, nextItem ${0}a"
        clause = (
            f"forseq $w in {source} {kind} window start {names.format('s')} when {start} "
            f"{draw(st.sampled_from(['', 'force ']))}end {names.format('e')} when {end}"
        )
    asked = f"{loop} {clause} {result}"
    around = draw(st.sampled_from(["%q", "%q", "%q", "count(%q)", "<all>{ %q }</all>"]))
    return around.replace("%q", asked)


@settings(deadline=None)
@given(st.data(), keyed_queries(), item_lists())
def test_each_tick_answers_for_the_items_that_have_come(data, asked, listed):
    told, at = Told(asked), 0
    told.feed(b"<r>")
    while at < len(listed):
        count = data.draw(st.integers(1, 4))
        failed = ended(lambda: told.feed("".join(listed[at : at + count]).encode()))  # noqa: B023
        at += count
        if failed is not None:
            assert outcome(asked, listed[:at]) == failed
            return
        expected = outcome(asked, listed[:at])
        if not isinstance(expected, str):
            assert told.answer.items() == expected, asked
    failed = ended(told.end)
    assert (failed or told.answer.items()) == outcome(asked, listed)


@settings(deadline=None)
@given(st.data(), keyed_queries(), item_lists())
def test_strict_tells_what_stays_and_all_of_it_in_the_end(data, asked, listed):
    expected = outcome(asked, listed)
    if isinstance(expected, str):
        return
    told, at = Told(asked, policy="strict"), 0
    told.feed(b"<r>")
    while at < len(listed):
        count = data.draw(st.integers(1, 4))
        told.feed("".join(listed[at : at + count]).encode())
        at += count
    told.end()
    assert told.answer.items() == expected
    assert all(change.diff == 1 for change in told.changes)


@settings(deadline=None)
@given(st.data(), keyed_queries(), st.sampled_from(["event", "temporal"]))
def test_windows_over_items_that_are_corrected_are_revised(data, asked, kind):
    structure = (
        '<stream:structure><tag id="0" name="r" type="snapshot">'
        f'<tag id="1" name="e" type="{kind}"/></tag></stream:structure>'
    )
    following = Watched(asked)
    following.feed("s", f"{HEAD}{structure}".encode())
    holes = data.draw(st.permutations([1, 2, 3, 4, 5]))[: data.draw(st.integers(1, 5))]
    _root(following, holes)
    for number in range(data.draw(st.integers(1, 8))):
        if data.draw(st.integers(0, 4)) == 0:
            holes = data.draw(st.permutations([1, 2, 3, 4, 5, 6]))[:4]
            _root(following, holes)
        time = data.draw(st.integers(1, 9))
        item, which = data.draw(items(number)), data.draw(st.sampled_from(holes))
        following.feed(
            "s",
            f'<stream:filler id="{which}" tsid="1" validTime="2024-01-0{time}T00:00:00Z">'
            f"{item}</stream:filler>".encode(),
        )
        expected = following.afresh()
        if expected is not None:
            assert following.told.items() == expected, asked
        if data.draw(st.integers(0, 4)) == 0:
            following.restart()
    expected = following.afresh()
    assert isinstance(ended(following.end), str) == (expected is None)
    assert expected is None or following.told.items() == expected


def test_sessions_of_each_user_as_they_go_on():
    told = Told(SESSIONS)
    told.feed(b"<r>" + entry("ann", "login") + entry("bob", "login"))
    told.feed(entry("ann", "logout"))
    told.changes.clear()
    told.feed(entry("ann", "login"))
    assert [(c.diff, c.key, c.after, c.item) for c in told.changes] == [
        (1, "2/ann.0", "0/ann.0", '<session user="ann">1</session>')
    ]


@pytest.mark.parametrize("policy", ["optimistic", "strict"])
def test_sessions_keep_open_windows_and_not_their_entries(policy):
    told = Told(SESSIONS, policy=policy)
    told.feed(b"<r>" + entry("u0", "logout"))
    assert isinstance(told.operator.windows, WindowsByKey)
    sizes = []
    for _ in range(60):
        for op in ("login", "read", "buy", "logout"):
            told.feed(b"".join(entry(f"u{n}", op) for n in range(10)))
        sizes.append(told.watch.state_bytes)
    assert len(told.answer) == 600
    assert max(sizes[30:]) <= 1.2 * sizes[10]
    told.end()
    assert set(told.answer.items()) == {f'<session user="u{n}">4</session>' for n in range(10)}


def test_explain_says_what_windows_of_each_value_keep():
    said = explain_circuit(compiled(SESSIONS))
    assert "tumbling windows of each value of child::user" in said
    assert "for each value, the open window, with the item at which it starts" in said
    assert "values that the key of items" in unbounded(compiled(SESSIONS))[0]


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        (SESSIONS.replace("count($w)", "count($w/..)"), "the axis parent may leave the unit"),
        (
            SESSIONS.replace("[user eq $u]", "[user ne $u]"),
            "each row is compared with all rows of an input",
        ),
        (
            SESSIONS.replace("'logout'", "string(stream('t')/x)"),
            "a window condition reads an input",
        ),
    ],
)
def test_explain_says_why_windows_are_recomputed(asked, why):
    said = explain_circuit(compiled(asked))
    assert "recompute tuples" in said
    assert why in said
