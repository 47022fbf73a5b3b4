"""Payloads written into each other's holes take the room that was measured for them."""

from __future__ import annotations

import pytest

from tests.history.telling import current, filler, hole, loaded, seen, told
from xstreamcast.history.view import written

ROOT = filler(0, 1, "1", f"<accounts>{hole(1, 2)}</accounts>")
EMPTY = hole(9, 4)  # nothing ever comes for it


def account(content: str) -> list[str]:
    return [ROOT, filler(1, 2, "2", f"<account>{content}</account>")]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (f"<customer>x{EMPTY}</customer>{EMPTY}y", "<customer>x</customer>y"),
        (f"x<customer>{EMPTY}</customer>{EMPTY}y", "x<customer/>y"),
        (f"{EMPTY}<customer>{EMPTY}x</customer>y", "<customer>x</customer>y"),
        (f"x{EMPTY}{EMPTY}y{EMPTY}z", "xyz"),
        (f"<customer>x{EMPTY}{EMPTY}y</customer>{EMPTY}{EMPTY}z", "<customer>xy</customer>z"),
    ],
)
def test_texts_join_across_empty_holes_of_their_own_element_alone(
    content: str, expected: str
) -> None:
    history = told(account(content))
    made = written(history).tape.columns
    assert int(made.size[0]) == len(made.kind) - 1
    assert seen(history) == (
        f'<accounts><account vtFrom="2" vtTo="now">{expected}</account></accounts>'
    )


def test_what_a_hole_contains_is_left_out_with_the_holes_in_it() -> None:
    nested = f'<hole id="2" tsid="4">x{hole(3, 4)}</hole>'
    history = told([*account(f"{nested}y"), filler(3, 4, "2", "<limit>3</limit>")])
    assert current(history) == "<accounts><account>y</account></accounts>"
    assert len(history.holes) == 2


def test_a_removal_carries_no_holes_whatever_it_contains() -> None:
    gone = (
        f'<remove id="7" tsid="2" validTime="2003-01-03"><account>{hole(8, 4)}</account></remove>'
    )
    done = loaded([gone, *account(f"a{hole(2, 4)}b"), filler(2, 4, "2", "<limit>3</limit>")])
    assert done.refused == []
    assert current(done.history) == "<accounts><account>a<limit>3</limit>b</account></accounts>"
    assert len(done.history.holes) == 2
