"""Tables answer as streams do, however they were written: generated streams, every strategy.

Tasks are called here, in this process, with the numbers that Spark would hand to them. Streams
are plain: a table refuses fragments that name their parent, their end or a message time.
"""

from __future__ import annotations

import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import xstreamcast as xsc
from tests.conftest import examples
from tests.oracle import answer, canonical
from tests.spark.feeds import write_feed
from tests.spark.test_run_law import _answer, _here
from tests.streams_strategies import Case, cases
from xstreamcast.edges.binding import Options
from xstreamcast.edges.ingesting import ingest
from xstreamcast.edges.table import files
from xstreamcast.edges.table.compacting import compact
from xstreamcast.edges.table.files import read_files
from xstreamcast.edges.table.insides import inside_of, kept_inside
from xstreamcast.edges.table.log import Log
from xstreamcast.edges.table.pruning import guide_of
from xstreamcast.edges.table.reading import load_table, structure_in
from xstreamcast.spark.running.spark_run import SparkRun
from xstreamcast.tape.store import Store

pytest.importorskip("pyarrow", reason="the spark extra is not installed")
SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large]
MINUTES = st.integers(0, 9).map(lambda minute: f"2020-01-01T00:0{minute}:00")
STRATEGIES = ("caq", "qac", "qac+", "auto")
# The same stream in forms that payloads are written anew from, or bind namespaces in.
FORMS = (
    (b"", b""),
    (b"<stream:hole", b"<stream:hole "),
    (b"<r>", b"<r xmlns:k='urn:k'>"),
    (
        b'xmlns:stream="urn:xstreamcast:stream">',
        b'xmlns:stream="urn:xstreamcast:stream" xmlns:k="k">',
    ),
    (b"<a>", b"<a><k:z xmlns:k='urn:k'><y/></k:z>"),
)


def _table(folder: str, case: Case, most: int | None, compacted: bool) -> Path:
    """The stream of a case in a table, in batches of `most` fragments."""
    (Path(folder) / "s.xml").write_bytes(case.wire)
    ingest(Path(folder) / "s.xml", Path(folder) / "table", stream="s", most=most)
    if compacted:
        compact(Path(folder) / "table", clean=True)
    return Path(folder) / "table"


def _spread(text: str, table: Path, options: Options, tasks: int) -> list[str] | str:
    """The answer of all tasks, the last one first; or the code of what went wrong."""
    inputs = {"s": Path(f"table:{table}")}
    run = SparkRun(None, xsc.query(text).telling(""), None, inputs, options, tasks=tasks)
    return _answer(lambda: _here(run))


def _local(text: str, wire: bytes, **options: Any) -> list[str] | str:
    return _answer(lambda: xsc.query(text).run(s=wire, **options).lines())


@settings(max_examples=examples(25, 1000), suppress_health_check=SLOW)
@given(
    cases(plain=True),
    st.none() | MINUTES,
    st.none() | st.integers(1, 5),
    st.booleans(),
    st.integers(1, 4),
)
def test_a_table_in_batches_answers_as_its_stream_with_every_strategy(
    case: Case, as_of: str | None, most: int | None, compacted: bool, tasks: int
) -> None:
    with TemporaryDirectory() as folder:
        table = _table(folder, case, most, compacted)
        for text in case.queries:
            local = _local(text, case.wire, as_of=as_of)
            for strategy in STRATEGIES:
                asked = Options(as_of, strategy=strategy)
                assert _spread(text, table, asked, tasks) == local, (strategy, text)


NOW = (
    'stream("s")//{a}?[now]',
    'stream("s")//{a}?[now]/{b}, count(stream("s")//{b}?[now,now])',
    'for $x in stream("s")//{a} return <r>{{$x/{b}?[now]/string(), vtFrom($x)}}</r>',
    'for $x in stream("s")//{a}?[now] return <r>{{$x//{b}}}</r>',
    'stream("s")//{a}[{b}?[now] = "1"]//{c}?[now]/@*/string()',
    'sum(for $x in stream("s")/*/{a} return count($x/{b}/{c}?[now]))',
)


