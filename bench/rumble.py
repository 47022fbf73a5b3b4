"""RumbleDB as a peer: kept in an environment of its own, asked what it can manage in time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import bench
from bench.kept import CHECKOUT
from bench.queries import Query
from bench.spark_answers import digest, over_file, values
from bench.talking import Broken, said
from xstreamcast.api import query as compiled

VERSION = "3.0.2"
LOST = 3  # in a row
START = 120.0  # seconds that it may take to start
# It compares one value at a time in a predicate (XPTY0004 on several authors), but not in `where`.
REWORDED = {"p8": 'for $d in //inproceedings where $d/author = "John Smith" return $d/title'}
_SETTINGS = {
    "spark.driver.memory": "6g",
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.log.level": "OFF",
}


@dataclass(slots=True)
class Rumbled:
    """What it took over a document of that size, or why there is nothing to tell."""

    factor: float
    seconds: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)
    equal: bool | None = None  # to what our run says without Spark, over the same document
    failed: str = ""


def environment() -> Path | str:
    """The Python of its environment, made if it is not there; or why it cannot be."""
    folder = bench.cache_folder() / f"rumble-{VERSION}"
    python, ready = folder / "bin" / "python", folder / "ready"
    if ready.exists():
        return python
    sys.stderr.write(f"RumbleDB {VERSION} is being installed in {folder}\n")
    made = _made([sys.executable, "-m", "venv", "--clear", str(folder)])
    made = made or _made([str(python), "-m", "pip", "install", "-q", f"jsoniq=={VERSION}"])
    if made:
        return f"it could not be installed: {made}"
    ready.touch()
    return python


def _made(words: list[str]) -> str:
    """Why a command failed, in its last line; nothing if it did not."""
    done = subprocess.run(words, capture_output=True, text=True)
    told = (done.stderr or done.stdout).strip().splitlines()
    return "" if done.returncode == 0 else (told[-1] if told else f"exit {done.returncode}")


def java() -> dict[str, str]:
    """Where Java is, as for ours; RumbleDB looks for it on the path."""
    from xstreamcast.spark.java import find_java

    home = Path(find_java().path).resolve().parents[1]
    return {"JAVA_HOME": str(home), "PATH": f"{home}/bin{os.pathsep}{os.environ['PATH']}"}


def asked(
    python: Path, queries: list[Query], factor: float, rounds: int, patience: float, warm: float
) -> Iterator[tuple[str, Rumbled]]:
    """Queries over documents of one size as they are answered; a process that is lost is replaced.

    When some in a row were too much, the others are not asked: all have to read the document.
    """
    left, lost = list(queries), 0
    while left and lost < LOST:
        begun = left[0]
        try:
            words = _words(python, left, factor, rounds, warm)
            for line in said(words, _wait(patience, rounds), _env()):
                begun = next(one for one in left if one.name == line["query"])
                if "begun" not in line:
                    left.remove(begun)
                    lost = 0
                    yield begun.name, _rumbled(line, begun, factor)
        except Broken as broken:
            left.remove(begun)
            lost += 1
            yield begun.name, Rumbled(factor, failed=str(broken))
    for one in left:
        yield one.name, Rumbled(factor, failed=f"not asked, after {LOST} that were too much")


def _wait(patience: float, rounds: int) -> float:
    return max(START, patience * max(1, rounds))


def _env() -> dict[str, str]:
    own = {name: value for name, value in os.environ.items() if name != "SPARK_HOME"}
    return own | java() | {"PYTHONPATH": str(CHECKOUT), "SPARK_LOCAL_IP": "127.0.0.1"}


def _words(
    python: Path, queries: list[Query], factor: float, rounds: int, warm: float
) -> list[str]:
    worded = [replace(one, text=REWORDED.get(one.name, one.text)) for one in queries]
    told = {
        one.name: [over_file(one, str(bench.data(one.kind, size))) for size in (warm, factor)]
        for one in worded
    }
    asking = {"cores": 2, "settings": _SETTINGS, "rounds": max(1, rounds), "queries": told}
    return [str(python), str(CHECKOUT / "bench" / "rumble_session.py"), json.dumps(asking)]


def _rumbled(line: dict[str, Any], query: Query, factor: float) -> Rumbled:
    if "failed" in line:
        return Rumbled(factor, failed=line["failed"])
    mine = compiled(query.text).run(bench.data(query.kind, factor)).lines()
    equal = digest(values(query.name, list(mine))) == digest(values(query.name, line["items"]))
    return Rumbled(factor, line["seconds"], line["processor"], equal)
