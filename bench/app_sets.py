"""The application sets of the W3C suite beside SaxonC-HE: many small programs, some recursive.

Each case is compiled and evaluated in one warm process, as `xstreamcast eval` does it from the
request to the answer; SaxonC-HE answers the same requests through the adapter of the suite's
runner. The cases and the runner are no part of the project: they are read where they are.
"""

from __future__ import annotations

import contextlib
import gc
import importlib.util
import io
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any, Final

SUITE: Final = Path(__file__).parents[2] / "shared" / "qt3"
FILES: Final = ("cases-open.jsonl", "cases-open-tier3.jsonl")
LARGEST: Final = 12

Request = dict[str, Any]
Answer = Callable[[Request], object]


def report(folder: Path, rounds: int, names: list[str]) -> int:
    """Measure all cases (or those whose name contains one of `names`) and print the sums."""
    if not all((folder / name).exists() for name in FILES):
        sys.stderr.write(f"the W3C cases are not here: {folder} has no {' and '.join(FILES)}\n")
        return 1
    cases = _cases(folder, names)
    if not cases:
        sys.stderr.write(f"no case of the application sets has {' or '.join(names)} in its name\n")
        return 1
    mine, theirs = _measured(_requests(folder, cases), _saxon(folder), rounds)
    sys.stdout.write(f"{'case':<56} {'ours ms':>9} {'SaxonC ms':>9}\n")
    for i in sorted(range(len(cases)), key=lambda i: -mine[i])[:LARGEST]:
        shown = f"{cases[i]['set']} {cases[i]['name']}"
        sys.stdout.write(f"{shown:<56} {1e3 * mine[i]:>9.1f} {1e3 * theirs[i]:>9.1f}\n")
    ours, peer = sum(mine), sum(theirs)
    said = f"{len(cases)} cases, sums of the medians of {rounds} rounds, processor time: "
    sys.stdout.write(said + f"ours {ours:.2f} s, SaxonC-HE {peer:.2f} s, {ours / peer:.2f} times\n")
    return 0


def _cases(folder: Path, names: list[str]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for name in FILES:
        with (folder / name).open(encoding="utf-8") as lines:
            found += [case for case in map(json.loads, lines) if case["set"].startswith("app-")]
    return [case for case in found if not names or any(one in case["name"] for one in names)]


def _requests(folder: Path, cases: list[dict[str, Any]]) -> list[Request]:
    runner = _loaded(folder / "run.py")
    return [runner.request(i, case, str(folder / "data")) for i, case in enumerate(cases)]


def _saxon(folder: Path) -> Answer:
    adapter = _loaded(folder / "adapters" / "saxon_adapter.py")

    def answer(request: Request) -> object:
        try:
            return adapter.request(request)
        except adapter.QueryError as refused:  # an error is an answer too
            return refused

    return answer


def _loaded(path: Path) -> Any:
    """A file of the suite as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _measured(
    requests: list[Request], peer: Answer, rounds: int
) -> tuple[list[float], list[float]]:
    """Seconds for each case, by both: the medians of rounds that take turns, after one unmeasured.

    One process serves all rounds, as a process that answers requests does. A query is not asked
    twice in the same words, since the programs of the last thousand are kept.
    """
    from xstreamcast.cli.eval import lines, serve
    from xstreamcast.evaluate.deep import deep

    mine: list[list[float]] = [[] for _ in requests]
    theirs: list[list[float]] = [[] for _ in requests]

    def asked() -> Iterator[str]:
        for turn in range(rounds + 1):
            gc.collect()
            texts = [json.dumps(one | {"query": one["query"] + " " * turn}) for one in requests]
            for text, spent in zip(texts, mine, strict=True):
                begin = time.process_time()
                yield text
                spent.append(time.process_time() - begin)
            gc.collect()
            for one, spent in zip(requests, theirs, strict=True):
                begin = time.process_time()
                peer(one)
                spent.append(time.process_time() - begin)

    os.environ["QTTEST"] = "42"  # which the cases expect
    with contextlib.redirect_stderr(io.StringIO()):  # what `trace` says
        deep(lambda: serve(lines(asked()), lambda _: None, lambda: None))
    return [median(one[1:]) for one in mine], [median(one[1:]) for one in theirs]
