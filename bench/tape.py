"""`xstreamcast bench tape`: XML to a tape, beside expat, lxml and SaxonC-HE, in one process."""

import argparse
import io
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import median
from xml.parsers import expat

import bench
from bench.generate import natural, positive
from bench.machine import machine
from bench.rounds import ROUNDS, Contender, Timing, interleaved
from bench.tables import markdown, rate, ratio, seconds

OURS, EXPAT = "ours", "expat, no handlers"
REPORT = Path(__file__).parents[1] / "docs" / "benchmarks" / "tape.md"
KINDS = ("auction", "bibliography", "map", "tiny elements")
TINY = b"<a><b/><c>1</c></a>"
FED, CHUNK = 1 << 30, 1 << 16


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--factor", type=positive, default=1.0, help="size; 1 is about 100 MB")
    parser.add_argument("--seed", type=natural, default=bench.SEED, help="which documents")
    parser.add_argument("--rounds", type=natural, default=ROUNDS, help="how many count")
    parser.add_argument("--only", nargs="+", choices=KINDS, default=KINDS, help="just these")
    parser.add_argument("--fast", action="store_true", help="only ours and expat without handlers")
    parser.add_argument("--write", action="store_true", help="keep the report in docs/benchmarks")


def main(args: argparse.Namespace) -> int:
    ours(b"<a b='c'>d</a>")  # compiles the kernels, if that is still to be done
    report = "".join(chapter(kind, args) for kind in args.only)
    report += f"\n## Start-up and memory\n\n{start_up()}{feeding()}\n{machine()}"
    sys.stdout.write(report)
    if args.write:
        REPORT.parent.mkdir(parents=True, exist_ok=True)
        REPORT.write_text(f"# Reading XML\n{report}")
    return 0


def chapter(kind: str, args: argparse.Namespace) -> str:
    """The table of one document."""
    path = (
        tiny(args.factor) if kind == "tiny elements" else bench.data(kind, args.factor, args.seed)
    )
    data = path.read_bytes()
    crew = contenders(data, path)
    crew = {name: crew[name] for name in (OURS, EXPAT)} if args.fast else crew
    timings = interleaved([Contender(name, run) for name, run in crew.items()], max(1, args.rounds))
    sys.stderr.write(f"{kind}: {seconds(timings[OURS].median)} s\n")
    rows = [row(one, len(data), timings[OURS].median) for one in timings.values()]
    header = ["", "median s", "MB/s", "ours is"]
    nodes = timings[OURS].answer
    title = f"{kind}, {len(data) / 1e6:.0f} MB, {nodes / 1e6:.2f} million nodes"
    return f"\n## {title}\n\n{markdown(header, rows)}"


def row(one: Timing[int], size: int, mine: float) -> list[str]:
    beside = "" if one.name == OURS else ratio(one.median / mine)
    return [one.name, seconds(one.median), rate(size, one.median), beside]


def contenders(data: bytes, path: Path) -> dict[str, Callable[[], int]]:
    """Who reads the document, each as fast as its interface lets it."""
    crew: dict[str, Callable[[], int]] = {
        OURS: partial(ours, data),
        EXPAT: partial(bare_expat, data),
        "expat, empty Python handlers": partial(handled_expat, data),
    }
    from lxml import etree

    def parse() -> int:
        etree.fromstring(data, etree.XMLParser(huge_tree=True))
        return 0

    def iterparse() -> int:
        for _, element in etree.iterparse(io.BytesIO(data), huge_tree=True):
            element.clear()
        return 0

    crew |= {"lxml parse": parse, "lxml iterparse": iterparse}
    from saxonche import PySaxonProcessor

    processor = PySaxonProcessor(license=False)

    def saxon() -> int:
        processor.new_document_builder().parse_xml(xml_file_name=str(path))
        return 0

    return crew | {"SaxonC-HE document builder": saxon}


def ours(data: bytes) -> int:
    from xstreamcast.tape import read

    return len(read(data))


def bare_expat(data: bytes) -> int:
    expat.ParserCreate(None, "\x01").Parse(data, True)
    return 0


def handled_expat(data: bytes) -> int:
    parser = expat.ParserCreate(None, "\x01")
    parser.StartElementHandler = lambda name, attributes: None
    parser.EndElementHandler = lambda name: None
    parser.CharacterDataHandler = lambda text: None
    parser.Parse(data, True)
    return 0


def tiny(factor: float) -> Path:
    """A document of nothing but tiny elements."""
    path = bench.cache_folder() / f"tiny-{factor:g}.xml"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"<r>" + TINY * int(factor * 1e8 / len(TINY)) + b"</r>")
    return path


def start_up() -> str:
    """Imports and a first read, each in processes of their own, kernels on disk."""
    rows = {
        "import xstreamcast": "import xstreamcast",
        "import numba": "import numba",
        "first read, from the start of Python": "import xstreamcast.tape as t; t.read(b'<a>b</a>')",
        "Python itself": "pass",
    }
    took = {name: median(fresh(code) for _ in range(ROUNDS)) for name, code in rows.items()}
    listed = [[name, seconds(value)] for name, value in took.items()]
    return markdown(["in a new process, warm kernel cache", "median s"], listed)


def fresh(code: str) -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True)
    return time.perf_counter() - began


def feeding() -> str:
    """How much memory grows while 1 GiB is fed in chunks and nothing is kept; a new process."""
    code = "from bench.tape import feed; print(*feed())"
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, cwd=Path(__file__).parents[1]
    )
    units, took, grown = done.stdout.split()
    return (
        f"\nFeeding {FED >> 20} MiB in chunks of {CHUNK >> 10} KiB: {int(units)} units in"
        f" {seconds(float(took))} s, resident memory grew by at most {float(grown):.1f} MiB.\n"
    )


def feed() -> tuple[int, float, float]:
    """Units, seconds, and by how many MiB resident memory grew after the first chunk."""
    from xstreamcast.tape import Reader

    reader, units, resident, began = Reader("stream"), 0, [], time.perf_counter()
    for chunk in chunks(FED):
        tape = reader.feed(chunk)
        units += 0 if tape is None else int((tape.columns.parent < 0).sum())
        resident.append(memory())
    return units, time.perf_counter() - began, (max(resident) - resident[0]) / 2**20


def chunks(total: int) -> Iterator[bytes]:
    """A root that never closes, cut anywhere."""
    unit = b"".join(
        b"<bid id='b%d'><price currency='EUR'>%d.50</price><note>a &amp; b</note></bid>\n" % (i, i)
        for i in range(1000)
    )
    held, sent = b"<bids>", 0
    while sent < total:
        while len(held) < CHUNK:
            held += unit
        yield held[:CHUNK]
        held, sent = held[CHUNK:], sent + CHUNK


def memory() -> int:
    """Resident bytes: now, where the system tells; else the most so far."""
    told = Path("/proc/self/statm")
    if told.exists():
        return int(told.read_text().split()[1]) * resource.getpagesize()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
