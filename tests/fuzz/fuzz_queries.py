"""Queries by grammar over generated streams, compared with SaxonC-HE, once and left running.

A third of the streams nests what has a lifespan, a third is two streams as people have them, and a
sixth is about instants: these are compared with `run` after each of some arrivals, too. All are
left running a second time with a lateness, where all that may be forgotten is forgotten at
once, and a third time with a checkpoint, where the query starts again in the middle.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings

import xstreamcast as xsc
from tests.fuzz.clock_cases import ClockCase, clock_case
from tests.fuzz.target import Check, Finding, plain_errors
from tests.fuzz.timed_cases import timed_cases
from tests.fuzz.wide_clauses import wide_case
from tests.operators.test_released_ids import forgetting_at_once, lateness
from tests.operators.watched import Watched
from tests.oracle import STRATEGIES, answer, canonical
from tests.streams_strategies import Case, cases
from xstreamcast.edges.watching import WatchOptions
from xstreamcast.edges.watching.run import Watching
from xstreamcast.errors import Error
from xstreamcast.model.change import Accumulated, Change

Wires = Mapping[str, Any]  # what arrives, by the name of its stream


def begin(folder: Path) -> Check:
    """Every strategy, and `watch`, answers as Saxon does."""
    pytest.importorskip("saxonche")

    def check(chance: random.Random) -> None:
        if chance.random() < 0.17:
            timed = clock_case(chance)
            for query in timed.queries:
                check_prefixes(query, timed, chance)
                wires = timed.wires(query, len(timed.arrivals))
                check_query(query, query, wires, folder, chance)
        elif chance.random() < 0.4:
            wide = wide_case(chance)
            for query, plain in wide.queries:
                check_query(query, plain, wide.wires(), folder, chance)
        else:
            for case in _drawn(chance)[1:]:  # the first is the smallest there is
                for query in case.queries:
                    check_query(query, query, {"s": case.wire}, folder, chance)

    return check


def _drawn(chance: random.Random) -> list[Case]:
    found: list[Case] = []

    @seed(chance.getrandbits(64))
    @settings(
        max_examples=3, database=None, phases=[Phase.generate], deadline=None,
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(timed_cases() if chance.random() < 0.5 else cases())
    def drawn(case: Case) -> None:
        found.append(case)

    drawn()
    return found


def check_prefixes(query: str, case: ClockCase, chance: random.Random) -> None:
    """After each of some arrivals the query left running has the answer of `run` over them."""
    arrivals = case.read_by(query)
    running = Watched(query, dict.fromkeys({name for name, _ in arrivals}, "fragments"))
    stop = chance.randrange(len(arrivals))
    for number, (name, line) in enumerate(arrivals):
        if number == stop:
            running.restart()
        try:
            running.feed(name, line.encode())
            wires: dict[str, Any] = dict(case.wires(query, number + 1))
            if len(wires) < len(running.kinds) or chance.random() < 0.7:
                continue
            once = list(xsc.query(query).run(**wires).lines())
        except Error as refused:
            if refused.code.startswith("XSC"):
                raise Finding(f"{refused.code} {refused}", (query, arrivals)) from refused
            continue
        if running.told.items() != once:
            told = f"watch gives {running.told.items()}, run {once}, after {number + 1}"
            raise Finding(told, (query, arrivals))


def check_query(query: str, plain: str, wires: Wires, folder: Path, chance: random.Random) -> None:
    case = (query, dict(wires))
    try:
        expected = answer(plain, wires)
    except Exception:  # Saxon refuses it: so may we
        with plain_errors(case):
            list(xsc.query(query).run(**wires).lines())
        return
    try:
        _compare(query, wires, expected, folder, chance)
    except Error as refused:
        raise Finding(f"{refused.code} {refused}; Saxon gives {expected}", case) from refused


def _compare(
    query: str, wires: Wires, expected: list[str], folder: Path, chance: random.Random
) -> None:
    case = (query, dict(wires))
    for strategy in STRATEGIES if "declare stream" not in query else ():
        found = xsc.query(query).run(**wires, strategy=strategy).lines()
        if [canonical(one) for one in found] != expected:
            raise Finding(f"{strategy} is not {expected}", case)
    ways = {
        "watch": lambda: _told(xsc.query(query).watch(**wires, batch=chance.choice((1, 2, 5)))),
        "forgetting": lambda: _forgetting(query, wires),
        "a restart": lambda: _restarted(query, wires, folder, chance),
    }
    for way, ask in ways.items():
        try:
            left = ask()
        except Error as refused:
            if not _fails_on_the_way(query, wires, refused):
                raise
            continue
        if left != expected:
            raise Finding(f"{way} gives {left}, not {expected}", case)


def _fails_on_the_way(query: str, wires: Wires, refused: Error) -> bool:
    """Whether the query fails so over a part of what arrives, by the rules of XQuery."""
    if refused.code.startswith("XSC") or len(wires) > 1:
        return not refused.code.startswith("XSC")
    lines = wires["s"].split(b"\n")
    for last in range(2, len(lines) + 1):
        try:
            list(xsc.query(query).run(s=b"\n".join(lines[:last])).lines())
        except Error as found:
            if found.code == refused.code:
                return True
    return False


def _told(changes: Iterable[Change]) -> list[str]:
    told = Accumulated()
    for change in changes:
        told.apply(change)
    return [canonical(one) for one in told.items()]


def _forgetting(query: str, wires: Wires) -> list[str]:
    """The answer of a running query that forgets all it may."""
    pieces = {
        name: iter([line + b"\n" for line in wire.split(b"\n")]) for name, wire in wires.items()
    }
    late = None if len(wires) > 1 else max(map(lateness, wires.values()))
    with forgetting_at_once():
        watching: Watching = xsc.query(query).watching(
            None, pieces, WatchOptions(batch=1, lateness=late)
        )
        return _told(change for changes in watching.ticks() for change in changes)


def _stopped(query: str, wires: Wires, place: Path, ticks: int) -> list[str]:
    """The answer of a query that is stopped after some ticks and started again.

    A file that has grown is read twice: what a `repeat` corrected in it would count again.
    """
    files, sink = {name: place / f"{name}.xml" for name in wires}, list[Change]()
    for name, file in files.items():
        file.write_bytes(wires[name])
    options = WatchOptions(batch=2, checkpoint=str(place / "kept"), snapshot_every=1)
    for last in (False, True):
        watching: Watching = xsc.query(query).watching(None, files, options)
        watching.sink = sink.__len__
        assert watching.journal is not None
        del sink[watching.journal.sink :]
        with closing(watching.ticks()) as batches:
            for changes in batches:
                sink.extend(changes)
                if not last and watching.ticked >= ticks:
                    break
        watching.close()
    return _told(sink)


def _restarted(query: str, wires: Wires, folder: Path, chance: random.Random) -> list[str]:
    """The answer of a query that is started again behind some lines."""
    place = folder / "restarted"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    if any(b"<stream:repeat" in wire for wire in wires.values()):
        return _stopped(query, wires, place, chance.randint(1, 12))
    lines = {name: wire.split(b"\n") for name, wire in wires.items()}
    cut = {name: chance.randint(2, len(found)) for name, found in lines.items()}
    options = WatchOptions(batch=2, checkpoint=str(place / "kept"), snapshot_every=1)
    told = Accumulated()
    for whole in (False, True):
        for name, found in lines.items():
            text = b"\n".join(found[: None if whole else cut[name]]) + b"\n"
            (place / f"{name}.xml").write_bytes(text)
        files = {name: place / f"{name}.xml" for name in lines}
        watching: Watching = xsc.query(query).watching(None, files, options)
        with closing(watching):
            for changes in watching.ticks():
                for change in changes:
                    told.apply(change)
    return [canonical(one) for one in told.items()]
