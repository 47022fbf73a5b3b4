"""Input and histories of Linear Road in a folder: written second by second, and read."""

from __future__ import annotations

from pathlib import Path

from bench.linear_road import layout as f
from bench.linear_road.generator import Input, Scale
from bench.linear_road.layout import Rows
from bench.linear_road.segment_history import history_xml

ROAD, ROAD_CSV, TOLLS, TOLLS_CSV, PAST = (
    "road.xml",
    "road.csv",
    "tolls.xml",
    "tolls.csv",
    "past.xml",
)
OPEN, CLOSE = b"<road>\n", b"</road>\n"


def write(scale: Scale, folder: Path) -> int:
    """Write an input → how many tuples it has. No more than a second of it is held."""
    folder.mkdir(parents=True, exist_ok=True)
    made, written = Input(scale), 0
    with (folder / ROAD).open("wb") as xml, (folder / ROAD_CSV).open("wb") as csv:
        xml.write(OPEN)
        for _, rows in made.seconds():
            xml.write(f.xml_of(rows))
            csv.write(f.csv_of(rows))
            written += len(rows)
        xml.write(CLOSE)
    _write_tolls(made.toll_history(), folder)
    (folder / PAST).write_bytes(history_xml(scale))
    return written


def _write_tolls(rows: Rows, folder: Path) -> None:
    found = [tuple(row) for row in rows.tolist()]
    (folder / TOLLS_CSV).write_bytes(b"".join(b"%d,%d,%d,%d\n" % row for row in found))
    paid = b"".join(b'<paid vid="%d" day="%d" xway="%d" toll="%d"/>\n' % row for row in found)
    (folder / TOLLS).write_bytes(b"<tolls>\n" + paid + b"</tolls>\n")


def read_tolls(place: Path) -> dict[tuple[int, int, int], int]:
    """Lines of car, day, expressway and toll."""
    found = (tuple(map(int, line.split(","))) for line in place.read_text().split())
    return {(vid, day, xway): toll for vid, day, xway, toll in found}
