"""Each option of `watch` means on Spark what it means in one process, on the same arrivals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.spark.feeds import HEAD, STRUCTURE, fragments
from tests.spark.watched import Left, locally, same

pytest.importorskip("pyspark", reason="the spark extra is not installed")

from xstreamcast import Error
from xstreamcast.cli.main import main

pytestmark = pytest.mark.spark
WIRE = (HEAD + STRUCTURE + "".join(fragments(40))).encode()
BIG = """for $a in stream("credit")//account
where $a/limit?[now] > 5000 return <a>{$a/@no, $a/limit?[now]/text()}</a>"""
DAY = 86_400 * 10**6


def test_late_and_early_fragments(spark: Any) -> None:
    for limits in ({"lateness": 90 * DAY}, {"skew": 60 * DAY}):
        expected, refused = locally(BIG, inputs={"credit": WIRE}, **limits)
        left = Left(spark, BIG, credit=WIRE, max_per_batch=20, **limits)
        assert left.ended() == expected
        assert [one[:2] for one in left.refused] == [one[:2] for one in refused]
        assert len(refused) > 3  # their instants stand in them as a table has them


def test_what_is_not_to_be_revised(spark: Any) -> None:
    answer = same(spark, BIG, inputs={"credit": WIRE}, most=15, immutable=("//limit",))
    assert answer != same(spark, BIG, inputs={"credit": WIRE})


def test_declared_streams_and_variables(spark: Any, tmp_path: Path) -> None:
    asked = f"""declare variable $least as xs:integer external;
    declare variable $names external;
    declare stream big := {BIG.replace("5000", "$least")};
    declare stream small := stream("credit")//account[limit?[now] < 3000];
    for $n in $names//n[@no = stream("big")/answer/a/@no] return $n"""
    names = tmp_path / "names.xml"
    names.write_text("<names>" + "".join(f'<n no="{i}"/>' for i in range(10)) + "</names>")
    inputs = {"credit": WIRE, "names": names, "least": 4000}
    told = same(spark, asked, inputs=inputs, most=20, policy="strict")
    assert told
    assert same(spark, asked, inputs=inputs, tell="small")


def test_the_end_of_what_is_broken(spark: Any, tmp_path: Path) -> None:
    """What is malformed, an unfinished end, no structure at all."""
    broken = WIRE + b'<stream:filler id="l1" tsid="9"/><stream:filler id="l1" tsid="3"><limit>'
    same(spark, BIG, inputs={"credit": broken})
    with pytest.raises(Error, match="XSCF0003"):
        Left(spark, BIG, credit=broken, on_error="stop").ended()


@pytest.mark.parametrize("form", ["changes", "xml", "events"])
def test_a_command_and_its_formats(spark: Any, tmp_path: Path, form: str) -> None:
    feed, out = tmp_path / "credit.xml", tmp_path / "out"
    feed.write_bytes(WIRE + b'<stream:filler id="l1" tsid="9"/>')
    words = ["watch", "-q", BIG, "-i", f"credit={feed}", "--format", form, "-o", str(out)]
    told = []
    for runner in ("spark", "local"):
        kept = tmp_path / f"refused-{runner}"
        # in one partition keys are those of the local runner
        more = ["--runner", runner, "--quarantine", str(kept), "--batch", "100"]
        more += ["--partitions", "1"] if runner == "spark" else []
        assert main([*words, *more]) == 0
        told.append((out.read_text(), kept.read_bytes().splitlines()[1:]))
    assert told[0] == told[1]
    assert told[0][0].strip()
