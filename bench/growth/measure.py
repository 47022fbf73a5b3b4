"""Processor time of single changes to a running query."""

import gc
import json
import time
from dataclasses import asdict, dataclass
from statistics import median

from bench.growth.driver import Running
from bench.growth.entry import Entry
from bench.growth.streams import SPARE

WARM_UP = 2
OUT_OF_MEMORY = 3  # the exit code of a process that ended for want of it


@dataclass(frozen=True, slots=True)
class Cost:
    """Of one kind of change, medians: milliseconds, changes of the answer and their characters."""

    ms: float
    changes: float
    characters: float


@dataclass(frozen=True, slots=True)
class Measured:
    """A query with n units: what loading took, what it keeps, what each kind of change costs."""

    name: str
    n: int
    load: float
    state: int
    recomputed: bool
    new: Cost
    correction: Cost


@dataclass(frozen=True, slots=True)
class Peer:
    """What SaxonC-HE takes to recompute a query over n units: milliseconds, and to parse them."""

    name: str
    n: int
    ms: float
    parsing: float


Found = Measured | Peer


def to_json(found: Found) -> str:
    """One line."""
    return json.dumps(asdict(found))


def from_json(line: str) -> Found:
    """What a line says."""
    record = json.loads(line)
    if "parsing" in record:
        return Peer(**record)
    record |= {kind: Cost(**record[kind]) for kind in ("new", "correction")}
    return Measured(**record)


def measure(entry: Entry, n: int, rounds: int, budget: float) -> Measured:
    """Load n units, then send changes one by one; fewer rounds where `budget` seconds are used."""
    rounds = min(rounds, SPARE - WARM_UP)
    running = Running(entry)
    opening = entry.opening(n)
    begun = time.process_time()
    running.feed(opening)
    load = time.process_time() - begun
    del opening
    costs: tuple[list[Cost], list[Cost]] = [], []
    with Collected():
        for k in range(WARM_UP + rounds):
            costs[0].append(_one(running, *entry.added(n, k)))
            costs[1].append(_one(running, *entry.corrected(n, k)))
            if time.process_time() - begun > budget:
                break
    recomputed, state = running.recomputed, running.state_bytes
    return Measured(entry.name, n, load, state, recomputed, *map(_middle, costs))


class Collected:
    """No garbage is collected inside: what was there before is set aside, as in a long run."""

    def __enter__(self) -> None:
        gc.collect()
        gc.freeze()
        gc.disable()

    def __exit__(self, *_: object) -> None:
        gc.enable()
        gc.unfreeze()


def _one(running: Running, stream: str, chunk: bytes) -> Cost:
    begun = time.process_time()
    changes = running.feed({stream: chunk})
    took = time.process_time() - begun
    return Cost(took * 1e3, len(changes), sum(len(change.item) for change in changes))


def _middle(costs: list[Cost]) -> Cost:
    """Medians of what came behind the warm-up, if anything did."""
    kept = costs[WARM_UP:] or costs[-1:]
    return Cost(
        median(one.ms for one in kept),
        median(one.changes for one in kept),
        median(one.characters for one in kept),
    )
