"""Window clauses and forseq, as their definitions say."""

from __future__ import annotations

import pytest

from tests.evaluate.asking import ask, code


def _forseq(kind: str, start: str, end: str, source: str = "1 to 7") -> list[str]:
    return ask(
        f"forseq $w in {source} {kind} window start {start} end {end} "
        'return string-join($w ! string(.), "")'
    )


def test_tumbling_windows_of_three() -> None:
    assert _forseq("tumbling", "position $i when true()", "position $j when $j - $i eq 2") == [
        "123", "456", "7",
    ]  # fmt: skip


def test_force_end_drops_a_window_that_is_still_open() -> None:
    found = ask(
        "forseq $w in 1 to 7 tumbling window start position $i when true() "
        "force end position $j when $j - $i eq 2 return sum($w)"
    )
    assert found == ["6", "15"]


def test_newstart_ends_a_window_before_the_next_one() -> None:
    found = _forseq("tumbling", "curItem $x when $x mod 3 eq 1", "when newstart")
    assert found == ["123", "456", "7"]


def test_sliding_windows_come_in_the_order_of_their_last_items() -> None:
    found = _forseq("sliding", "when true()", "curItem $y when $y mod 3 eq 0", "1 to 4")
    assert found == ["123", "23", "3", "4"]


def test_landmark_windows_share_their_first_item() -> None:
    found = _forseq("landmark", "position $s when $s eq 1", "when true()", "1 to 4")
    assert found == ["1", "12", "123", "1234"]


def test_general_forseq_binds_all_sub_sequences_by_their_last_item() -> None:
    found = ask('forseq $w in ("a", "b", "c") return string-join($w, "")')
    assert found == ["a", "ab", "b", "abc", "ac", "bc", "c"]


def test_general_forseq_refuses_what_would_never_end() -> None:
    assert code("forseq $w in 1 to 40 return 1") == "XPDY0130"


def test_neighbours_are_empty_at_the_edges() -> None:
    found = ask(
        "for sliding window $w in (5, 6) start $x previous $p next $n when true() "
        "end when true() return count($p) * 10 + count($n)"
    )
    assert found == ["1", "10"]


def test_windows_of_several_rows_do_not_mix() -> None:
    found = ask(
        "for $n in (2, 3) return string-join(for tumbling window $w in 1 to $n "
        "start at $s when true() end at $e when $e - $s eq 1 "
        'return string(count($w)), " ")'
    )
    assert found == ["2", "2 1"]


@pytest.mark.parametrize("size", [2, 30, 500])
def test_long_sequences_have_the_same_windows_whatever_their_length(size: int) -> None:
    found = ask(
        f"for tumbling window $w in 1 to 2000 start at $s when true() "
        f"end at $e when $e - $s eq {size - 1} return count($w)"
    )
    full, rest = divmod(2000, size)
    assert found == [str(size)] * full + ([str(rest)] if rest else [])


def test_the_sorting_program_of_the_paper() -> None:
    found = ask(
        "declare execution sequential; declare variable $runMax as xs:integer := 0; "
        "forseq $w in (1, 4, 3, 5, 2, 7) sliding window start position $s when true() "
        "end position $e when $e - $s eq 2 return for $x in $w "
        "where $x gt $runMax and $x le $w[1] order by $x return { set $runMax := $x; $x }"
    )
    assert found == ["1", "3", "4", "5", "7"]
