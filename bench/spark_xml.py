"""The queries in DataFrame code over Spark's own XML reader: `rowTag` on documents, `from_xml` on
payloads. Each reads only the fields that it needs.

Where XQuery asks without knowing the schema, these know it: only items have a location.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

ALBANIA: Final = "location = 'Albania'"
REGIONS: Final = ("africa", "asia", "australia", "europe", "namerica", "samerica")
_PAPER: Final = "author array<string>, title string, year string"
_ELEMENT: Final = re.compile(r"<(\w+)[^<>]*>.*?</\1>", re.S)
Values = list[str]


class Documents:
    """Rows of a document, by the name of an element."""

    def __init__(self, spark: Any, path: str) -> None:
        self._spark, self._path = spark, path

    def rows(self, tag: str, schema: str) -> Any:
        reader = self._spark.read.format("xml").option("rowTag", tag)
        return reader.schema(schema).load(self._path)

    def items(self, schema: str, region: str | None = None) -> Any:
        """All items, or those of a region; the reader tells nothing of what is around a row."""
        if region is None:
            return self.rows("item", schema)
        fields = re.sub(r"(\w+) (\w+)", r"\1: \2", schema)
        return self.rows(region, f"item array<struct<{fields}>>").selectExpr("inline(item)")

    def increases(self) -> Any:
        rows = self.rows("open_auction", "bidder array<struct<increase: string>>")
        return rows.selectExpr("try_element_at(bidder, 1).increase as increase")


class Payloads:
    """Rows of a fragment table, by the name of an element that travels alone."""

    def __init__(self, spark: Any, path: str, stream: str) -> None:
        from xstreamcast.edges.table.log import Log
        from xstreamcast.edges.table.reading import structure_in

        self._spark, self._path, self._stream = spark, path, stream
        self._known = structure_in(Log(path).state().streams[stream], stream)

    def tags(self, name: str, parent: str | None = None) -> list[int]:
        found = []
        for tag in self._known.tags.values():
            above = [one.local for one in self._known.parents(tag.id)]
            under = parent is None or parent in above
            if tag.local == name and under and self._known.travels(tag.id):
                found.append(tag.id)
        return found

    def fragments(self, name: str, parent: str | None = None) -> Any:
        from xstreamcast.spark.table import read_fragments

        return read_fragments(self._spark, self._path, self._stream, self.tags(name, parent))

    def rows(self, tag: str, schema: str, parent: str | None = None) -> Any:
        return _inside(self.fragments(tag, parent), schema).select("one.*")

    def items(self, schema: str, region: str | None = None) -> Any:
        """All items, or those whose tag is that of the items of a region."""
        return self.rows("item", schema, region)

    def increases(self) -> Any:
        """The first hole of a bidder in each auction, and the fragment that fills it."""
        (tag,) = self.tags("bidder")
        holes = self.fragments("open_auction").selectExpr(
            f"try_element_at(filter(holes, h -> h.tag = {tag}), 1).id as id"
        )
        bids = _inside(self.fragments("bidder"), "increase string").select("id", "one.increase")
        return holes.join(bids, "id", "left").select("increase")


WatchRequest = Documents | Payloads


def _inside(fragments: Any, schema: str) -> Any:
    return fragments.selectExpr("id", f"from_xml(string(payload), '{schema}') as one")


def _texts(rows: Any, name: str) -> Values:
    """Of rows that have the element at all."""
    return [row[0] for row in rows.where(f"{name} is not null").select(name).collect()]


def _number(value: int) -> Values:
    return [str(value)]


def _p1(asked: WatchRequest) -> Values:
    return _texts(
        asked.items("location string, quantity string", "europe").where(ALBANIA), "quantity"
    )


def _p2(asked: WatchRequest) -> Values:
    rows = asked.items("location string, payment string").where(ALBANIA)
    return _texts(rows.where("payment = 'Cash'"), "location")


def _p3(asked: WatchRequest) -> Values:
    return _texts(asked.items("location string, quantity string").where(ALBANIA), "quantity")


def _p4(asked: WatchRequest) -> Values:
    """Regions with such an item; one read each, as only a region knows its items."""
    rows = [asked.items("location string", one).where(ALBANIA).limit(1) for one in REGIONS]
    found = rows[0]
    for more in rows[1:]:
        found = found.unionAll(more)
    return _number(found.count())


def _p5(asked: WatchRequest) -> Values:
    found = asked.items("location string", "europe").where(ALBANIA).limit(1)
    return _number(found.count())


def _p6(asked: WatchRequest) -> Values:
    """The root is around every item, and every location is below it: all, if there is one."""
    told = asked.items("location string").selectExpr(
        "count(location) as all", f"coalesce(bool_or({ALBANIA}), false) as one"
    )
    row = told.collect()[0]
    return _number(row["all"] if row["one"] else 0)


def _p7(asked: WatchRequest) -> Values:
    rows = asked.items("location string, quantity string, payment string").where(ALBANIA)
    found = rows.select("quantity", "payment").collect()
    return [f"{row[0] or ''}|{row[1] or ''}" for row in found]


def _p8(asked: WatchRequest) -> Values:
    rows = asked.rows("inproceedings", _PAPER).where("array_contains(author, 'John Smith')")
    return [plain(one) for one in _texts(rows, "title")]


def _p9(asked: WatchRequest) -> Values:
    rows = asked.rows("inproceedings", _PAPER).where("exists(author, a -> contains(a, 'Smith'))")
    found = rows.orderBy("year").select("year", "title").collect()
    return [f"{row[0] or ''}: {_ELEMENT.sub('', row[1] or '')}" for row in found]


def _q01(asked: WatchRequest) -> Values:
    rows = asked.rows("person", "_id string, name string").where("_id = 'person0'")
    return _texts(rows, "name")


def _q02(asked: WatchRequest) -> Values:
    return [row[0] or "" for row in asked.increases().collect()]


def _q05(asked: WatchRequest) -> Values:
    rows = asked.rows("closed_auction", "price double").where("price >= 40")
    return _number(rows.count())


def plain(text: str) -> str:
    """Text without the tags in it."""
    return re.sub(r"<[^<>]*>", "", text)


SAID: Final[dict[str, Callable[[WatchRequest], Values]]] = {
    "p1": _p1, "p2": _p2, "p3": _p3, "p4": _p4, "p5": _p5, "p6": _p6, "p7": _p7, "p8": _p8,
    "p9": _p9, "q01": _q01, "q02": _q02, "q05": _q05,
}  # fmt: skip
