"""Linear Road: the driver that plays its input, the view of the road, the page of figures."""

from __future__ import annotations

import argparse
import io
import json
from dataclasses import replace

import pytest

from bench.linear_road import add_arguments, main
from bench.linear_road.dialect import DIALECTS
from bench.linear_road.driver import QUERIES, SAMPLES, Driver, seconds
from bench.linear_road.files import ROAD, TOLLS_CSV, read_tolls, write
from bench.linear_road.outputs import ACCIDENT, TOLL, Output
from bench.linear_road.page import write_page
from bench.linear_road.rules import truth
from bench.linear_road.segment_history import past
from bench.linear_road.validator import validate
from bench.linear_road.view import View
from tests.bench.test_linear_road import SMALL, report, rows_of, tuples
from xstreamcast.errors import Error


def test_the_driver_plays_by_the_clock_and_measures(tmp_path):
    scale = replace(SMALL, halves=1, duration=60)
    written = write(scale, tmp_path)
    seen: list[int] = []
    memory = tmp_path / "memory.csv"
    driver = Driver(tmp_path, QUERIES / "linear-road.xq", speed=30.0, memory=memory)
    driver.on_second = lambda second, _: seen.append(second)
    played = driver.play()
    assert (played.tuples, played.retracted) == (written, 0)
    assert seen == [second for second, _ in seconds(tmp_path / ROAD)]
    assert played.elapsed >= 60 / 30
    assert all(one.delay >= 0 for one in played.outputs)
    assert max(one.delay for one in played.outputs) > 0
    assert {one.second for one in played.samples}
    assert memory.read_text() == SAMPLES + "".join(map(str, played.samples))
    found = truth(tuples(scale), read_tolls(tmp_path / TOLLS_CSV), DIALECTS["2004"], past(scale))
    on_time = [replace(one, delay=0.0) for one in played.outputs]  # the machine may be busy
    assert validate(found, on_time).valid


@pytest.mark.parametrize("stays", [False, True], ids=["snapshot", "the same process"])
def test_the_driver_goes_on_by_the_clock_from_a_prepared_state(tmp_path, stays):
    scale = replace(SMALL, halves=1, duration=180)
    written = write(scale, tmp_path)
    seen: list[int] = []
    memory = tmp_path / "memory.csv"
    driver = Driver(
        tmp_path, QUERIES / "linear-road.xq", 30.0, memory=memory, prepared=2, stays=stays
    )
    driver.on_second = lambda second, _: seen.append(second)
    played = driver.play()
    assert (played.tuples, played.retracted, played.prepared) == (written, 0, 2)
    assert seen == [second for second, _ in seconds(tmp_path / ROAD)]
    assert played.elapsed >= 60 / 30
    assert played.restart > 0
    assert all(one.delay == 0 for one in played.outputs if one.time < 120)
    assert min(played.by_second) >= 120
    assert max(played.by_second.values()) > 0
    assert memory.read_text() == SAMPLES + "".join(map(str, played.samples))
    found = truth(tuples(scale), read_tolls(tmp_path / TOLLS_CSV), DIALECTS["2004"], past(scale))
    on_time = [replace(one, delay=0.0) for one in played.outputs]  # the machine may be busy
    assert validate(found, on_time).valid


def test_the_driver_says_which_answer_it_does_not_know(tmp_path):
    write(replace(SMALL, halves=1, duration=20), tmp_path)
    query = tmp_path / "wrong.xq"
    query.write_text('for $r in stream("road")/road/report return <song/>')
    with pytest.raises(ValueError, match="must be one of toll"):
        Driver(tmp_path, query).play()


def test_a_view_draws_tolls_and_accidents():
    out = io.StringIO()
    view = View(out)
    view.on_reports(rows_of(report(10, 1, 5), report(11, 2, 7)))
    view.on_output(Output(TOLL, (1, 10), 10, (30, 9999), delay=1.25))
    view.on_output(Output(ACCIDENT, (2, 11), 11, (8,)))
    view.on_second(12)
    title, east, west, _, counts = out.getvalue().splitlines()
    assert "0:00:12" in title
    assert "1.25 s" in title
    assert east == "east →  " + "     █  X" + " " * 91
    assert west.strip() == "west ←"
    assert counts == "1 toll, 1 accident"


def test_a_page_is_made_of_plays(tmp_path):
    pytest.importorskip("matplotlib")
    play = {
        "scale": 0.5, "duration": 60, "speed": 2.0, "tuples": 100, "answers": 9, "processor": 2.0,
        "delays": [[0, 0.5], [1, 0.75]], "samples": [[0.0, 0, 2**20, 0.1]], "verdict": "yes",
    }  # fmt: skip
    kept, page = tmp_path / "play.json", tmp_path / "page.md"
    kept.write_text(json.dumps(play))
    write_page([kept], page)
    assert "| 0.5 | local | 60 | 2 × | 100 | 9 | 2 | 50 | 0.75 | 1 | yes |" in page.read_text()
    page.write_text(page.read_text() + "Remarks stay.\n")
    write_page([kept], page)
    assert page.read_text().endswith("Remarks stay.\n")
    assert (tmp_path / "page.svg").stat().st_size > 1000


def test_the_command_generates_plays_and_validates(tmp_path, capsys):
    given = ["--scale", "0.5", "--duration", "90", "--segments", "10", "--folder", str(tmp_path)]
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    assert main(parser.parse_args([*given, "--generate"])) == 0
    assert main(parser.parse_args([*given, "--json", str(tmp_path / "play.json")])) == 0
    assert "valid: " in capsys.readouterr().out
    assert json.loads((tmp_path / "play.json").read_text())["verdict"] == "yes"
    with pytest.raises(SystemExit):
        parser.parse_args(["--scale", "0.7"])
    with pytest.raises(Error, match="--prepare must leave something to play"):
        main(parser.parse_args([*given, "--prepare", "2", "--speed", "1"]))
    with pytest.raises(Error, match="--partitions needs --runner spark"):
        main(parser.parse_args([*given, "--partitions", "2"]))
