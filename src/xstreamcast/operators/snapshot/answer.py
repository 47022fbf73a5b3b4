"""The answer of another query that is read as an input: its items, and the places of its units."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xstreamcast.model.change import Accumulated, Change
from xstreamcast.operators.feeds.grown import GrownFeed
from xstreamcast.operators.feeds.once import OnceFeed

if TYPE_CHECKING:
    from xstreamcast.operators.feeds.answer import AnswerFeed
    from xstreamcast.operators.snapshot.tables import TableReader, TableWriter


def write_answer(to: TableWriter, at: str, feed: AnswerFeed) -> None:
    """The items in their order; of items that are read once, how many there were."""
    if isinstance(feed, OnceFeed):
        to.facts[f"{at}.once"] = {"count": feed._numbers.count}
        return
    if isinstance(feed, GrownFeed):
        to.blocks(f"{at}.blocks", feed.blocks)
        to.values(f"{at}.last", item=feed.last)
        to.facts[f"{at}.grown"] = {"count": feed.numbers.count}
        return
    listed = list(feed._answer)
    keys = [key for key, _ in listed]
    to.values(
        f"{at}.items", key=keys, item=[item for _, item in listed],
        place=[feed._places[key] for key in keys],
    )  # fmt: skip
    to.facts[f"{at}.answer"] = {"used": feed._used}


def read_answer(source: TableReader, at: str, feed: AnswerFeed) -> None:
    """Give a new feed the items of another one."""
    if isinstance(feed, OnceFeed):
        feed._numbers.count = source.facts[f"{at}.once"]["count"]
        return
    if isinstance(feed, GrownFeed):
        _read_grown(source, at, feed)
        return
    feed._answer = Accumulated()  # a table of constants was given already
    after: str | None = None
    keys, items, places = source.values(f"{at}.items", "key", "item", "place")
    for key, item in zip(keys, items, strict=True):
        feed._answer.apply(Change(0, 1, key, after, item))
        after = key
    feed._places = dict(zip(keys, places, strict=True))
    feed._used = source.facts[f"{at}.answer"]["used"]
    feed._bytes = sum(map(len, items))


def _read_grown(source: TableReader, at: str, feed: GrownFeed) -> None:
    if f"{at}.blocks" not in source:  # an older snapshot has the items one by one
        feed.extend(source.values(f"{at}.items", "item")[0])
        return
    feed.blocks = source.blocks(f"{at}.blocks")
    feed.last = source.values(f"{at}.last", "item")[0]
    feed.numbers.count = source.facts[f"{at}.grown"]["count"]
