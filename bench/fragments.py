"""Documents as streams of fragments and as fragment tables, made once and kept in the cache."""

import os
import shutil
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from pathlib import Path

import bench
import xstreamcast
from xstreamcast.edges.cutting import cut
from xstreamcast.edges.infer import Wishes, propose
from xstreamcast.edges.infer.from_documents import graph_of_documents
from xstreamcast.edges.valid_time import valid_time
from xstreamcast.edges.wire.encoder import CLOSE, EOS, OPEN, fragment_line, structure_line
from xstreamcast.model.structure import TagStructure

# What changes has versions, what happens is an event; all else stands in the one around it.
WISHES = {
    "auction": Wishes(
        temporal=("person", "item", "open_auction", "category"),
        event=("bidder", "closed_auction"),
    ),
    "bibliography": Wishes(temporal=("proceedings", "inproceedings", "article")),
}
# Before any other query is asked of them, all is valid: then they say what the document says.
VALID = "2003-11-01T00:00:00"
CHUNK = 1 << 20


def structure(document: Path, kind: str = "auction") -> TagStructure:
    """The tag structure of a document; how deep the prose of auctions nests differs."""
    return propose(graph_of_documents([(kind, document.read_bytes())]), WISHES[kind]).structure


def fragments(factor: float, seed: int = bench.SEED, kind: str = "auction") -> Path:
    """The document of that size in fragments, in the canonical form."""
    document = bench.data(kind, factor, seed)
    path = document.with_name(f"{document.stem}-fragments.xml")
    if not path.exists():
        unfinished = path.with_suffix(f".{os.getpid()}.part")
        tags = structure(document, kind)
        try:
            with unfinished.open("wb") as sink:
                sink.write(OPEN + structure_line(tags))
                sink.writelines(cut(_chunks(document), tags, valid=valid_time(VALID)))
                sink.write(EOS + CLOSE)
            unfinished.replace(path)
        finally:
            unfinished.unlink(missing_ok=True)
    return path


def table(kind: str, factor: float, seed: int = bench.SEED) -> Path:
    """The document as a fragment table, by the stream name of its kind.

    Made anew when what writes tables has changed.
    """
    from xstreamcast.edges.ingesting import ingest

    source = fragments(factor, seed, kind)
    path = source.with_name(f"{source.stem}-{_writing()}-table")
    if not path.exists():
        unfinished = path.with_suffix(f".{os.getpid()}.part")
        try:
            ingest(source, unfinished, stream=kind)
            for older in source.parent.glob(f"{source.stem}-*-table"):
                shutil.rmtree(older)
            unfinished.replace(path)
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)
    return path


@cache
def _writing() -> str:
    """What the source that writes tables is known by."""
    told, package = sha256(), Path(xstreamcast.__file__).parent
    for folder in ("edges/table", "edges/replay", "edges/wire"):
        for file in sorted((package / folder).glob("*.py")):
            told.update(file.read_bytes())
    return told.hexdigest()[:8]


def small(count: int) -> bytes:
    """Fragments of about 200 bytes each, as a stream of readings would send them."""
    lines = [OPEN, _SENSORS]
    for i in range(count):
        payload = (
            f'<reading sensor="s{i % 997}"><value>{i % 8191 / 7:.4f}</value><unit>hPa</unit>'
            f"<note>measured by the station on the hill</note></reading>"
        )
        hour, second = divmod(i // 100, 3600)
        instant = f"2003-11-{1 + hour // 24 % 28:02}T{hour % 24:02}:{second // 60:02}"
        lines.append(fragment_line(str(i + 1), 2, payload.encode(), f"{instant}:{second % 60:02}Z"))
    return b"".join([*lines, EOS, CLOSE])


_SENSORS = b"""<stream:structure><tag id="1" name="readings" type="snapshot">
<tag id="2" name="reading" type="temporal"><tag id="3" name="value" type="snapshot"/>
<tag id="4" name="unit" type="snapshot"/><tag id="5" name="note" type="snapshot"/></tag></tag>
</stream:structure>
"""


def _chunks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as source:
        while chunk := source.read(CHUNK):
            yield chunk
