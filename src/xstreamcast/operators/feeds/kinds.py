"""Inputs of every kind, and their operations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from xstreamcast.operators.feeds.answer import AnswerFeed
from xstreamcast.operators.feeds.document import DocumentFeed, WholeDocument
from xstreamcast.operators.feeds.fragments import FragmentFeed
from xstreamcast.operators.feeds.split import SplitFeed
from xstreamcast.operators.units.units import NOTHING, UnitDelta

Feed: TypeAlias = DocumentFeed | SplitFeed | WholeDocument | FragmentFeed | AnswerFeed


def all_units(feed: Feed) -> UnitDelta:
    """All units of an input, to be evaluated again."""
    return NOTHING if isinstance(feed, WholeDocument | DocumentFeed) else feed.everything()


def units_again(feed: Feed, keys: Sequence[str]) -> list[UnitDelta]:
    """Some units of an input, to be evaluated again."""
    match feed:
        case AnswerFeed():
            return [feed.again(keys)]
        case FragmentFeed() | SplitFeed():
            return feed.again(keys)
        case DocumentFeed() | WholeDocument():
            return []


def drops_units(feed: Feed) -> bool:
    """Whether units are not kept, so that nothing can be evaluated again."""
    return isinstance(feed, DocumentFeed) or (isinstance(feed, SplitFeed) and feed.drops)
