"""A bucket: the root of a stream, and some of its units, which are asked here."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from xstreamcast.edges.wire.decoder import Decoder
from xstreamcast.evaluate.moments import Moment
from xstreamcast.model.fragment import Described, FragmentBatch
from xstreamcast.operators.asking import BEFORE
from xstreamcast.operators.fragment_feed import FragmentFeed
from xstreamcast.operators.partition import PartitionWatch
from xstreamcast.spark.watching.host import Asked, Host, bare_decoder, decoder_again
from xstreamcast.spark.watching.links import bucket_of
from xstreamcast.spark.watching.messages import Arrived, Back, Given, Part, Sent, Whole

if TYPE_CHECKING:
    from xstreamcast.model.fragment import Refused


class Units:
    """One bucket of a query: messages of the router in, what its units hold out."""

    def __init__(self, asked: Asked, number: int, buckets: int) -> None:
        self.asked, self.number, self.buckets = asked, number, buckets
        self.refused: list[Refused] = []  # the router tells what is refused
        self.whole: Host | None = None  # of a query that is in one place
        self.watch = self._watch()
        self._decoders: dict[str, Decoder] = {}

    def _watch(self) -> PartitionWatch | None:
        if len(self.asked.programs) > 1:
            return None
        (program,) = self.asked.programs.values()
        made = PartitionWatch(
            program, self.asked.kinds, variables=self.asked.variables, policy=self.asked.policy
        )
        made.mine = partial(_mine, self.number, self.buckets)
        return made

    def take(self, given: Given) -> Back | None:
        """What the router says → what the teller is told."""
        if isinstance(given, Whole):
            return self._in_one_place(given)
        return self._asked(given)

    def _asked(self, sent: Sent) -> Back:
        assert self.watch is not None
        for part in sent.parts:
            self._take(part)
        self.watch.now = sent.now
        self._catch_up(sent)
        found = self.watch.exchanged()
        first = self.number == 0
        said = tuple(one for one in sent.parts if first and one[0] != "fragments")
        ended = self.watch.ended >= set(self.watch.kinds)
        told = self._said() if ended else {}
        return Back(
            sent.turn, self.number, sent.now, found, said, sent.refused, (told, sent.beside),
            ended=ended,
        )  # fmt: skip

    def _said(self) -> dict[str, int]:
        """What this bucket has to say at the end; streams that all read are the first one's."""
        assert self.watch is not None
        assert self.watch.pipeline is not None
        spread = self.watch.pipeline.driven
        mine = [name for name in self.watch.kinds if name in spread or self.number == 0]
        told = {f"{name}: repeated": self.watch.repeated(name) for name in mine}
        return told | {"bytes of state": self.watch.state_bytes}

    def _catch_up(self, sent: Sent) -> None:
        """The streams that are partitioned have come as far as they have anywhere."""
        assert self.watch is not None
        for name, newest in sent.newest.items():
            feed = self.watch._feeds.get(name)
            if isinstance(feed, FragmentFeed):
                feed.history.newest, feed.history.zoned = newest

    def _take(self, part: Part) -> None:
        assert self.watch is not None
        match part:
            case ("described", str(name), structure, Moment() as now):
                self.watch.reach(now)
                decoder = self._decoders.setdefault(name, Decoder(name, names=self.watch.names))
                decoder._set_structure(structure)
                self.watch.on_arrivals(name, [Described(structure)], decoder.ids)
            case ("fragments", str(name), bytes(lines)):
                decoder = self._decoders[name]
                found = [*decoder.feed(lines), *decoder.end_input()]
                batches = [one for one in found if isinstance(one, FragmentBatch)]
                assert len(batches) == len(found), found
                self.watch.on_arrivals(name, batches, decoder.ids)
            case ("ended", str(name)):
                self.watch.on_end(name)
            case _:
                raise AssertionError(part)

    def _in_one_place(self, given: Whole) -> Back | None:
        self.watch, self._decoders = None, {}
        if self.number != 0:
            return None
        if self.whole is None or given.anew:
            self.whole = Host(self.asked, shallow=True)  # as the partitions, for the same keys
        *before, (last, now) = given.tables
        for blob, _ in before:
            self.whole.take_rows(Arrived.of(blob).table)
        if given.anew:
            self.whole.refused.clear()  # it was told when it came
        changes = self.whole.take(Arrived.of(last).table, now)
        refused, self.whole.refused = tuple(self.whole.refused), []
        ended = self.whole.ended
        return Back(
            given.turn, 0, self._now(), refused=refused, said=(self.whole.said() if ended else {},),
            changes=tuple(changes), anew=given.anew, ended=ended,
        )  # fmt: skip

    def _now(self) -> Moment:
        assert self.whole is not None
        return getattr(self.whole.watch, "now", BEFORE)

    # -- elsewhere --------------------------------------------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        bare = {name: bare_decoder(one) for name, one in self._decoders.items()}
        return self.__dict__ | {"_decoders": bare}

    def __setstate__(self, told: dict[str, Any]) -> None:
        self.__dict__.update(told)
        names = None if self.watch is None else self.watch.names
        self._decoders = {
            name: decoder_again(name, one, names, "quarantine")
            for name, one in self._decoders.items()
        }


def _mine(number: int, buckets: int, unit: str) -> bool:
    return bucket_of(unit, buckets) == number
