"""Commands that write, killed at random moments and started again: nothing is lost or repeated.

    python -m tests.faults.kills --kills 1000 [--seed N] [--count]

Each round draws a command and its input, lets it end undisturbed once, and then kills a second one
again and again until it has ended: both leave the same bytes. A fifth of the kills are spread
evenly over the time that the undisturbed one took, the others over what it took from when it began
to read, counted from when this one does; of each it is noted how far the command had come. A
finding names its seed and round. `--count` adds the kills to tests/faults/kills.json.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from tests.edges.update_streams import events
from tests.faults.staged import STAGES, began_to_read, clear, stage_of
from tests.faults.test_table_crashes import rows
from tests.operators.test_checkpoints import QUERIES, ROADS, SITES
from xstreamcast.edges.updates.lines import line
from xstreamcast.edges.updates.markup import CLOSE, OPEN, element

FORMATS: Final = ("changes", "lines", "events", "events-xml", "xml")
MAPPING: Final = """[message]
type = "ndjson"
[unit.car]
key = "*[@key='id']"
from = "*[@key='at']"
"""
_ENOUGH: Final = 60  # kills of one round; then the command may end
_AT_START: Final = 0.2  # of the kills come at any moment, the others when it reads
_LONG: Final = 4  # times as much to read in a campaign
_REFUSED: Final = 4  # exit code: something was refused
COUNTS: Final = Path(__file__).parent / "kills.json"
Read = Callable[[Path], Any]
Taken = tuple[float, float]  # seconds until it began to read, and until it ended
Stages = Counter[str]  # kills, by how far the command had come


@dataclass(frozen=True, slots=True)
class Job:
    """A command of which all outputs lie in one folder, and what counts of them."""

    words: Callable[[Path], list[str]]
    read: Read

    def begun(self, root: Path) -> subprocess.Popen[bytes]:
        clear(_note(root))
        given = [str(_note(root)), str(root.parent), str(root), "--", *self.words(root)]
        command = [sys.executable, "-m", "tests.faults.staged", *given]
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def ended(self, root: Path) -> tuple[Any, Taken]:
        """What it leaves when nobody disturbs it, and how long it took."""
        begun = time.monotonic()
        _, said = (running := self.begun(root)).communicate(timeout=600)
        assert running.returncode in (0, _REFUSED), said.decode()
        first, last = began_to_read(_note(root)) - begun, time.monotonic() - begun
        return self.read(root), (max(0.0, first), last)

    def killed(self, root: Path, chance: random.Random, taken: Taken) -> tuple[Any, Stages]:
        """What it leaves, and how far it had come whenever it was killed."""
        stages: Stages = Counter()
        for _ in range(_ENOUGH):
            running = self.begun(root)
            try:
                _, said = running.communicate(timeout=self._delay(root, running, chance, taken))
            except subprocess.TimeoutExpired:
                running.kill()
                running.communicate()
                stages[stage_of(_note(root))] += 1
            else:
                assert running.returncode in (0, _REFUSED), said.decode()
                return self.read(root), stages
        return self.ended(root)[0], stages

    def _delay(
        self, root: Path, running: subprocess.Popen[bytes], chance: random.Random, taken: Taken
    ) -> float:
        """How many seconds from now a command is killed; it has begun to read, mostly."""
        if chance.random() < _AT_START:
            return chance.uniform(0, taken[1])
        # the machine may be busy: what is waited for is the command, not a time
        while running.poll() is None and stage_of(_note(root)) == STAGES[0]:
            with suppress(subprocess.TimeoutExpired):
                running.wait(0.002)
        return chance.uniform(0, taken[1] - taken[0])


def _note(root: Path) -> Path:
    """Where a command notes how far it has come."""
    return root.parent / f"{root.name}.stage"


def watch(words: list[str], chance: random.Random) -> Job:
    """`watch --checkpoint` with some format, policy and number of ticks between snapshots."""
    options = ["--format", chance.choice(FORMATS), "--batch", str(chance.choice((1, 3, 10)))]
    options += chance.choice(([], ["--policy", "strict"]))
    options += chance.choice(([], ["--snapshot-every", "1"], ["--snapshot-every", "7"]))

    def command(root: Path) -> list[str]:
        outputs = ["-o", str(root / "out"), "--quarantine", str(root / "refused")]
        return ["watch", *words, *options, *outputs, "--checkpoint", str(root / "state")]

    return Job(command, _outputs)


def _outputs(root: Path) -> dict[str, bytes]:
    names = ("out", "refused")
    return {name: (root / name).read_bytes() for name in names if (root / name).exists()}


def fragments(folder: Path, chance: random.Random, size: int) -> Job:
    """A folder of files, some of whose fragments are refused."""
    feed = _fragments(folder, chance, size)
    sites = folder / "sites.xml"
    sites.write_text(SITES)
    text = chance.choice(list(QUERIES.values()))
    other = ["-i", f"sites={sites}"] if "sites" in text else []
    return watch(["-q", text, "-i", f"roads={feed}", *other], chance)


def table(folder: Path, chance: random.Random, size: int) -> Job:
    """`ingest` into a table."""
    feed, most = _fragments(folder, chance, size), str(chance.choice((1, 5, 20)))

    def command(root: Path) -> list[str]:
        where = ["--table", str(root / "table"), "--stream", "roads", "--runner", "local"]
        return ["ingest", str(feed), *where, "--max-per-batch", most]

    return Job(command, rows)


def _fragments(folder: Path, chance: random.Random, size: int) -> Path:
    feed = folder / "feed"
    feed.mkdir()
    (feed / "000.xml").write_text(ROADS)
    for number in range(1, size * chance.randint(20, 60)):
        lines = [_incident(number * 20 + at, chance) for at in range(chance.randint(1, 20))]
        (feed / f"{number:03}.xml").write_text("".join(lines))
    return feed


def _incident(number: int, chance: random.Random) -> str:
    road, when = chance.randrange(19), f"2026-11-15T{9 + number // 3600:02}"
    when += f":{number // 60 % 60:02}:{number % 60:02}" if chance.random() > 0.02 else " no time"
    content = f'<incident n="{road}"><severity>{chance.randrange(10)}</severity></incident>'
    return f'<filler id="{road + 1}" tsid="2" validTime="{when}">{content}</filler>\n'


def document(folder: Path, chance: random.Random, size: int) -> Job:
    """A long document."""
    path = folder / "document.xml"
    elements = (f'<e n="{n % 17}">{chance.randrange(100)}</e>' for n in range(size * 20_000))
    path.write_text(f"<log>{''.join(elements)}</log>")
    text = chance.choice((
        'stream("log")//e[@n = "3"]/text()',
        'for $e in stream("log")//e group by $n := $e/@n order by $n return concat($n, sum($e))',
        'max(stream("log")//e/number())',
    ))  # fmt: skip
    return watch(["-q", text, "-i", f"log={path}"], chance)


def updates(folder: Path, chance: random.Random, size: int) -> Job:
    """A stream of updates, as lines of JSON or as markup."""
    said = ['sS(0) sE(0,"r")']
    said += [f'sM(0,{n}) sE({n},"a") cD({n},"{n % 7}") eE({n},"a") eM(0,{n})' for n in range(1, 60)]
    newest = list(range(1, 60))
    for number in range(60, 60 + size * chance.randint(50, 200)):
        at = chance.randrange(len(newest))
        old, newest[at] = newest[at], number
        content = f'sE({number},"a") cD({number},"{number % 11}") eE({number},"a")'
        said.append(f"sR({old},{number}) {content} eR({old},{number})")
    parsed = events(" ".join((*said, 'eE(0,"r") eS(0)')))
    path = folder / "updates"
    if chance.random() < 0.5:
        path.write_bytes(b"".join(map(line, parsed)))
    else:
        path.write_bytes(OPEN + b"".join(map(element, parsed)) + CLOSE)
    text = chance.choice(('stream("s")//a[. > 4]/text()', 'sum(stream("s")//a)'))
    return watch(["-q", text, "-i", f"s={path}"], chance)


def mapped(folder: Path, chance: random.Random, size: int) -> Job:
    """Lines of JSON through a mapping; some are refused."""
    mapping, feed = folder / "cars.toml", folder / "cars"
    mapping.write_text(MAPPING)
    feed.mkdir()
    for number in range(size * chance.randint(10, 40)):
        lines = [_car(number * 20 + at, chance) for at in range(20)]
        (feed / f"{number:03}.ndjson").write_text("".join(lines))
    text = """for $c in stream("cars")//fn:map?[now] where $c/*[@key = "speed"] > 50
        return $c/*[@key = "id"]/string()"""
    return watch(["-q", text, "-i", f"cars={mapping}:{feed}"], chance)


def _car(number: int, chance: random.Random) -> str:
    when = f"2026-11-15T{9 + number // 3600:02}:{number // 60 % 60:02}:{number % 60:02}"
    car = f'"id": {chance.randrange(30)}, ' if chance.random() > 0.02 else ""
    return f'{{{car}"speed": {chance.randrange(100)}, "at": "{when}"}}\n'


KINDS: Final[dict[str, Callable[[Path, random.Random, int], Job]]] = {
    "fragments": fragments, "table": table, "document": document, "updates": updates,
    "mapped": mapped,
}  # fmt: skip


def round_of(name: str, seed: str, size: int = 1) -> Stages:
    """One command to its end → how often it was killed, by how far it had come.

    `size`: how many times as much it reads, so that reading takes longer than starting.
    """
    chance = random.Random(seed)
    with TemporaryDirectory() as found:
        folder = Path(found)
        (folder / "whole").mkdir()
        (folder / "killed").mkdir()
        job = KINDS[name](folder, chance, size)
        expected, taken = job.ended(folder / "whole")
        left, stages = job.killed(folder / "killed", chance, taken)
        assert left == expected, (name, seed, job.words(folder))
    return stages


def add_to_counts(seed: int, stages: Stages) -> None:
    """Note that commands were killed so often."""
    known: dict[str, Any] = json.loads(COUNTS.read_text("utf-8")) if COUNTS.exists() else {}
    known["rounds"] = known.get("rounds", 0) + 1
    known["kills"] = known.get("kills", 0) + stages.total()
    by_stage = Counter(known.get("stages", {})) + stages
    known["stages"] = {stage: by_stage[stage] for stage in STAGES}
    known["seeds"] = sorted({*known.get("seeds", ()), seed})
    known["last"] = time.strftime("%Y-%m-%d", time.gmtime())
    COUNTS.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n", "utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 1_000_000)
    parser.add_argument("--count", action="store_true")
    args = parser.parse_args()
    total: Stages = Counter()
    number = 0
    while total.total() < args.kills:
        name = list(KINDS)[number % len(KINDS)]
        stages = round_of(name, f"{args.seed}.{number}", _LONG)
        total += stages
        said = ", ".join(f"{stages[stage]} {stage}" for stage in STAGES)
        sys.stdout.write(f"{name}, seed {args.seed}.{number}: {said}; {total.total()} in all\n")
        sys.stdout.flush()
        if args.count:
            add_to_counts(args.seed, stages)
        number += 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
