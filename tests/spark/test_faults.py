"""What a person sees when something goes wrong on Spark: a sentence, and what comes next."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.spark.feeds import HEAD, STRUCTURE, write_feed
from xstreamcast import query
from xstreamcast.errors import Error, InputError, QueryError, UsageError
from xstreamcast.model.change import Accumulated

pytest.importorskip("pyspark", reason="the spark extra is not installed")

from xstreamcast.spark.failing import failure
from xstreamcast.spark.master import check_master, is_here, is_local
from xstreamcast.spark.muffled import Muffled
from xstreamcast.spark.watching.run import Running

pytestmark = pytest.mark.spark
QUERY = 'stream("credit")//account[limit?[now] > 4000]/@no'
FRAGMENT = '<stream:filler id="l1" tsid="3" validTime="{}"><limit>{}</limit></stream:filler>\n'


def started(spark: Any, folder: Path, text: str = QUERY, **more: Any) -> tuple[Running, list[Any]]:
    told: list[Any] = []

    def write(epoch: int, changes: list[Any]) -> None:
        told.extend(change for _, change in changes)

    words = {"credit": folder / "feed", "checkpoint": str(folder / "cp"), **more}
    return query(text).spark(spark).start(write, max_per_batch=40, **words), told


# -- addresses ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "master",
    ["nonsense", "spark:/x:1", "spark://host", "spark://host:port", "local[x]", "http://host:80"],
)
def test_what_is_no_address(master: str) -> None:
    with pytest.raises(UsageError, match="XSCU0001"):
        check_master(master)


def test_an_address_where_nobody_listens() -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        at = f"spark://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(UsageError, match=f"no Spark answers at {at}: .*connection refused"):
            check_master(at)
        silent.listen()
        check_master(at)
        check_master(f"spark://127.0.0.1:1,{at.removeprefix('spark://')}")


def test_whose_machine_it_is() -> None:
    assert is_local(None)
    assert is_local("local[2,3]")
    assert is_here("spark://127.0.0.1:7077")
    assert is_here("spark://localhost:7077")
    assert not is_here("spark://cluster:7077")
    assert not is_here("spark://localhost:7077,other:7077")


# -- words ----------------------------------------------------------------------------------------


def test_an_error_of_ours_comes_back_from_a_task_as_it_was() -> None:
    said = "Traceback …\n  File x\nxstreamcast.errors.InputError: XSCF0003: no such tag\n\tat java"
    made = failure(RuntimeError(said))
    assert (type(made), made.code, made.message) == (InputError, "XSCF0003", "no such tag")


def test_what_java_says_becomes_its_sentence() -> None:
    said = 'Exception in thread "main" org.apache.spark.SparkException: It is closed.\n\tat a.b(c)'
    made = failure(RuntimeError("[JAVA_GATEWAY_EXITED] Java gateway process exited"), said)
    assert (made.code, made.message) == ("XSCK0001", "It is closed.")


def test_a_full_disk_has_a_name() -> None:
    made = failure(RuntimeError("java.io.IOException: /mnt/cp/offsets/1: No space left on device"))
    assert (made.code, made.message) == (
        "XSCU0004", "/mnt/cp/offsets/1 does not fit: no space left on device"
    )  # fmt: skip


def test_what_is_said_while_starting_is_kept_and_passed_on_later(
    capfd: pytest.CaptureFixture[str],
) -> None:
    said = Muffled()
    with pytest.raises(subprocess.CalledProcessError), said:
        subprocess.run(["sh", "-c", "echo why >&2; exit 1"], check=True)
    assert said.text == "why\n"
    assert capfd.readouterr().err == ""
    with Muffled():
        child = subprocess.Popen(["sh", "-c", "read go; echo later >&2"], stdin=subprocess.PIPE)
    child.communicate(b"go\n")
    seen = ""
    while "later" not in seen:
        seen += capfd.readouterr().err
    assert seen == "later\n"


def test_without_the_extra_it_says_how_to_get_it(tmp_path: Path) -> None:
    feed = write_feed(tmp_path / "feed", 8)
    script = "import sys; sys.modules['pyspark'] = None\n"
    script += "from xstreamcast.cli.main import main; sys.exit(main(sys.argv[1:]))"
    words = ["run", "-q", QUERY, "-i", f"credit={feed}", "--runner", "spark"]
    done = subprocess.run([sys.executable, "-c", script, *words], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-2:] == [
        "error[XSCU0006]: Spark is not installed", "hint: pip install 'xstreamcast[spark]'"
    ]  # fmt: skip


# -- fragments ------------------------------------------------------------------------------------


def poisoned(folder: Path, fragment: str) -> None:
    folder.mkdir(exist_ok=True)
    write_feed(folder / "feed", 80)
    (folder / "feed" / "zzz.xml").write_text(f"{HEAD}{fragment}</stream:fragments>\n")


def test_a_fragment_that_does_not_fit_is_kept_apart_or_stops(spark: Any, tmp_path: Path) -> None:
    poisoned(tmp_path, FRAGMENT.format("tomorrow", 1))
    running, told = started(spark, tmp_path)
    assert running.awaitTermination(300)
    assert [one.fragment for one in running.totals.refused] == ["l1"]
    os.remove(tmp_path / "feed" / "zzz.xml")
    expected = list(query(QUERY).run(credit=tmp_path / "feed").lines())
    assert Accumulated(told).items() == expected
    poisoned(tmp_path / "again", FRAGMENT.format("tomorrow", 1))
    running = started(spark, tmp_path / "again", on_error="stop")[0]
    with pytest.raises(InputError, match=r"XSCF0006.*l1"):
        running.awaitTermination(300)


def test_a_value_that_the_query_cannot_bear(spark: Any, tmp_path: Path) -> None:
    asked = 'for $l in stream("credit")//limit?[now] return xs:integer($l) + 1'
    poisoned(tmp_path, FRAGMENT.format("2009-01-01", "much"))
    for _ in range(2):  # and again, when it is started again
        running = started(spark, tmp_path, asked)[0]
        with pytest.raises(QueryError, match="much") as caught:
            running.awaitTermination(300)
        assert caught.value.code == "FORG0001"
        assert caught.value.place is not None


def test_an_input_that_goes_away_while_it_is_followed(spark: Any, tmp_path: Path) -> None:
    feed = write_feed(tmp_path / "feed", 80)
    running, told = started(spark, tmp_path, follow=True)
    running.query.processAllAvailable()
    assert told
    shutil.rmtree(feed)
    with pytest.raises(Error, match=str(feed)) as caught:
        running.awaitTermination(300)
    assert caught.value.code == "XSCU0003"


# -- checkpoints ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def begun(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A query that has read what there was."""
    folder = tmp_path_factory.mktemp("begun")
    write_feed(folder / "feed", 80)
    assert started(spark, folder)[0].awaitTermination(300)
    return folder


