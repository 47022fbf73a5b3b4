"""What a command imports before it begins: nothing heavy that it can do without."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from bench.start import DOCUMENT, FRAGMENTS, processor_seconds, starts
from xstreamcast.kernels.ahead import stamps

COMPILERS = {"numba", "llvmlite"}
HEAVY = {"pyspark", "py4j", "pyarrow", "pandas", "matplotlib", "saxonche", "lxml", "deltalake"}
SLOW = {"email", "ssl", "urllib.request", "importlib.metadata", "asyncio", "multiprocessing"}
LANGUAGE = {"xstreamcast.syntax", "xstreamcast.algebra", "xstreamcast.tape", "numpy"}
RUNNING = {"xstreamcast.operators", "xstreamcast.live"}

ahead = pytest.mark.skipif(not stamps.levels(), reason="no library is made for this machine")


def imported(code: str, *words: str) -> set[str]:
    """The modules of a process that ran some code; `words` are its command line."""
    tail = "\nprint('', *sorted(sys.modules), sep='\\n')"
    done = subprocess.run(
        [sys.executable, "-c", f"import sys\n{code}{tail}", *words], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert not done.stderr.startswith("compiling"), "run make install: a kernel was not ahead"
    return set(done.stdout.split("\n"))


COMMAND = "from xstreamcast.cli.main import main\nassert main(sys.argv[1:]) == 0"


def test_importing_the_package_imports_nothing_heavy() -> None:
    assert not imported("import xstreamcast") & (COMPILERS | HEAVY | SLOW | LANGUAGE | RUNNING)


@pytest.mark.parametrize("words", [("--help",), ("run", "--help"), ("watch", "--help")])
def test_help_needs_no_language(words: tuple[str, ...]) -> None:
    assert not imported(COMMAND, *words) & (COMPILERS | HEAVY | SLOW | LANGUAGE | RUNNING)


@ahead
def test_a_query_needs_no_compiler_and_nothing_that_is_left_running(tmp_path: Path) -> None:
    document = tmp_path / "feed.xml"
    document.write_text(DOCUMENT)
    found = imported(COMMAND, "run", "-q", "sum(//b)", "-i", str(document))
    assert not found & (COMPILERS | HEAVY | SLOW | RUNNING)


@ahead
def test_a_stream_needs_no_compiler(tmp_path: Path) -> None:
    fragments = tmp_path / "credit.xml"
    fragments.write_text(FRAGMENTS)
    words = ("-q", 'stream("credit")//limit?[now]', "-i", f"credit={fragments}")
    assert not imported(COMMAND, "run", *words) & (COMPILERS | HEAVY | SLOW | RUNNING)
    assert not imported(COMMAND, "watch", *words) & (COMPILERS | HEAVY | SLOW)


def test_a_table_without_spark_needs_arrow_alone(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    fragments = tmp_path / "credit.xml"
    fragments.write_text(FRAGMENTS)
    words = (str(fragments), "--table", str(tmp_path / "table"), "--runner", "local")
    assert not imported(COMMAND, "ingest", *words) & {"pyspark", "py4j"}


def test_the_benchmark_measures_what_it_says(tmp_path: Path) -> None:
    limits = {one.title: one.limit for one in starts(tmp_path)}
    assert limits["--help"] == 0.1
    assert limits["run, a document"] == 0.4
    assert limits["watch, to the first change"] == 0.6
    busy = (sys.executable, "-c", "for i in range(10**7): pass")
    idle = (sys.executable, "-c", "import time; time.sleep(0.3)")
    assert processor_seconds(idle) < processor_seconds(busy)
    with pytest.raises(RuntimeError, match="failed"):
        processor_seconds((sys.executable, "-c", "1 / 0"))
