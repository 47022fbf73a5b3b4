"""Units judged by what is kept of them: asked only if the judgement differs, and never wrong."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.operators.test_inner import BOUNDS, credit, filler, structures, units_asked
from tests.operators.test_law import chunks
from tests.operators.watched import Watched
from tests.streams_strategies import histories
from xstreamcast.errors import Error
from xstreamcast.evaluate.time.moments import Moment
from xstreamcast.model.instant import SECOND

PATHS = ("b", "b/d", "b/v", "b%b", "b%b/v", "c", "c%b", 'b[d = "x"]/v')
FOLDS = ("count(%p)", "sum(%p ! string-length(.))", "avg(%p/string-length())", "max(%p)",
         "sum(%p)", "2 * count(%p) + 1", "min(%p ! string(.))", "string(count(%p))")  # fmt: skip
SIDES = ("2", "$x/c%b", "$x/w", "count($x/w)", "max((count($x/@k) * 3, 2))", "$x/@k", "'1'",
         "number($x/w)", "string-length($x/w)", "(1, 4)", "$x/w/xs:double(.)")  # fmt: skip
RESULTS = ("string($x/@k)", "<q>{ $x/@k, $x/w }</q>", "$x/w", "$x/c%b", "(1, $x/@k/string())")
OPS = st.sampled_from([">=", "<", "=", "!=", "eq", "lt"])


@st.composite
def questions(draw) -> str:
    path = "$x/" + draw(st.sampled_from(PATHS))
    fold = draw(st.sampled_from(FOLDS)).replace("%p", path)
    sides = [fold, draw(st.sampled_from(SIDES))]
    left, right = draw(st.permutations(sides))
    result = draw(st.sampled_from(RESULTS))
    query = f"for $x in stream('s')//a where {left} {draw(OPS)} {right} return {result}"
    return query.replace("%b", draw(st.sampled_from(BOUNDS)))


@settings(deadline=None)
@given(st.data(), structures(), st.lists(st.integers(0, 10**6), max_size=8))
def test_judged_units_are_told_as_if_they_were_asked(data, structure, cuts):
    following = Watched(data.draw(questions()))
    wire = data.draw(histories(structure))
    try:
        for chunk in chunks(wire, cuts):
            following.feed("s", chunk)
            expected = following.afresh()
            if expected is not None:
                assert following.told.items() == expected
        begin = 18262 * 86_400  # 2020 began so many seconds after 1970
        for second in sorted(data.draw(st.lists(st.integers(0, 900), max_size=3))):
            following.watch.reach(Moment((begin + second) * SECOND))
            following.tick()
            expected = following.afresh()
            if expected is not None:
                assert following.told.items() == expected
        following.end()
    except Error:
        assert following.afresh() is None
    else:
        assert following.told.items() == following.afresh()


def test_a_unit_is_asked_only_when_the_judgement_differs():
    following = credit("for $x in stream('s')//a where sum($x/b/v) >= $x/c return $x/c")
    following.feed("s", filler(3, 3, "<c>10</c>", 1))
    asked = []
    for minute in range(2, 8):
        before = units_asked(following)
        following.feed("s", filler(2, 2, "<b><v>3</v></b>", minute))
        asked.append(units_asked(following) - before)
        assert following.told.items() == following.afresh()
    assert asked == [0, 0, 0, 1, 0, 0]
    following.feed("s", filler(3, 3, "<c>100</c>", 9))
    assert following.told.items() == following.afresh()
