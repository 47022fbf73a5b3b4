"""Inputs of a query left running, made such that Spark can read them again: files and tables.

What is fleeting (a pipe, a socket, pieces from a program) is written into the folder of the
checkpoint as it comes. Of a stream of updates or changes, and of a feed with a mapping, its
fragments are written there.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from xstreamcast.edges.ahead import Ahead, ahead_of
from xstreamcast.edges.immutable import TagPath as Immutable
from xstreamcast.edges.inputs import Kind, kind_of, opened, paths
from xstreamcast.edges.loading import table_path
from xstreamcast.edges.mapping.decoder import MappingDecoder
from xstreamcast.edges.mapping.finding import mapping_of, split_source
from xstreamcast.edges.mapping.structure import expected_structure
from xstreamcast.edges.spooling import Spool, SpooledPieces, head, is_fleeting, shows_kind
from xstreamcast.edges.transcribing import Pieces, Transcript
from xstreamcast.edges.watching.pieces import PIECE, WAIT, pieces
from xstreamcast.errors import error
from xstreamcast.spark.source import NAME, register
from xstreamcast.spark.watching.tables import fragments_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from xstreamcast.edges.partitions.packing import Parting
    from xstreamcast.edges.watching import WatchOptions
    from xstreamcast.model.fragment import Refused

RECEIVED: Final = "_received"
_MESSAGES: Final = "messages"  # of a feed that comes by network
_HEAD: Final = 1 << 16
OVER: Final = ".over"  # next to what was received: nothing more will come of it


@dataclass(slots=True)
class Prepared:
    """Inputs as Spark reads them, and those who write some of them."""

    received: Path
    inputs: dict[str | None, Any] = field(default_factory=dict)
    spools: list[Spool | SpooledPieces] = field(default_factory=list)
    transcripts: dict[str, Transcript] = field(default_factory=dict)
    ends: bool = True  # whether all inputs end
    paths: dict[str | None, Any] = field(default_factory=dict)  # where fragments are read from

    def ahead(self) -> dict[str, Ahead]:
        """What is known of inputs that have said their structure, or will say it for certain."""
        found = {str(name): ahead_of(str(name), path) for name, path in self.paths.items()}
        for name, one in self.transcripts.items():
            if isinstance(one.decoder, MappingDecoder):
                found[name] = Ahead(expected_structure(one.decoder.mapping))
        return found

    @property
    def mapped(self) -> frozenset[str]:
        """The inputs whose tags are numbered as they come: all but the root are units."""
        decoders = {name: one.decoder for name, one in self.transcripts.items()}
        return frozenset(n for n, one in decoders.items() if isinstance(one, MappingDecoder))

    @property
    def is_written(self) -> bool:
        """Whether some of it is in the folder of the checkpoint alone."""
        return bool(self.spools or self.transcripts)

    def wait(self, stopped: Callable[[], bool]) -> None:
        """Wait until all that was to come is written; what failed there is raised."""
        for one in (*self.spools, *self.transcripts.values()):
            while one.is_alive() and not stopped():
                one.join(WAIT)
        self.check()

    def check(self) -> None:
        """Raise what failed while inputs were being written."""
        for one in (*self.spools, *self.transcripts.values()):
            if isinstance(one.failed, OSError):
                raise error("XSCU0003", f"{one.name}: {one.failed.strerror}") from None
            if one.failed is not None:
                raise one.failed

    def finish(self) -> None:
        """All is over: what streams in other forms still had to say."""
        for one in self.transcripts.values():
            one.finish()
        (self.received / OVER).touch()

    def close(self) -> None:
        for one in (*self.spools, *self.transcripts.values()):
            one.close()

    def immutable(self, paths: tuple[Immutable, ...]) -> tuple[Immutable, ...]:
        """The paths that count for fragments: those of other forms have been heeded already."""
        if not self.transcripts:
            return paths
        wanted = [one for one in self.inputs if one and one not in self.transcripts]
        named = [
            replace(path, stream=name)
            for path in paths
            for name in ([path.stream] if path.stream else wanted)
        ]
        return tuple(path for path in named if path.stream not in self.transcripts)

    def said(self) -> Iterator[str]:
        """What of the inputs did not count."""
        for name, one in self.transcripts.items():
            if ignored := getattr(one.decoder, "ignored", 0):
                yield f"{name}: {ignored} updates of immutable elements ignored"


def prepared(
    spark: SparkSession, sources: Mapping[str | None, Any], folder: Path, options: WatchOptions, *,
    fixed: tuple[Immutable, ...] = (), most: int | None = None, keep: Callable[[Refused], None],
) -> Prepared:  # fmt: skip
    """Inputs by name, each as a path or a DataFrame."""
    received = folder / RECEIVED
    received.mkdir(parents=True, exist_ok=True)
    (received / OVER).unlink(missing_ok=True)
    made, written = Prepared(received), dict[str | None, Spool | SpooledPieces]()
    for name, source in sources.items():
        writer = _writer(source, name, received / (name or "input"), options.follow)
        if writer is not None:
            written[name] = writer
            writer.start()
    made.spools = list(written.values())
    made.ends = not options.follow or (
        len(written) == len(sources) and not any(one.again for one in made.spools)
    )
    for name, source in sources.items():
        mapping = mapping_of(source)[0]
        if name in written and mapping is None:
            source = _path(written[name])
        kind: Kind = "document" if name is None else "fragments"
        if name is not None and mapping is None:
            kind = _kind(source, options)
        if mapping is not None or kind == "updates" or kind == "changes":
            coming = _coming(source, written.get(name), options.follow)
            source = received / str(name) / "fragments" / "000000.xml"
            made.transcripts[str(name)] = Transcript(
                str(name), kind, coming, source, on_error=options.on_error, immutable=fixed,
                keep=keep, mapping=mapping,
            )  # fmt: skip
            made.transcripts[str(name)].start()
        elif kind == "fragments" and name not in written and _is_path(source):
            made.paths[name] = source
        made.inputs[name] = _input(spark, name, source, kind, most, received / OVER)
    return made


def _input(
    spark: SparkSession, name: str | None, source: Any, kind: str, most: int | None, over: Path
) -> Any:  # fmt: skip
    """A source as `rows_of` takes it: a DataFrame, the path of a document, or what makes one when
    it is known how rows are partitioned.
    """
    table = table_path(source)
    if table is not None:
        return partial(fragments_of, spark, table, name, most)
    if kind == "document" or not isinstance(source, str | os.PathLike):
        return source
    return partial(_read, spark, name, source, most, over)


def _read(
    spark: SparkSession, name: str | None, source: Any, most: int | None, over: Path,
    parting: Parting, since: str | None,
) -> DataFrame:  # fmt: skip
    reader = register(spark).readStream.format(NAME).option("path", os.path.abspath(source))
    reader = (
        reader.option("stream", str(name))
        .option("over", os.path.abspath(over))
        .option("packed", "true")
        .options(**parting.options(str(name)))
        .options(**({} if since is None else {"since": since}))
    )
    return (reader if most is None else reader.option("maxPerBatch", most)).load()


def _is_path(source: Any) -> bool:
    return isinstance(source, str | os.PathLike) and table_path(source) is None


def _writer(
    source: Any, name: str | None, folder: Path, follow: bool
) -> Spool | SpooledPieces | None:
    """Who writes a source down, if it cannot be read again as it is; of a feed, its messages."""
    if hasattr(source, "writeStream"):
        return None
    word, place = split_source(source)
    if is_fleeting(place):
        folder = folder / _MESSAGES if word else folder
        return Spool(os.fspath(place), folder, name, again=follow, feed=word is not None)
    if isinstance(source, bytes | bytearray | memoryview):
        return SpooledPieces([bytes(source)], folder)
    if isinstance(source, Iterable) and not isinstance(source, str | os.PathLike):
        return SpooledPieces(source, folder)
    return None


def _path(written: Spool | SpooledPieces) -> Path:
    """What Spark reads of what is written: the folder, or the file of a document."""
    if kind_of(head(written)) == "fragments" and isinstance(written, Spool):
        return written.folder
    return written.path


def _kind(source: Any, options: WatchOptions) -> Kind:
    """What a source holds; of files that are to grow, what the first bytes show when they come."""
    if table_path(source) is not None or not isinstance(source, str | os.PathLike):
        return "fragments"  # a table, or a DataFrame
    until = math.inf if options.seconds is None else time.monotonic() + options.seconds
    while True:
        for path in paths(source):
            with opened(path) as file:
                found = file.read(_HEAD)
            if found.strip() and (shows_kind(found) or not options.follow):
                return kind_of(found)
        if not options.follow or time.monotonic() > until:
            return "fragments"
        time.sleep(WAIT)


def _coming(source: Any, written: Spool | SpooledPieces | None, follow: bool) -> Pieces:
    word, _ = split_source(source)
    if written is not None and word is not None:
        return _messages(word, written, follow)
    if written is not None:
        return _growing(written)
    return pieces(source, follow=follow, patience=lambda: WAIT)


def _messages(word: str, written: Spool | SpooledPieces, follow: bool) -> Pieces:
    """The messages of a feed as they are written down, a file each."""
    while not follow and written.is_alive():
        written.join(WAIT)
        yield b""
    if follow or any(written.folder.glob("*.xml")):
        yield from pieces(f"{word}:{written.folder}", follow=follow, patience=lambda: WAIT)


def _growing(written: Spool | SpooledPieces) -> Pieces:
    """The bytes of a file for as long as it is being written."""
    with opened(str(written.path)) as file:
        while True:
            over = not written.is_alive()
            if piece := file.read(PIECE):
                yield piece
            elif over:
                break
            else:
                time.sleep(WAIT)
                yield b""
    yield None
