"""Inputs of every kind, and what can be asked of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from xstreamcast.operators.answer_feed import AnswerFeed
from xstreamcast.operators.document_feed import DocumentFeed, WholeDocument
from xstreamcast.operators.fragment_feed import FragmentFeed
from xstreamcast.operators.joining_release import Released
from xstreamcast.operators.split_feed import SplitFeed
from xstreamcast.operators.units import NOTHING, Moved

if TYPE_CHECKING:
    from xstreamcast.algebra.division import Division
    from xstreamcast.tape.names import Names

Feed: TypeAlias = DocumentFeed | SplitFeed | WholeDocument | FragmentFeed | AnswerFeed


def all_units(feed: Feed) -> Moved:
    """All units of an input, to be asked again."""
    return NOTHING if isinstance(feed, WholeDocument) else feed.everything()


def units_again(feed: Feed, keys: Sequence[str]) -> list[Moved]:
    """Some units of an input, to be asked again."""
    match feed:
        case FragmentFeed() | AnswerFeed():
            return [feed.again(keys)]
        case SplitFeed():
            return feed.again(keys)
        case DocumentFeed():
            return [feed.everything()]
        case WholeDocument():
            return []


def drops_units(feed: Feed) -> bool:
    """Whether units are not kept, so that nothing can be evaluated again."""
    return isinstance(feed, DocumentFeed) or (isinstance(feed, SplitFeed) and feed.held)


def let_go(feeds: Mapping[str | None, Feed], free: Released) -> None:
    """Units that only the future of an ended input could have met."""
    for name, feed in feeds.items():
        if isinstance(feed, SplitFeed) and name in free.inputs:
            feed.release()
        elif isinstance(feed, SplitFeed):
            feed.forget(free.units.get(name, ()))


def document_feed(
    name: str | None, names: Names, division: Division, mixed: bool
) -> DocumentFeed | SplitFeed | WholeDocument:
    """What reads a document as a division needs it."""
    title = name or "input"
    if name in division.probed:
        return SplitFeed(title, names, division.levels(name), mixed)
    parts = [part for part in division.parts if part.input == name]
    if not parts or name in division.whole:
        return WholeDocument(title, names)
    kept = any(part.others or part.clock for part in parts)
    return DocumentFeed(title, names, division.levels(name), kept, division.held(name))
