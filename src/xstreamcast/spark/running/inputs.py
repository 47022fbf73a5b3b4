"""The inputs of a run on Spark: tables and files that every task can open, and what is now."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xstreamcast.algebra.analysis.inputs import inputs_of
from xstreamcast.edges.batch.units import Table
from xstreamcast.edges.binding import Options, requested_when
from xstreamcast.edges.loading import attaches, is_stream, table_path
from xstreamcast.edges.mapping.finding import split_source
from xstreamcast.edges.sources import is_place
from xstreamcast.edges.table.log import Log
from xstreamcast.edges.table.reading import refused, stream_of
from xstreamcast.evaluate.context import now
from xstreamcast.evaluate.time.moments import Moment, instant_from
from xstreamcast.history.query import When
from xstreamcast.model.instant import START

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from xstreamcast.algebra.program import Program


class Sources:
    """The document and the named inputs of a run; tables that are there for its time alone."""

    def __init__(
        self, programs: Mapping[str, Program], document: Any, inputs: Mapping[str, Any],
        options: Options,
    ) -> None:  # fmt: skip
        self._options, self._keep = replace(options, keep=None), options.keep
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._values = {v.local for p in programs.values() for v in p.variables if v.external}
        self.notes: list[str] = []  # what a user should know of how inputs were read
        self.current = now()
        self.tables: dict[str | None, Table] = {}
        self.document = None if document is None else self._source("input", document)
        self.inputs = {name: self._source(name, one) for name, one in inputs.items()}

    @property
    def is_temporary(self) -> bool:
        """Whether something is read that ends with the run."""
        return self._folder is not None

    def has_stream_as_variable(self) -> bool:
        """Whether an external variable represents a stream."""
        return any(
            is_stream(one)
            for name, one in self.inputs.items()
            if name in self._values and not isinstance(one, str)
        )

    def attaches(self) -> str | None:
        """An input whose fragments name their parents: a feed with a mapping, or a table of one."""
        return next((name for name, source in self.inputs.items() if attaches(source)), None)

    def close(self) -> None:
        """Drop what was kept for the run alone."""
        if self._folder is not None:
            self._folder.cleanup()

    def _source(self, name: str, source: Any) -> Any:
        """A source that executors can open: tables and files by their whole path."""
        if hasattr(source, "mapInArrow"):
            return self._frame_table(name, source)
        word = table_path(source)
        if word is not None:
            return Path(f"table:{os.path.abspath(word)}")
        mapping, place = split_source(source)
        if mapping is not None and isinstance(place, str | os.PathLike) and not is_place(place):
            named_by = os.path.abspath(mapping) if mapping.endswith(".toml") else mapping
            return Path(f"{named_by}:{os.path.abspath(place)}")
        named = isinstance(source, str) and name not in self._values  # else it is a text
        if not (named or isinstance(source, os.PathLike)) or not os.path.exists(source):
            return source
        whole = os.path.abspath(source)
        return Path(f"table:{whole}" if Log(whole).exists() else whole)

    def _frame_table(self, name: str, frame: DataFrame) -> Path:
        """Fragments that come as a DataFrame, kept in a table for the time of the run."""
        from xstreamcast.spark.table import write_batch

        path = Path(self._temporary()) / f"{name}-frame"
        write_batch(frame, 0, path, writer="run", on_error=self._options.on_error)
        return Path(f"table:{path}")

    def _temporary(self) -> str:
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="xstreamcast-run-")
        return self._folder.name

    def _ingested(self, name: str, source: Any) -> Path:
        """Fragments of files, brought into a table for the time of the run."""
        from xstreamcast.edges.ingesting import ingest

        folder = Path(self._temporary())
        if isinstance(source, bytes):
            (folder / f"{name}.xml").write_bytes(source)
            source = folder / f"{name}.xml"
        path = folder / f"{name}-table"
        done = ingest(source, path, stream=name, on_error=self._options.on_error)
        self.notes.append(f"{done.summary()}; into a table for this run")
        if self._keep is not None:
            for one in refused(Log(path), name):
                self._keep(one)
        return Path(f"table:{path}")

    def structures(self, program: Program) -> dict[str | None, Any]:
        """The inputs that have units, the largest first; a document has no structure."""
        found: list[tuple[int, str | None, Any]] = []
        for name in inputs_of(program):
            source = self.document if name is None else self.inputs.get(name)
            if source is None:
                continue
            if is_stream(source):
                table = self.table(name)
                if table is not None and name is not None:
                    size = sum(f.nbytes for f in table.state.files_of(table.stream))
                    found.append((size, name, table.structure))
            elif isinstance(source, os.PathLike) and os.path.isfile(source):
                found.append((os.path.getsize(source), name, None))
        found.sort(key=lambda one: -one[0])
        return {name: structure for _, name, structure in found}

    def table(self, name: str | None) -> Table | None:
        """The table of a stream; fragments of files are brought into one."""
        from xstreamcast.edges.inputs import kind_of, kind_of_source

        if name is None or name in self.tables:
            return self.tables.get(name)
        source = self.inputs[name]
        word = table_path(source)
        if word is None:
            kind = kind_of(source[:65536]) if isinstance(source, bytes) else kind_of_source(source)
            if kind != "fragments":
                return None
            word = table_path(self._ingested(name, source))
        assert word is not None
        log = Log(word)
        state = log.needed()
        if state.streams or state.files:
            self.tables[name] = Table.of(log.path, stream_of(state, name, word), state)
        return self.tables.get(name)

    def when(self) -> When | None:
        """What is now: over whole streams, not over what a task sees of them."""
        options = self._options
        requested = requested_when(options)
        if requested is not None:
            return requested
        if options.clock == "wall":
            return When(Moment(*instant_from(self.current)))
        said = [table.state.streams.get(table.stream) for table in self.tables.values()]
        newest = [Moment(one.newest, one.zoned) for one in said if one and one.newest != START]
        if not newest:
            return When(Moment(0)) if self.tables else None
        return When(max(newest, key=lambda moment: moment.instant))
