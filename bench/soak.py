"""`xstreamcast bench soak`: a day of a busy feed through `watch`, and what the process holds.

Incidents are reported, corrected, closed and followed by others, at even distances over one day,
most of them in order and some late. A generator writes them to the standard input of the command,
which runs three queries as a user would start it; nothing is waited for. From outside are sampled:
resident memory, open files, threads, and temporary files; the command's own metrics give the time
of its ticks.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

import bench
from bench.dice import Dice
from bench.generate import natural
from bench.machine import machine
from bench.tables import markdown

REPORT = Path(__file__).parents[1] / "docs" / "benchmarks" / "soak.md"
DAY = 86_400 * 10**6
STRUCTURE = b"""<stream:structure><tag type="snapshot" id="1" name="roads">
<tag type="temporal" id="2" name="incident"><tag type="snapshot" id="3" name="road"/>
<tag type="snapshot" id="4" name="severity"/></tag></tag></stream:structure>
<stream:filler id="0" tsid="1" validTime="2026-11-01T00:00:00"><roads/></stream:filler>
"""
QUERIES = {
    "severe": """for $i in stream("roads")//incident?[now] where $i/severity >= 9
return <severe id="{$i/@id}">{$i/road/text()}</severe>""",
    "busy": """for $i in stream("roads")//incident?[now] group by $r := string($i/road)