@settings(max_examples=examples(25, 1000), suppress_health_check=SLOW)
@given(cases(plain=True), st.none() | MINUTES, st.randoms(use_true_random=False))
def test_what_is_asked_as_it_is_now_needs_no_other_version(
    case: Case, as_of: str | None, dice: Any
) -> None:
    names = sorted(set(re.findall(rb'name="(\w+)"', case.wire))) or [b"a"]
    with TemporaryDirectory() as folder:
        table = _table(folder, case, 4, compacted=False)
        for form in NOW:
            chosen = {letter: dice.choice(names).decode() for letter in "abc"}
            text = form.format(**chosen)
            local = _local(text, case.wire, as_of=as_of)
            asked = Options(as_of, strategy=dice.choice(STRATEGIES[1:]))
            assert _spread(text, table, asked, 2) == local, text


@settings(max_examples=examples(12, 500), suppress_health_check=SLOW)
@given(cases(plain=True), st.integers(1, 5), st.sampled_from(STRATEGIES))
def test_a_table_answers_as_saxon_does(case: Case, most: int, strategy: str) -> None:
    pytest.importorskip("saxonche", reason="SaxonC-HE is not installed")
    with TemporaryDirectory() as folder:
        table = _table(folder, case, most, compacted=most % 2 == 0)
        for text in case.queries:
            found = _spread(text, table, Options(strategy=strategy), 3)
            assert [canonical(line) for line in found] == answer(text, {"s": case.wire}), text


@settings(max_examples=examples(25, 500), suppress_health_check=SLOW)
@given(cases(plain=True), st.none() | st.integers(1, 5), st.booleans())
def test_what_is_kept_of_files_is_what_a_reader_of_all_would_see(
    case: Case, most: int | None, compacted: bool
) -> None:
    with TemporaryDirectory() as folder:
        table = _table(folder, case, most, compacted)
        state = Log(table).state()
        structure = structure_in(state.streams["s"], "s")
        kept = guide_of(table, state, "s", structure)
        seen = load_table("s", table, Store()).history
        ids, tags = seen.fragments["id"].tolist(), seen.fragments["tsid"].tolist()
        both = {(one, tag) for one, tag in zip(ids, tags, strict=True) if tag >= 0}
        assert (kept is None) == (len(both) > len({one for one, _ in both}))
        if kept is not None:
            exact, guide = seen.guide(), kept.guide
            assert guide.inner == exact.inner
            assert guide.binding == exact.binding
            assert (guide.name, guide.timed, guide.roots) == (exact.name, exact.timed, exact.roots)
            assert all(guide.links.get(tag, set()) >= links for tag, links in exact.links.items())
            assert guide_of(table, state, "s", structure) == kept


@settings(max_examples=examples(40, 1000), suppress_health_check=SLOW)
@given(cases(plain=True), st.none() | st.integers(1, 5), st.sampled_from(FORMS))
def test_what_is_seen_while_decoding_is_what_stands_in_the_files(
    case: Case, most: int | None, form: tuple[bytes, bytes]
) -> None:
    again = Case(case.queries, case.wire.replace(*form))
    with TemporaryDirectory() as folder:
        table = _table(folder, again, most, False)
        state = Log(table).state()
        if not state.files:
            return
        structure = structure_in(state.streams["s"], "s")
        for file in state.files:
            rows = read_files(table, [file])
            assert file.inside is not None
            assert kept_inside(table, file.inside) == inside_of(rows, file.tag, structure), file


def test_payloads_of_a_canonical_stream_are_tokenised_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    feed = write_feed(tmp_path / "feed", 40)
    with monkeypatch.context() as patched:
        patched.setattr(files, "tried", lambda *_: pytest.fail("a file was tokenised again"))
        ingest(feed, tmp_path / "table", stream="credit")
    assert all(file.inside is not None for file in Log(tmp_path / "table").state().files)
