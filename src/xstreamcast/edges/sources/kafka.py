"""kafka(s)://HOST/TOPIC: records of a broker, which can be read again; we remember which.

The notes of a checkpoint hold runs of records in the order in which they were read: topic,
partition, first and last offset, number. A restart reads the same records in that order
and continues behind them, whatever the consumer group has committed.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from xstreamcast.edges.sources.credentials import Credentials
from xstreamcast.edges.sources.extras import needed
from xstreamcast.edges.sources.inbox import Inbox
from xstreamcast.edges.sources.notes import Notes
from xstreamcast.edges.sources.place import SourceAddress
from xstreamcast.edges.sources.trust import HINT
from xstreamcast.errors import error

_LOOK: Final = 0.5
_SOME: Final = 1000  # records requested at once
_FIRST: Final = 20.0  # seconds in which a broker must answer
_AHEAD: Final = 10_000  # records of one partition that are held while another is waited for

Where = tuple[str, int, int]  # topic, partition, offset


@dataclass(slots=True)
class _Run:
    topic: str
    partition: int
    first: int
    last: int
    count: int

    def follows(self, where: Where) -> bool:
        return (self.topic, self.partition) == where[:2] and where[2] > self.last


class KafkaReceiver:
    """The topics of a broker; with a group, the partitions that the group leaves to us."""

    def __init__(
        self, place: SourceAddress, known: Credentials, once: bool, notes: Notes | None
    ) -> None:
        self._place, self._known, self._once, self._notes = place, known, once, notes
        self._library = needed("confluent_kafka")
        self._topics = [topic for topic in place.path[1:].split(",") if topic]
        if not self._topics:
            raise error("XSCU0003", f"{place.url} names no topic", hint="kafka://HOST/TOPIC")
        self._from = place.options.get("from", "beginning")
        if self._from not in ("beginning", "end"):
            raise error("XSCU0003", f"from must be beginning or end; got {self._from}")
        self._next: dict[tuple[str, int], int] = {}
        self._done: deque[Where] = deque()  # in the sink, and not committed yet
        self._said = ""  # why no broker answers

    # -- what counts already ----------------------------------------------------------------------

    def again(self, count: int) -> Iterator[bytes | None]:
        """The first `count` records that were ever read, in that order."""
        assert self._notes is not None
        runs = [_Run(*line) for line in self._notes.cut(_lines_for(self._notes, count))]
        if runs:
            yield from self._read_again(runs)
        for run in runs:
            self._next[run.topic, run.partition] = run.last + 1

    def _read_again(self, runs: list[_Run]) -> Iterator[bytes | None]:
        firsts: dict[tuple[str, int], int] = {}
        for run in runs:
            firsts.setdefault((run.topic, run.partition), run.first)
        reader = self._made(None)
        try:
            reader.assign([self._library.TopicPartition(*key, at) for key, at in firsts.items()])
            held: dict[tuple[str, int], deque[Any]] = {key: deque() for key in firsts}
            for run in runs:
                for number in range(run.count):
                    record = self._one(reader, held, (run.topic, run.partition))
                    wanted = run.first if number == 0 else None
                    wanted = run.last if number == run.count - 1 else wanted
                    if wanted is not None and record.offset() != wanted:
                        raise self._gone(run)
                    yield record.value()
                    yield None
        finally:
            reader.close()

    def _one(self, reader: Any, held: dict[tuple[str, int], deque[Any]], key: Any) -> Any:
        """The next record of a partition; those of others that come meanwhile are held."""
        silent = 0.0
        while not held[key]:
            found = [one for one in reader.consume(_SOME, _LOOK) if one.error() is None]
            found = [one for one in found if one.value() is not None]
            silent = 0.0 if found else silent + _LOOK
            if silent > _FIRST:
                raise self._gone(_Run(key[0], key[1], -1, -1, 0))
            for one in found:
                held[one.topic(), one.partition()].append(one)
            full = [k for k, some in held.items() if len(some) > _AHEAD and k != key]
            if full:
                reader.pause([self._library.TopicPartition(*k) for k in full])
        if len(held[key]) == _AHEAD:
            reader.resume([self._library.TopicPartition(*key)])
        return held[key].popleft()

    def _gone(self, run: _Run) -> Exception:
        return error(
            "XSCU0003",
            f"{self._place.url} no longer has the records that the checkpoint refers to: "
            f"{run.topic} partition {run.partition}, from offset {run.first}",
            hint="keep records for longer than a checkpoint lives, or begin with an empty one",
        )

    # -- what comes -------------------------------------------------------------------------------

    def receive(self, out: Inbox) -> None:
        consumer = self._made(self._group())
        try:
            ends = self._begin(consumer)
            while not out.closed and (ends is None or ends):
                self._commit(consumer, wait=False)
                for record in consumer.consume(_SOME, _LOOK):
                    self._took(record, out, ends)
            self._commit(consumer, wait=True)
        finally:
            with suppress(Exception):
                consumer.close()

    def resume(self, marks: Sequence[bytes]) -> None:
        """Where it was, if its records are written down and not noted."""
        for mark in marks:
            _, topic, partition, offset = mark.decode().split(":")
            self._next[topic, int(partition)] = int(offset) + 1

    def taken(self, where: Sequence[Where]) -> None:
        """Offsets to commit to the group, for tools that show its lag."""
        if self._group() is not None:
            self._done.extend(where)

    def _commit(self, consumer: Any, wait: bool) -> None:
        """Commit what is in the sink; the thread that consumes does, since others would wait."""
        last: dict[tuple[str, int], int] = {}
        while self._done:
            topic, partition, offset = self._done.popleft()
            last[topic, partition] = offset + 1
        made = [self._library.TopicPartition(*key, at) for key, at in last.items()]
        if made:
            with suppress(self._library.KafkaException):  # a partition that is another's by now
                consumer.commit(offsets=made, asynchronous=not wait)

    def noted(self, where: Sequence[Where]) -> None:
        """Write down which records are being read."""
        if self._notes is None:
            return
        runs: list[_Run] = []
        for one in where:
            if runs and runs[-1].follows(one):
                runs[-1].last, runs[-1].count = one[2], runs[-1].count + 1
            else:
                runs.append(_Run(*one, one[2], 1))
        for run in runs:
            self._notes.add([run.topic, run.partition, run.first, run.last, run.count])

    def _group(self) -> str | None:
        return self._place.options.get("group")

    def _begin(self, consumer: Any) -> dict[tuple[str, int], int] | None:
        """Be assigned what there is → where each partition ends now, if that is all we want."""
        keys = self._partitions(consumer)
        if self._group() is not None and not self._once:
            consumer.subscribe(self._topics, on_assign=self._assigned)
            return None
        begin = self._library.OFFSET_BEGINNING if self._from == "beginning" else None
        begin = self._library.OFFSET_END if begin is None else begin
        topic = self._library.TopicPartition
        consumer.assign([topic(*key, self._next.get(key, begin)) for key in keys])
        if not self._once:
            return None
        marks = {key: consumer.get_watermark_offsets(topic(*key), timeout=_FIRST) for key in keys}
        ends = {key: high for key, (low, high) in marks.items() if high > low}
        return {key: high for key, high in ends.items() if self._next.get(key, 0) < high}

    def _assigned(self, consumer: Any, partitions: list[Any]) -> None:
        """Our own notes go before what the group has committed."""
        for one in partitions:
            known = self._next.get((one.topic, one.partition))
            if known is not None:
                one.offset = known
        consumer.assign(partitions)

    def _partitions(self, consumer: Any) -> list[tuple[str, int]]:
        keys: list[tuple[str, int]] = []
        for topic in self._topics:
            try:
                found = consumer.list_topics(topic, timeout=_FIRST).topics[topic]
            except self._library.KafkaException as failed:
                consumer.poll(0)  # hands over what the library has said meanwhile
                why = self._said or failed.args[0].str()
                hint = HINT if "certificate" in why else None
                raise error(
                    "XSCU0003", f"cannot reach {self._place.url}: {why}", hint=hint
                ) from None
            if found.error is not None:
                raise error("XSCU0003", f"{self._place.url}: {topic}: {found.error.str()}")
            keys += [(topic, number) for number in sorted(found.partitions)]
        return keys

    def _took(self, record: Any, out: Inbox, ends: dict[tuple[str, int], int] | None) -> None:
        key = record.topic(), record.partition()
        failed = record.error()
        if failed is not None and failed.code() == self._library.KafkaError._PARTITION_EOF:
            if ends is not None:
                ends.pop(key, None)
            return
        if failed is not None:
            if failed.fatal() or not failed.retriable():
                raise error("XSCU0003", f"{self._place.url}: {failed.str()}")
            out.say(f"{self._place.url}: {failed.str()}")
            return
        if record.value() is not None:  # a tombstone has nothing to read
            where = (*key, record.offset())
            mark = ":".join(("kafka", *map(str, where))).encode()
            out.message(record.value(), mark=mark, where=where)
        if ends is not None and record.offset() + 1 >= ends.get(key, 0):
            ends.pop(key, None)

    def _made(self, group: str | None) -> Any:
        """A consumer that says what it has to say by errors, not on stderr."""
        silent = logging.getLogger("xstreamcast.kafka")
        silent.propagate = False
        silent.addHandler(logging.NullHandler())
        return self._library.Consumer(self._settings(group), logger=silent)

    def _failed(self, why: Any) -> None:
        """The library's error of a broker: that of the handshake is more specific."""
        if "SSL" in why.str() or not self._said:
            self._said = why.str().rpartition("]: ")[2]

    def _settings(self, group: str | None) -> dict[str, Any]:
        return client_settings(self._place, self._known) | {
            "group.id": group or "xstreamcast",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "auto.offset.reset": "earliest" if self._from == "beginning" else "latest",
            "error_cb": self._failed,
        }


def client_settings(place: SourceAddress, known: Credentials) -> dict[str, Any]:
    """How a broker is reached, and who we are there."""
    made: dict[str, Any] = {"bootstrap.servers": place.host}
    if known.user is not None:
        made["sasl.mechanism"] = place.options.get("sasl", "PLAIN")
        made |= {"sasl.username": known.user, "sasl.password": known.password or ""}
    plain = "SASL_PLAINTEXT" if known.user is not None else "PLAINTEXT"
    safe = "SASL_SSL" if known.user is not None else "SSL"
    made["security.protocol"] = safe if place.secure else plain
    return made | ({"ssl.ca.location": known.ca} if known.ca is not None else {})


def _lines_for(notes: Notes, count: int) -> int:
    """How many runs hold the first `count` records; a run is read as a whole or not at all."""
    lines = 0
    for line in notes.lines:
        if count < line[4]:
            break
        count -= line[4]
        lines += 1
    if count:
        raise error("XSCU0003", "the checkpoint counts records that its notes do not name")
    return lines