where count($i) >= 60 return <busy road="{$r}">{count($i)}</busy>""",
    "recent": """count(stream("roads")//incident?[now - PT5M, now][severity >= 9])""",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--fragments", type=natural, default=50_000_000, help="of the day")
    parser.add_argument("--open", type=natural, default=20_000, help="incidents at a time")
    parser.add_argument("--play", type=natural, default=0, help="fragments to play; all if 0")
    parser.add_argument("--every", type=natural, default=10, help="seconds between two samples")
    parser.add_argument("--batch", type=natural, default=1000, help="fragments in a tick")
    parser.add_argument("--seed", type=natural, default=bench.SEED, help="which day")
    parser.add_argument("--feed", action="store_true", help="only write the feed to stdout")
    parser.add_argument("--write", action="store_true", help="keep the report in docs/benchmarks")


def main(args: argparse.Namespace) -> int:
    if args.feed:
        write(sys.stdout.buffer, args)
        return 0
    samples = play(args)
    text = report(samples, args)
    sys.stdout.write(text)
    if args.write:
        plot(samples, REPORT.with_suffix(".svg"))
        REPORT.write_text(f"# A day of a busy feed\n\n{text}", "utf-8")
    return 0


# -- the feed -------------------------------------------------------------------------------------


def write(sink: BinaryIO, args: argparse.Namespace) -> None:
    """The day, or its beginning."""
    lines = feed(args.fragments, args.open, args.seed)
    some = islice(lines, args.play) if args.play else lines
    sink.write(b'<stream:fragments xmlns:stream="urn:xstreamcast:stream">\n' + STRUCTURE)
    while batch := list(islice(some, 1000)):
        sink.write("".join(batch).encode())
    sink.write(b"</stream:fragments>\n")


def feed(count: int, opened: int, seed: int) -> Iterator[str]:
    """Reports of incidents: of ten, two begin one, seven correct one, and one or two close one."""
    dice, newest = Dice(seed, "soak"), 0
    here: list[int] = []
    for number in range(count):
        instant = _instant(
            number * DAY // count - (dice.below(60_000_000) if dice.chance(1) else 0)
        )
        if len(here) < opened or dice.chance(15):
            newest += 1
            here.append(newest)
            yield _line(newest, instant, dice)
        elif dice.chance(18):
            at = dice.below(len(here))
            here[at], here[-1] = here[-1], here[at]
            yield f'<stream:remove id="i{here.pop()}" validTime="{instant}"/>\n'
        else:
            yield _line(here[dice.below(len(here))], instant, dice)


def _line(incident: int, instant: str, dice: Dice) -> str:
    content = f"<road>A{incident % 500}</road><severity>{dice.below(10)}</severity>"
    payload = f'<incident id="{incident}">{content}</incident>'
    where = f'id="i{incident}" tsid="2" in="0" validTime="{instant}"'
    return f"<stream:filler {where}>{payload}</stream:filler>\n"


def _instant(micros: int) -> str:
    second, rest = divmod(max(micros, 0), 10**6)
    hour, minute = divmod(second // 60, 60)
    return f"2026-11-02T{hour:02}:{minute:02}:{second % 60:02}.{rest:06}"


# -- the command ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Sample:
    """What was seen from outside, and what the command said last, after so many seconds."""

    seconds: float
    fragments: int
    resident: int
    state: int
    files: int
    threads: int
    temporary: int
    tick: float  # mean seconds of the ticks since the line before
    longest: float


def play(args: argparse.Namespace) -> list[Sample]:
    """Feed the command until the day is over."""
    with tempfile.TemporaryDirectory() as found:
        folder = Path(found)
        (folder / "queries").mkdir()
        (folder / "temporary").mkdir()
        for name, text in QUERIES.items():
            (folder / "queries" / f"{name}.xq").write_text(text)
        own = [sys.executable, "-m", "xstreamcast"]
        told = [f"--{name}={getattr(args, name)}" for name in ("fragments", "open", "play", "seed")]
        source = subprocess.Popen([*own, "bench", "soak", "--feed", *told], stdout=subprocess.PIPE)
        words = ["watch", str(folder / "queries"), "-i", "roads=-", "-o", os.devnull]
        words += ["--batch", str(args.batch), "--lateness", "10m"]
        words += ["--metrics", str(folder / "metrics"), "--metrics-every", f"{args.every}s"]
        environment = os.environ | {"TMPDIR": str(folder / "temporary")}
        command = subprocess.Popen([*own, *words], stdin=source.stdout, env=environment)
        assert source.stdout is not None
        source.stdout.close()
        samples = list(_samples(command, folder, args.every))
        if command.wait() or source.wait():
            raise SystemExit("the command, or the feed, failed")
    return samples


def _samples(command: subprocess.Popen[bytes], folder: Path, every: int) -> Iterator[Sample]:
    begun, lines = time.monotonic(), 0
    while command.poll() is None:
        time.sleep(every / 4)
        said = _said(folder / "metrics")
        if len(said) > lines and command.poll() is None:
            lines = len(said)
            yield _sample(command.pid, time.monotonic() - begun, said[-1], folder / "temporary")


def _said(path: Path) -> list[dict[str, Any]]:
    whole = path.read_text().rpartition("\n")[0] if path.exists() else ""
    return [json.loads(line) for line in whole.splitlines()]


def _sample(pid: int, seconds: float, said: dict[str, Any], temporary: Path) -> Sample:
    place = Path(f"/proc/{pid}")
    status = dict(
        line.split(":", 1) for line in (place / "status").read_text().splitlines() if ":" in line
    )
    found = Sample(
        seconds, said["inputs"]["roads"]["arrived"], int(status["VmRSS"].split()[0]) * 1024,
        said["state_bytes"], len(list((place / "fd").iterdir())), int(status["Threads"]),
        sum(1 for _ in temporary.rglob("*")), said["tick_seconds"]["mean"],
        said["tick_seconds"]["longest"],
    )  # fmt: skip
    sys.stderr.write(f"{found}\n")
    return found


# -- the report -----------------------------------------------------------------------------------


def report(samples: list[Sample], args: argparse.Namespace) -> str:
    """A table of ten moments, and how the process ended."""
    header = [
        "fragments", "hour of the day", "fragments/s", "tick, mean ms", "tick, longest ms",
        "resident MB", "state MB", "files", "threads", "temporary files",
    ]  # fmt: skip
    chosen = samples[:: max(1, len(samples) // 10)]
    rows = [
        [
            f"{one.fragments:,}", f"{one.fragments * 24 / args.fragments:.1f}",
            f"{one.fragments / one.seconds:,.0f}", f"{one.tick * 1e3:.1f}",
            f"{one.longest * 1e3:.0f}", f"{one.resident / 1e6:.0f}", f"{one.state / 1e6:.0f}",
            str(one.files), str(one.threads), str(one.temporary),
        ]
        for one in chosen
    ]  # fmt: skip
    queries = "\n\n".join(f"```xquery\n{text}\n```" for text in QUERIES.values())
    return (
        f"`xstreamcast bench soak`: a day of {args.fragments:,} reports of incidents, of which "
        f"{args.open:,} are open at a time, through one `watch` with three queries, in batches of "
        f"{args.batch:,}, as fast as they are taken.\n\n{queries}\n\n"
        f"![memory and ticks over the day](soak.svg)\n\n{markdown(header, rows)}\n\n{machine()}\n"
    )


def plot(samples: list[Sample], place: Path) -> None:
    """Memory and the time of ticks over the fragments that came."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "soak"
    from matplotlib import pyplot

    figure, (above, below) = pyplot.subplots(2, 1, sharex=True, figsize=(8, 6))
    came = [one.fragments / 1e6 for one in samples]
    above.plot(came, [one.resident / 1e6 for one in samples], label="resident")
    above.plot(came, [one.state / 1e6 for one in samples], label="state")
    above.set_ylabel("MB")
    above.set_ylim(bottom=0)
    above.legend()
    below.plot(came, [one.tick * 1e3 for one in samples], label="mean")
    below.plot(came, [one.longest * 1e3 for one in samples], label="longest", linewidth=0.7)
    below.set_ylabel("ms for a tick")
    below.set_xlabel("million fragments")
    below.set_ylim(bottom=0)
    below.legend()
    figure.savefig(place, metadata={"Date": None})
