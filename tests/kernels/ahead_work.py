"""A broad piece of work for kernels: documents, streams, tables, queries of all kinds."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from bench.start import FRAGMENTS
from tests.corpus_format import read_script
from tests.corpus_functions import register
from xstreamcast import query
from xstreamcast.cli.main import main

CORPUS = Path(__file__).parents[1] / "corpus"
DOCUMENT = """<?xml version="1.0"?><shop xmlns:p="urn:p"><!-- c --><?pi data?>
<item id="1" p:kind="a&amp;b"><price>12.50</price><name>Ärmel &lt;1&gt;</name></item>
<item id="2"><price>7</price><name><![CDATA[<raw>]]></name><item id="3"/></item></shop>"""

OVER_A_DOCUMENT = (
    "count(//item)",
    "//item[price > 8]/name/string()",
    "sum(//price)",
    "for $i in //item order by number($i/price) return <i n='{$i/@id}'>{$i/name}</i>",
    "//name/ancestor::item/@id ! string()",
    "//item/following::node() ! name()",
    "distinct-values(//@*)",
    "//item[@id = '2']/preceding-sibling::*",
    "for $a in //item, $b in //item where $a/@id = $b/@id return concat($a/@id, $b/price)",
    "string-join(//text(), '|')",
    "//*[contains(., 'raw')] ! name()",
    "/shop/node()[1]",
    "<copy>{//item}</copy>",
    "deep-equal(//item[1], //item[2])",
    "serialize(/)",
    "for tumbling window $w in //item start when true() end at $e when $e mod 2 = 0 return $w",
    "some $p in //price satisfies $p castable as xs:integer",
    "//item[last()]/parent::*/@xml:id",
    "tokenize('a b', ' ') ! upper-case(.)",
    "min(//price), max(//price), avg(//price)",
    "//@*[namespace-uri() = 'urn:p']",
)


def lines(folder: str) -> None:
    """Lines of JSON and records of CSV, with a mapping and without."""
    for name, kind, text in (
        ("rows.csv", "csv", 'id,at,v\n1,1700000000,a\n2,1700000001,"b, c"\n'),
        ("rows.ndjson", "ndjson", '{"id": 1, "at": 1700000000}\n{"id": 2, "at": 1700000001}\n'),
    ):
        path, mapping = Path(folder, name), Path(folder, f"{kind}.toml")
        path.write_text(text, "utf-8")
        key, at = ("id", "at") if kind == "csv" else ("*[@key='id']", "*[@key='at']")
        said = f'key = "{key}"\nfrom = {{ path = "{at}", format = "epoch" }}\n'
        mapping.write_text(f'[message]\ntype = "{kind}"\n[unit.u]\n{said}', "utf-8")
        commanded("run", "-q", "count(//*)", "-i", str(path))
        commanded("run", "-q", 'stream("s")//*?[now]', "-i", f"s={mapping}:{path}")


def work(folder: str) -> None:
    """Do it; what a command says is thrown away, an internal error is not."""
    register()
    document = Path(folder, "shop.xml")
    document.write_text(DOCUMENT, "utf-8")
    for text in OVER_A_DOCUMENT:
        commanded("run", "-q", text, "-i", str(document))
    commanded("watch", "-q", "for $i in //item return $i/name", "-i", str(document))
    commanded("infer", str(document))
    lines(folder)
    table = str(Path(folder, "table"))
    fragments = Path(folder, "credit.xml")
    fragments.write_text(FRAGMENTS, "utf-8")
    assert main(["ingest", str(fragments), "--table", table, "--runner", "local"]) == 0
    commanded("run", "-q", 'stream("credit")//limit', "-i", f"credit=table:{table}")
    for path in sorted(CORPUS.glob("*.stream"))[::3]:
        scripted(path)


def scripted(path: Path) -> None:
    """A script of the corpus, queried at its end and left running over all that arrives."""
    script = read_script(path)
    asked = query(script.query)
    _, wire, instant = script.questions()[-1]
    inputs: dict[str, Any] = dict(wire)
    for strategy in ("caq", "qac+"):
        list(asked.run(as_of=instant, strategy=strategy, **inputs).lines())
    for policy in ("optimistic", "strict"):
        pieces: dict[str, Any] = {name: iter([one]) for name, one in wire.items()}
        list(asked.watch(policy=policy, **pieces))


def commanded(*words: str) -> None:
    """A command whose answer goes to a file."""
    if main([*words, "-o", os.devnull]):
        raise AssertionError(f"{words} failed")
