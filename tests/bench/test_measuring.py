from functools import partial

from hypothesis import given
from hypothesis import strategies as st

from bench.machine import machine
from bench.rounds import Contender, interleaved
from bench.tables import geometric_mean, markdown, ratio, seconds


def test_contenders_take_turns_in_one_round_after_another():
    calls: list[str] = []
    contenders = [Contender(name, partial(calls.append, name)) for name in "abc"]

    timings = interleaved(contenders, rounds=3)

    assert calls == [*"abc", *"abc", *"bca", *"cab"]
    assert [len(timing.seconds) for timing in timings.values()] == [3, 3, 3]


def test_a_contender_beyond_patience_runs_once_and_keeps_its_answer():
    timings = interleaved([Contender("slow", lambda: "answer")], patience=-1)

    assert timings["slow"].answer == "answer"
    assert len(timings["slow"].seconds) == 1


def test_a_table_reads_as_text():
    assert markdown(("q", "s"), [("p1", "0.250"), ("p10", "12.5")]) == (
        "| q   |     s |\n| --- | ----: |\n| p1  | 0.250 |\n| p10 |  12.5 |\n"
    )


def test_figures_keep_the_digits_that_matter():
    assert [seconds(x) for x in (0.0123, 1.234, 56.78, None)] == ["0.012", "1.23", "56.8", "–"]
    assert [ratio(x) for x in (2.04, 31.4, None)] == ["2.0 ×", "31 ×", "–"]


@given(st.lists(st.floats(0.01, 100), min_size=1))
def test_a_geometric_mean_lies_between_its_ratios_and_skips_what_is_absent(values):
    mean = geometric_mean([*values, None])

    assert mean is not None
    assert min(values) * 0.999 <= mean <= max(values) * 1.001


def test_the_machine_is_described_without_its_name():
    described = machine(("numpy", "no-such-package"))

    assert "numpy 2" in described
    assert "no-such-package" not in described
