"""Whatever the local runner reads, a query left running on Spark reads, with the same answer."""

from __future__ import annotations

import os
import socket
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.spark.feeds import HEAD, STRUCTURE, fragments
from tests.spark.watched import Left, locally, same

pytest.importorskip("pyspark", reason="the spark extra is not installed")

from xstreamcast import query
from xstreamcast.edges.ingesting import ingest
from xstreamcast.edges.table.compacting import compact

pytestmark = pytest.mark.spark
END = "</stream:fragments>\n"
BIG = """for $a in stream("credit")//account
where $a/limit?[now] > 5000 return <a>{$a/@no, $a/limit?[now]/text()}</a>"""
NAMES = b"<names>" + b"".join(b'<n no="%d">n%d</n>' % (i, i) for i in range(9)) + b"</names>"
UPDATES = b"""{"event":"sE","id":0,"tag":"rates","attributes":{}}
{"event":"sM","target":0,"id":1}
{"event":"sE","id":1,"tag":"rate","attributes":{"no":"1"}}
{"event":"cD","id":1,"text":"5"}
{"event":"eE","id":1,"tag":"rate"}
{"event":"eM","target":0,"id":1}
{"event":"sM","target":0,"id":2}
{"event":"sE","id":2,"tag":"rate","attributes":{"no":"2"}}
{"event":"cD","id":2,"text":"6"}
{"event":"eE","id":2,"tag":"rate"}
{"event":"eM","target":0,"id":2}
{"event":"eE","id":0,"tag":"rates"}
"""
REPLACED = b"""{"event":"sR","target":1,"id":3}
{"event":"sE","id":3,"tag":"rate","attributes":{"no":"1"}}
{"event":"cD","id":3,"text":"7"}
{"event":"eE","id":3,"tag":"rate"}
{"event":"eR","target":1,"id":3}
{"event":"eR","target":9,"id":9}
"""
RATES = 'stream("rates")//rate/concat(@no, ":", .)'


def wire(count: int = 40, seed: int = 1, head: str = HEAD + STRUCTURE) -> bytes:
    return (head + "".join(fragments(count, seed))).encode()


def written(pipe: Path, data: bytes) -> threading.Thread:
    """Somebody who writes into a named pipe."""
    os.mkfifo(pipe)

    def write() -> None:
        with open(pipe, "wb") as file:
            for at in range(0, len(data), 1000):
                file.write(data[at : at + 1000])
                file.flush()

    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    return writer


def test_inputs_of_five_kinds_in_one_query(spark: Any, tmp_path: Path) -> None:
    """A named pipe, a table, updates, pieces of a document, a folder of fragments."""
    ingest(_file(tmp_path / "old.xml", wire(20, 3)), tmp_path / "table", stream="old", most=7)
    (tmp_path / "new").mkdir()
    _file(tmp_path / "new" / "0.xml", wire(20, 4))
    _file(tmp_path / "new" / "1.xml", wire(20, 5, HEAD))
    _file(tmp_path / "rates.ndjson", UPDATES + REPLACED)
    asked = """for $n in stream("names")//n, $a in stream("credit")//account[@no = $n/@no]
    let $r := stream("rates")//rate[@no = $n/@no]
    return <a n="{$n}" r="{$r}">{
      for $s in (stream("old"), stream("new")) return max($s//account[@no = $n/@no]/limit?[now])
    }{$a/limit?[now]/text()}</a>"""
    plain = {
        "old": f"table:{tmp_path / 'table'}", "new": tmp_path / "new", "credit": wire(),
        "rates": tmp_path / "rates.ndjson", "names": NAMES,
    }  # fmt: skip
    pipe = written(tmp_path / "pipe", wire())
    pieces = (NAMES[at : at + 50] for at in range(0, len(NAMES), 50))
    left = Left(
        spark, asked, **{**plain, "credit": tmp_path / "pipe", "names": pieces}, max_per_batch=9
    )
    answer = left.ended()
    pipe.join()
    assert len(answer) == 9
    told, refused = locally(asked, inputs=plain)
    assert (answer, left.refused) == (told, refused)
    assert [code for code, *_ in refused] == ["XSCE0002"]


def test_what_grows_is_followed(spark: Any, tmp_path: Path) -> None:
    """A folder gets a file, a file grows, a table is appended to, updates come"""
    made, folder, table = fragments(40), tmp_path / "folder", tmp_path / "table"
    folder.mkdir()
    _file(folder / "0.xml", (HEAD + STRUCTURE + "".join(made[:9]) + END).encode())
    ingest(_file(tmp_path / "t.xml", wire(20, 3)), table, stream="old", most=9)
    rates = _file(tmp_path / "rates.ndjson", UPDATES)
    asked = f"""(count(stream("new")//limit), count(stream("old")//limit), {RATES})"""
    left = Left(
        spark, asked, new=folder, old=f"table:{table}", rates=rates, follow=True,
        checkpoint=str(tmp_path / "checkpoint"),
    )  # fmt: skip
    first = left.caught_up()
    assert first[1:] == ["15", "1:5", "2:6"]
    _file(folder / "1.xml", (HEAD + "".join(made[9:20])).encode())
    compact(table, clean=True)
    ingest(_file(tmp_path / "u.xml", wire(20, 4, HEAD)), table, stream="old")
    with rates.open("ab") as file:
        file.write(REPLACED)
    left.caught_up()
    with (folder / "1.xml").open("a") as more:
        more.write("".join(made[20:]))
    transcript = left.running._of.prepared.transcripts["rates"]
    while transcript.decoder.counts.refused == 0:
        transcript.join(0.05)
    answer = left.caught_up()
    left.running.stop()
    expected = query(asked).run(new=folder, old=f"table:{table}", rates=rates)
    assert answer == list(expected.lines())
    assert answer[2:] == ["1:7", "2:6"]
    assert [code for code, *_ in left.refused] == ["XSCE0002"]


def test_a_socket_that_comes_again(spark: Any, tmp_path: Path) -> None:
    made = fragments(40)
    parts = [HEAD + STRUCTURE + "".join(made[:15]), HEAD + "".join(made[15:])]
    with socket.create_server(("127.0.0.1", 0)) as server:
        serving = threading.Thread(target=_serve, args=(server, parts), daemon=True)
        serving.start()
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        left = Left(spark, BIG, credit=address, follow=True)
        serving.join()
        spool = left.running._of.prepared.spools[0]
        second = spool.folder / "000001.xml"
        while not second.exists() or second.stat().st_size < len(parts[1]):
            spool.join(0.05)
        answer = left.caught_up()
        left.running.stop()
    whole = (HEAD + STRUCTURE + "".join(made)).encode()
    assert answer == list(query(BIG).run(credit=whole).lines())
    assert answer


def _serve(server: socket.socket, parts: list[str]) -> None:
    """Send one part to each who connects."""
    for part in parts:
        connection, _ = server.accept()
        with connection:
            connection.sendall(part.encode())


@pytest.mark.parametrize("source", ["updates", "changes"])
def test_streams_of_updates_and_of_changes(spark: Any, tmp_path: Path, source: str) -> None:
    if source == "updates":
        same(spark, RATES, inputs={"rates": UPDATES + REPLACED})
        return
    told = query(BIG).watch(credit=wire(), batch=7)
    lines = b"".join(change.to_json().encode() + b"\n" for change in told)
    answer = same(spark, 'stream("hot")/answer/a/@no/string()', inputs={"hot": lines + b"{}\n"})
    assert len(answer) == len(list(query(BIG).run(credit=wire()).lines()))


def _file(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path
