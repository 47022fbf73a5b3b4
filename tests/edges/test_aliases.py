"""Other keys of units are kept as long as a removal may name them."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from tests.conftest import examples
from xstreamcast.cli.main import main
from xstreamcast.edges.mapping.decoder import MappingDecoder
from xstreamcast.edges.mapping.form import parse_mapping
from xstreamcast.edges.mapping.messages import Message
from xstreamcast.model.fragment import FragmentBatch, Op
from xstreamcast.model.instant import SECOND, show_instant

MAPPING = """
[unit.bus]
path   = "/*"
key    = "(@id, @item)[1]"
from   = "@at"
alias  = "@item"
remove = "self::gone"
"""
DAY = 1_714_550_400  # seconds


def at(second: int) -> str:
    return f"{show_instant((DAY + second) * SECOND)}Z"


def said(bus: int, second: int, item: int) -> Message:
    return Message(f'<bus id="b{bus}" at="{at(second)}" item="i{item}"/>'.encode())


def gone(second: int, item: int) -> Message:
    return Message(f'<gone at="{at(second)}" item="i{item}"/>'.encode())


def made(lateness: int | None) -> MappingDecoder:
    decoder = MappingDecoder("s", parse_mapping(MAPPING, "buses"))
    decoder.lateness = None if lateness is None else lateness * SECOND
    return decoder


def removed(decoder: MappingDecoder, *messages: Message) -> list[str]:
    """The ids of what messages remove."""
    batches = [one for one in decoder.messages(messages) if isinstance(one, FragmentBatch)]
    return [
        decoder.ids.text(int(batch.id[row]))
        for batch in batches
        for row in np.flatnonzero(batch.op == Op.REMOVE).tolist()
    ]


def kept(decoder: MappingDecoder) -> int:
    own = decoder._aliases["bus"]
    return own._size()


def test_aliases_of_units_that_are_gone_are_dropped() -> None:
    bounded, whole = made(60), made(None)
    for second in range(6000):  # ten buses at a time, each reported once and removed
        messages = [said(second, second, second)]
        messages += [gone(second, second - 10)] if second >= 10 else []
        assert removed(bounded, *messages) == removed(whole, *messages)
    assert kept(bounded) <= 2048
    assert kept(whole) > 6000


def test_aliases_that_units_use_no_longer_are_dropped() -> None:
    decoder = made(60)
    for second in range(0, 20_000, 10):  # an item for each report
        decoder.messages([said(bus, second, 3 * second + bus) for bus in range(3)])
    assert kept(decoder) <= 1024
    assert removed(decoder, gone(19_995, 3 * 19_990 + 1)) == ["bus:b1"]


def test_units_that_are_there_keep_their_aliases() -> None:
    decoder = made(60)
    decoder.messages([said(1, 0, 1)])
    for second in range(5000):
        decoder.messages([said(second + 2, second, second + 2), gone(second, second + 2)])
    assert removed(decoder, gone(5000, 1)) == ["bus:b1"]


@pytest.mark.parametrize("seed", range(examples(5)))
def test_timely_removals_name_what_they_would_without_a_bound(seed: int) -> None:
    chance = random.Random(seed)
    bounded, whole = made(100), made(None)
    items: dict[int, int] = {}  # of the buses that are there
    ended = dict.fromkeys(range(2000), -1000)  # when each was last said, or removed
    for second in range(2000):
        bus, begin = chance.randrange(2000), second - chance.randrange(90)
        item = chance.choice([items.get(bus, bus), second + 10_000])
        messages = [said(bus, begin, item)]
        if begin > ended[bus]:
            items[bus], ended[bus] = item, begin
        if chance.random() < 0.5 and items:
            one = chance.choice([*items])
            messages.append(gone(second, items.pop(one)))
            ended[one] = second
        assert removed(bounded, *messages) == removed(whole, *messages)
    assert kept(bounded) < kept(whole)


def test_a_watch_drops_aliases_by_its_lateness(tmp_path: Path) -> None:
    """The option reaches the decoder; a removal by the alias of what is there still counts."""
    (tmp_path / "m.toml").write_text(MAPPING)
    feed = tmp_path / "feed"
    feed.mkdir()
    for number, one in enumerate([said(1, 0, 1), said(2, 50, 2), gone(60, 1)]):
        (feed / f"{number}.xml").write_bytes(one.data)
    answer = tmp_path / "answer"
    query = 'count(stream("s")//bus?[now])'
    words = ["watch", "-q", query, "-i", f"s={tmp_path / 'm.toml'}:{feed}", "--lateness", "1h"]
    assert main([*words, "--format", "lines", "--batch", "1", "-o", str(answer)]) == 0
    assert answer.read_text().splitlines()[-1] == "+ 1"
