"""Linear Road: its input, its rules, and the queries that answer it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import xstreamcast as xsc
from bench.linear_road import layout as f
from bench.linear_road.dialect import DIALECTS
from bench.linear_road.driver import QUERIES
from bench.linear_road.files import PAST, ROAD, TOLLS, TOLLS_CSV, read_tolls, write
from bench.linear_road.generator import Input, Scale
from bench.linear_road.outputs import (
    ACCIDENT,
    BALANCE,
    TOLL,
    Output,
    from_element,
    from_lines,
)
from bench.linear_road.rules import truth
from bench.linear_road.segment_history import past
from bench.linear_road.traffic import Demand
from bench.linear_road.validator import balance, is_balance, validate

CROWDED = Demand(first_segment=45, segments=10, crowded=130, first_accident=60, lasts=(120, 150))
SMALL = Scale(halves=2, seed=3, duration=420, demand=replace(CROWDED, arrivals=8_000))
NO_HISTORY: dict[tuple[int, int, int], int] = {}


def tuples(scale: Scale) -> f.Rows:
    return np.concatenate([rows for _, rows in Input(scale).seconds()])


@pytest.fixture(scope="module")
def small() -> f.Rows:
    return tuples(SMALL)


def report(time: int, vid: int, seg: int, speed: int = 30, lane: int = 1, pos: int = 0) -> str:
    place = pos or seg * f.FEET + vid
    return f"0,{time},{vid},{speed},0,{lane},0,{seg},{place},-1,-1,-1,-1,-1,-1"


def rows_of(*lines: str) -> f.Rows:
    return f.read_csv("\n".join(lines).encode())


# -- the input ------------------------------------------------------------------------------------


def test_a_seed_gives_one_input_and_another_seed_another():
    short = replace(SMALL, duration=60)
    assert np.array_equal(tuples(short), tuples(short))
    assert not np.array_equal(tuples(short), tuples(replace(short, seed=4)))


def test_tuples_are_in_order_of_time_and_in_range(small):
    assert (np.diff(small[:, f.TIME]) >= 0).all()
    reports = small[small[:, f.TYPE] == f.REPORT]
    assert (reports[:, f.POS] // f.FEET == reports[:, f.SEG]).all()
    assert reports[:, f.POS].min() >= 0
    assert reports[:, f.SEG].max() < f.SEGMENTS
    assert set(reports[:, f.LANE].tolist()) == {0, 1, 2, 3, 4}
    assert reports[:, f.SPD].min() >= 0
    assert reports[:, f.SPD].max() <= 100


def test_a_car_reports_every_thirty_seconds_and_from_every_segment_it_crosses(small):
    reports = small[small[:, f.TYPE] == f.REPORT].tolist()
    last: dict[int, list[int]] = {}
    for row in reports:
        before = last.get(row[f.VID])
        if before is None or before[f.LANE] == f.EXIT:
            assert row[f.LANE] == f.ENTRY
        else:
            assert row[f.TIME] - before[f.TIME] == f.PERIOD
            assert abs(row[f.SEG] - before[f.SEG]) <= 1
        last[row[f.VID]] = row


def test_half_an_expressway_is_its_westbound_direction():
    half = tuples(Scale(halves=3, seed=1, duration=90))
    reports = half[half[:, f.TYPE] == f.REPORT]
    assert set(map(tuple, reports[:, (f.XWAY, f.DIR)].tolist())) == {(0, 0), (0, 1), (1, 1)}


def test_an_input_has_all_that_the_rules_speak_of(small):
    assert set(small[:, f.TYPE].tolist()) == {f.REPORT, f.BALANCE, f.EXPENDITURE, f.TRAVEL}
    found = truth(small, NO_HISTORY, DIALECTS["2004"])
    assert any(toll for _, toll in found.tolls.values())
    assert any(not toll for _, toll in found.tolls.values())
    assert found.accidents
    directions = {row[f.DIR] for row in small.tolist() if row[f.SPD] == 0}
    assert directions
    left = [row for row in small.tolist() if row[f.LANE] == f.EXIT]
    assert left


def test_cars_come_back_after_they_have_left():
    scale = Scale(halves=2, seed=1, duration=1500, demand=Demand(arrivals=1_000))
    reports = tuples(scale)
    entries = Counter(row[f.VID] for row in reports.tolist() if row[f.LANE] == f.ENTRY)
    assert entries.most_common(1)[0][1] >= 2


# -- the rules ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def example(shared: Path) -> tuple[f.Rows, dict[tuple[int, int, int], int], Path]:
    folder = shared / "reference" / "linear-road-example"
    if not folder.is_dir():
        pytest.skip("no worked example of Linear Road beside the checkout")
    rows = f.read_csv((folder / "input.dat").read_bytes())
    return rows, read_tolls(folder / "tolls.dat"), folder


def test_the_worked_example_of_2004(example):
    rows, tolls, folder = example
    found = truth(rows, tolls, DIALECTS["2004"])
    given = from_lines((folder / "expected-2004.dat").read_text().split(), "2004")
    accepted = [one for one in given if one.kind == BALANCE and one.key == (103,)]
    assert len(accepted) == 2  # either will do
    others = [one for one in given if one not in accepted]
    for one in accepted:
        verdict = validate(found, [*others, one])
        assert verdict.valid, verdict


def test_the_worked_example_of_walmart(example):
    rows, tolls, folder = example
    found = truth(rows, tolls, DIALECTS["walmart"])
    given = from_lines((folder / "expected-walmart.dat").read_text().split(), "walmart")
    verdict = validate(found, given)
    assert verdict.valid, verdict


def test_the_dialects_reject_the_answers_of_each_other(example):
    rows, tolls, folder = example
    given = from_lines((folder / "expected-walmart.dat").read_text().split(), "walmart")
    assert not validate(truth(rows, tolls, DIALECTS["2004"]), given).valid


def crowd(time: int, cars: int, speed: int, seg: int = 10) -> list[str]:
    return [report(time, 1000 + i, seg, speed) for i in range(cars)]


@pytest.mark.parametrize(
    ("cars", "speed", "toll"), [(50, 30, 0), (51, 30, 2), (60, 39, 200), (60, 40, 0)]
)
def test_a_toll_needs_more_than_fifty_cars_slower_than_forty(cars, speed, toll):
    rows = rows_of(*crowd(5, cars, speed), report(65, 1, 10, 35))
    for dialect in DIALECTS.values():
        assert truth(rows, NO_HISTORY, dialect).tolls[1, 65] == (speed, toll)


def test_the_mean_of_means_is_truncated_or_all_are_rounded():
    rows = rows_of(*crowd(5, 2, 39), *crowd(65, 1, 41), report(125, 1, 10))
    assert truth(rows, NO_HISTORY, DIALECTS["2004"]).tolls[1, 125][0] == 40
    rows = rows_of(*crowd(5, 1, 39), report(8, 7, 10, 40), report(65, 1, 10))
    assert truth(rows, NO_HISTORY, DIALECTS["2004"]).tolls[1, 65][0] == 39
    assert truth(rows, NO_HISTORY, DIALECTS["walmart"]).tolls[1, 65][0] == 40


def stop(vid: int, first: int, times: int, lane: int = 2, pos: int = 70_000) -> list[str]:
    return [report(first + 30 * i, vid, 13, 0, lane, pos) for i in range(times)]


def test_two_cars_that_stop_at_one_place_are_an_accident_ahead_of_five_segments():
    cars = [report(185, 100 + seg, seg) for seg in range(7, 16)]
    rows = rows_of(
        *sorted([*stop(3, 40, 6), *stop(4, 45, 6), *cars], key=lambda s: int(s.split(",")[1]))
    )
    found = truth(rows, NO_HISTORY, DIALECTS["2004"]).accidents
    assert found == {(100 + seg, 185): 13 for seg in range(9, 14)}


@pytest.mark.parametrize(
    "others",
    [[], stop(4, 45, 3), stop(4, 45, 6, lane=3), stop(4, 45, 6, pos=70_001)],
    ids=["alone", "three reports", "another lane", "another place"],
)
def test_less_than_that_is_no_accident(others):
    lines = [*stop(3, 40, 6), *others, report(185, 1, 11)]
    rows = rows_of(*sorted(lines, key=lambda s: int(s.split(",")[1])))
    assert not truth(rows, NO_HISTORY, DIALECTS["2004"]).accidents


def test_an_accident_ends_with_the_minute_after_the_last_stop_or_with_the_first_that_moves():
    moving = [report(220, 3, 13, 15, 2, 70_300), report(225, 4, 13, 15, 2, 70_300)]
    lines = [*stop(3, 40, 6), *stop(4, 45, 6), *moving, report(250, 1, 10)]
    rows = rows_of(*sorted(lines, key=lambda s: int(s.split(",")[1])))
    assert (1, 250) in truth(rows, NO_HISTORY, DIALECTS["2004"]).accidents
    assert (1, 250) not in truth(rows, NO_HISTORY, DIALECTS["walmart"]).accidents


def test_a_toll_is_paid_at_the_next_segment_and_a_balance_may_be_a_minute_old():
    rows = rows_of(*crowd(5, 60, 30), report(65, 1, 10), report(95, 1, 10), report(125, 1, 11))
    found = truth(rows, NO_HISTORY, DIALECTS["2004"])
    assert [balance(found, 1, at) for at in (64, 124, 125)] == [0, 0, 200]
    assert is_balance(found, 1, 130, 130, 200)
    assert is_balance(found, 1, 130, 70, 0)
    assert not is_balance(found, 1, 130, 70, 200)
    assert not is_balance(found, 1, 190, 124, 0)


def test_an_exit_ramp_in_a_new_segment_is_paid_for_in_one_dialect():
    rows = rows_of(*crowd(5, 60, 30), report(65, 1, 10), report(95, 1, 11, lane=f.EXIT))
    assert balance(truth(rows, NO_HISTORY, DIALECTS["2004"]), 1, 95) == 0
    assert balance(truth(rows, NO_HISTORY, DIALECTS["walmart"]), 1, 95) == 200


# -- answers that are wrong -----------------------------------------------------------------------


def right_answers(found) -> list[Output]:
    tolls = [Output(TOLL, key, key[1], value) for key, value in found.tolls.items()]
    told = [Output(ACCIDENT, key, key[1], (seg,)) for key, seg in found.accidents.items()]
    asked = found.balances.items()
    paid = [Output(BALANCE, (q,), t, (t, balance(found, v, t))) for q, (t, v) in asked]
    return tolls + told + paid


def test_right_answers_are_valid(small):
    found = truth(small, NO_HISTORY, DIALECTS["2004"])
    assert validate(found, right_answers(found)).valid


def test_wrong_answers_are_rejected(small):
    found = truth(small, NO_HISTORY, DIALECTS["2004"])
    right = right_answers(found)
    for kind in (TOLL, ACCIDENT, BALANCE):
        at = next(i for i, one in enumerate(right) if one.kind == kind)
        one = right[at]
        wrong = replace(one, values=(*one.values[:-1], one.values[-1] + 1))
        cases = {
            "wrong": [*right[:at], wrong, *right[at + 1 :]],
            "missing": [*right[:at], *right[at + 1 :]],
            "twice": [*right, one],
            "late": [*right[:at], replace(one, delay=5.1), *right[at + 1 :]],
            "nothing calls for": [*right, replace(one, key=(10**6, *one.key[1:]))],
        }
        for word, given in cases.items():
            verdict = validate(found, given)
            assert len(verdict.faults) == 1, verdict
            assert word in next(iter(verdict.faults)), verdict


@pytest.mark.parametrize("item", ["", "<song/>", '<toll vid="1" time="2" lav="3"/>'])
def test_an_answer_of_another_form_is_an_error(item):
    with pytest.raises(ValueError, match="must"):
        from_element(item)


# -- the queries ----------------------------------------------------------------------------------


def answers(query: str, folder: Path, batch: int) -> list[str]:
    """What `watch` adds; nothing may be taken back."""
    changes = xsc.query((QUERIES / query).read_text()).watch(
        road=folder / ROAD, tolls=folder / TOLLS, past=folder / PAST, batch=batch
    )
    found = list(changes)
    assert all(change.diff > 0 for change in found)
    return [change.item for change in found]


QUERY = {"2004": "linear-road.xq", "walmart": "linear-road-walmart.xq"}


@pytest.mark.parametrize(("dialect", "batch"), [("2004", 97), ("2004", 1000), ("walmart", 500)])
def test_the_queries_answer_generated_input(tmp_path, dialect, batch):
    scale = replace(SMALL, halves=1, duration=400 if dialect == "2004" else 260)
    write(scale, tmp_path)
    rows = tuples(scale)
    found = truth(rows, read_tolls(tmp_path / TOLLS_CSV), DIALECTS[dialect], past(scale))
    verdict = validate(found, map(from_element, answers(QUERY[dialect], tmp_path, batch)))
    assert verdict.valid, verdict
    assert len(verdict.checked) == 5


@pytest.mark.parametrize("dialect", list(QUERY))
def test_the_queries_answer_the_worked_example(example, tmp_path, dialect):
    rows, tolls, _ = example
    put(rows, tmp_path)
    paid = (f'<paid vid="{v}" day="{d}" xway="{x}" toll="{t}"/>' for (v, d, x), t in tolls.items())
    (tmp_path / TOLLS).write_text(f"<tolls>{''.join(paid)}</tolls>")
    found = truth(rows, tolls, DIALECTS[dialect])
    verdict = validate(found, map(from_element, answers(QUERY[dialect], tmp_path, 10)))
    assert verdict.valid, verdict


def put(rows: f.Rows, folder: Path) -> None:
    (folder / ROAD).write_bytes(b"<road>\n" + f.xml_of(rows) + b"</road>\n")
    (folder / TOLLS).write_text("<tolls/>")
    (folder / PAST).write_text("<past/>")


@pytest.mark.parametrize("dialect", list(QUERY))
def test_tolls_and_balances_of_a_million_are_integers(tmp_path, dialect):
    asked = "2,130,1,-1,-1,-1,-1,-1,-1,7,-1,-1,-1,-1,-1"
    rows = rows_of(*crowd(5, 800, 20), report(65, 1, 10), report(125, 1, 11), asked)
    put(rows, tmp_path)
    found = truth(rows, NO_HISTORY, DIALECTS[dialect])
    assert balance(found, 1, 130) == 2 * 750**2
    verdict = validate(found, map(from_element, answers(QUERY[dialect], tmp_path, 100)))
    assert verdict.valid, verdict


def test_tuples_of_integers_are_read_through_a_mapping(tmp_path, small):
    """Events of one second may stand in any order, as the benchmark has it."""
    some = small[:2000]
    (tmp_path / "road.csv").write_bytes(f.csv_of(some))
    mapped = f"{QUERIES / 'linear-road.toml'}:{tmp_path / 'road.csv'}"
    (found,) = xsc.query((QUERIES / "from-csv.xq").read_text()).run(tuples=mapped).lines()
    elements = found.removeprefix("<road>").removesuffix("</road>").replace("/>", "/>\n")
    assert sorted(elements.splitlines()) == sorted(f.xml_of(some).decode().splitlines())
    assert np.array_equal(f.read_xml(elements.encode())[:, f.TIME], some[:, f.TIME])