@pytest.mark.parametrize(
    ("more", "named"),
    [
        ({"policy": "strict"}, "another policy: optimistic, not strict"),
        ({"clock": "wall"}, "another clock"),
        ({"lateness": 5}, "another lateness"),
        ({"immutable": ("//account",)}, "another immutable"),
        ({"credit": Path("/elsewhere")}, "another input"),
        ({"text": QUERY + "[1]"}, "another query"),
    ],
)
def test_a_checkpoint_knows_how_it_was_begun(
    spark: Any, begun: Path, more: dict[str, Any], named: str
) -> None:
    with pytest.raises(UsageError, match=named):
        started(spark, begun, **more)


def _other_version(folder: Path) -> None:
    told = json.loads((folder / "query").read_text())
    (folder / "query").write_text(json.dumps({**told, "version": "0.0.1"}))


def _garbled(pattern: str) -> Callable[[Path], None]:
    def garble(folder: Path) -> None:
        found = [path for path in folder.rglob(pattern) if path.is_file()]
        assert found, "nothing to damage"
        for path in found:
            path.write_bytes(b"garbage")

    return garble


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (_other_version, "another version: 0.0.1"),
        (_garbled("query"), "is not one of Spark's"),
        (lambda folder: (folder / "reached").write_text("[7"), "damaged: .*reached"),
        (_garbled("offsets/[0-9]*"), "the checkpoint is damaged: .*offsets"),
        (_garbled("metadata"), "the checkpoint is damaged: .*metadata"),
        (_garbled("state/0/*/*.*"), "the checkpoint is damaged"),
    ],
    ids=["version", "query", "reached", "offsets", "metadata", "state"],
)
def test_a_damaged_checkpoint(
    spark: Any, begun: Path, tmp_path: Path, damage: Callable[[Path], None], said: str
) -> None:
    shutil.copytree(begun / "cp", tmp_path / "cp")
    shutil.copytree(begun / "feed", tmp_path / "feed")
    told = json.loads((tmp_path / "cp" / "query").read_text())
    told["input"] = [["credit", str(tmp_path / "feed")]]
    (tmp_path / "cp" / "query").write_text(json.dumps(told))
    shutil.rmtree(tmp_path / "cp" / "reached", ignore_errors=True)
    damage(tmp_path / "cp")
    late = f"{HEAD}{STRUCTURE}{FRAGMENT.format('2010-01-01', 9000)}</stream:fragments>\n"
    (tmp_path / "feed" / "zzz.xml").write_text(late)
    with pytest.raises(UsageError, match=said) as caught:
        started(spark, tmp_path)[0].awaitTermination(300)
    assert "\tat " not in caught.value.render()
