"""A fragment table answers as the streams that went into it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import xstreamcast as xsc
from tests.corpus_format import read_script

pytest.importorskip("pyarrow", reason="the spark extra is not installed")

from xstreamcast.edges.ingesting import ingest
from xstreamcast.edges.loading import load
from xstreamcast.edges.table.reading import load_table
from xstreamcast.history.view import view
from xstreamcast.model.change import Accumulated
from xstreamcast.tape.store import Store

CORPUS = Path(__file__).parents[1] / "corpus"
FILES = sorted(CORPUS.glob("*.stream"))


def seen(history: object, newest: int) -> bytes:
    return view(history, newest).serialize()  # type: ignore[arg-type]


@pytest.mark.parametrize("most", [None, 2])
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_stream_from_a_table_is_the_stream(path: Path, most: int | None, tmp_path: Path) -> None:
    script = read_script(path)
    for name, wire in script.wire(len(script.moments) - 1).items():
        (tmp_path / f"{name}.xml").write_bytes(wire)
        ingest(tmp_path / f"{name}.xml", tmp_path / "table", stream=name, most=most)
        direct = load(name, wire, Store())
        kept = load_table(name, tmp_path / "table", Store())
        assert kept.history.newest == direct.history.newest
        assert kept.history.zoned == direct.history.zoned
        newest = direct.history.newest
        assert seen(kept.history, newest) == seen(direct.history, newest)
        assert kept.history.report().versions == direct.history.report().versions


@pytest.mark.parametrize("strategy", ["caq", "qac", "qac+", "auto"])
def test_a_query_asks_a_table(strategy: str, tmp_path: Path) -> None:
    script = read_script(CORPUS / "late_version.stream")
    inputs: dict[str, Any] = {}
    for name, wire in script.wire(len(script.moments) - 1).items():
        (tmp_path / f"{name}.xml").write_bytes(wire)
        ingest(tmp_path / f"{name}.xml", tmp_path / "table", stream=name)
        inputs[name] = f"table:{tmp_path / 'table'}"
    wires: dict[str, Any] = dict(script.wire(len(script.moments) - 1))
    direct = xsc.query(script.query).run(strategy=strategy, **wires).lines()
    assert list(xsc.query(script.query).run(strategy=strategy, **inputs).lines()) == list(direct)


def test_a_query_is_left_running_over_a_table(tmp_path: Path) -> None:
    script = read_script(CORPUS / "late_version.stream")
    wires = script.wire(len(script.moments) - 1)
    for name, wire in wires.items():
        (tmp_path / f"{name}.xml").write_bytes(wire)
        ingest(tmp_path / f"{name}.xml", tmp_path / "table", stream=name, most=2)
    tables: dict[str, Any] = dict.fromkeys(wires, Path(f"table:{tmp_path / 'table'}"))
    watched = xsc.query(script.query).watch(**tables, batch=1)
    given: dict[str, Any] = dict(wires)
    assert Accumulated(watched).items() == list(xsc.query(script.query).run(**given).lines())


TIMELESS = b"""<stream:fragments xmlns:stream="urn:xstreamcast:stream"><stream:structure>
<tag id="0" name="r" type="snapshot"><tag id="1" name="a" type="temporal"/></tag></stream:structure>
<stream:filler id="0" tsid="0"><r><stream:hole id="1" tsid="1"/></r></stream:filler>
<stream:filler id="1" tsid="1"><a>A</a></stream:filler>
<stream:filler id="1" tsid="1"><a>B</a></stream:filler>
<stream:repeat id="1" tsid="1"><a>A</a></stream:repeat></stream:fragments>"""


def test_a_repeat_without_time_changes_nothing_through_a_table(tmp_path: Path) -> None:
    (tmp_path / "s.xml").write_bytes(TIMELESS)
    ingest(tmp_path / "s.xml", tmp_path / "table", stream="s")
    query, table = xsc.query('stream("s")//a?[now]/string()'), f"table:{tmp_path / 'table'}"
    assert list(query.run(s=table).lines()) == list(query.run(s=TIMELESS).lines())


def test_a_table_of_the_version_before_stays_readable(tmp_path: Path) -> None:
    from pyarrow import parquet

    from xstreamcast.edges.table.schema import LATER

    (tmp_path / "s.xml").write_bytes(TIMELESS.replace(b"repeat", b"filler"))
    ingest(tmp_path / "s.xml", tmp_path / "table", stream="s")
    query, table = xsc.query('stream("s")//a?[now]/string()'), f"table:{tmp_path / 'table'}"
    now = list(query.run(s=table).lines())
    for path in (tmp_path / "table").rglob("stream=*/**/*.parquet"):
        rows = parquet.ParquetFile(path).read()
        parquet.write_table(rows.drop_columns(list(LATER)), path)
    assert list(query.run(s=table).lines()) == now == ["A"]
    assert Accumulated(query.watch(s=Path(table))).items() == now


MAPPING = """
[message]
time = "/m/@at"
[unit.u]
path = "/m/u"
key  = "@id"
to   = "@to"
remove = "@gone"
whole = true
"""


def feed(folder: Path, number: int, at: int, *units: str) -> None:
    folder.mkdir(exist_ok=True)
    said = f'<m at="2024-01-01T00:{at:02}:00Z">{"".join(units)}</m>'
    (folder / f"{number}.xml").write_text(said)


def test_a_feed_with_a_mapping_goes_into_a_table(tmp_path: Path) -> None:
    mapping, folder = tmp_path / "m.toml", tmp_path / "feed"
    mapping.write_text(MAPPING)
    source, table = f"{mapping}:{folder}", tmp_path / "table"
    a, b = '<u id="a">1</u>', '<u id="b" to="2024-01-01T00:09:00Z">1</u>'
    feed(folder, 1, 1, a, b)
    first = ingest(source, table, stream="s")
    feed(folder, 2, 5, '<u id="a">2</u>', b)
    feed(folder, 3, 7, '<u id="a">2</u>', b, '<u id="c">1</u>')
    again = ingest(source, table, stream="s")
    assert (first.refused, again.refused, ingest(source, table, stream="s").fragments) == (0, 0, 0)
    for query in (
        'for $u in stream("s")//u return concat($u/@id, $u, " ", $u/@vtFrom, " ", $u/@vtTo)',
        'stream("s")//u?[now]/@id/string()',
        'for $u in stream("s")//u return string(now - vtFrom($u))',
    ):
        asked = xsc.query(query)
        direct = list(asked.run(s=Path(source)).lines())
        assert list(asked.run(s=f"table:{table}").lines()) == direct
        assert Accumulated(asked.watch(s=Path(f"table:{table}"))).items() == direct
    asked = xsc.query('stream("s")//u/string()')
    early = "2024-01-01T00:02:00Z"
    assert list(asked.run(s=f"table:{table}", as_of=early).lines()) == ["1", "1"]
