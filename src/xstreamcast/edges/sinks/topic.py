"""kafka(s)://HOST/TOPIC as a sink: records by key, in the order in which they are handed over."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Any, Final

from xstreamcast.edges.sources.credentials import credentials
from xstreamcast.edges.sources.extras import needed
from xstreamcast.edges.sources.kafka import client_settings
from xstreamcast.edges.sources.place import place_of, shown
from xstreamcast.errors import error

Record = tuple[str, str | None]  # a key and a value; None: a tombstone, the key has gone
_PATIENCE: Final = 60.0  # seconds in which a broker must have taken all


class TopicWriter:
    """One topic; what `write` was handed is there when it returns, those of a key in order."""

    def __init__(self, address: str) -> None:
        place = place_of(address)
        self._topic = place.path[1:]
        if place.scheme != "kafka" or not self._topic or "," in self._topic:
            raise error(
                "XSCU0003", f"a topic must be kafka://HOST/TOPIC; got {shown(address)}"
            )  # fmt: skip
        self._shown, self._failed = shown(address), list[str]()
        settings = client_settings(place, credentials(place, None))
        more = {"enable.idempotence": True, "delivery.timeout.ms": int(_PATIENCE * 1000)}
        silent = logging.getLogger("xstreamcast.kafka")
        silent.propagate = False
        silent.addHandler(logging.NullHandler())
        self._producer: Any = needed("confluent_kafka").Producer(settings | more, logger=silent)

    def write(self, records: Iterable[Record]) -> int:
        """Hand records over, and wait until the broker has them → how many there were."""
        count = 0
        for key, value in records:
            self._produce(key.encode(), None if value is None else value.encode())
            count += 1
        left = self._producer.flush(_PATIENCE)
        if self._failed or left:
            why = self._failed[0] if self._failed else f"{left} records were not taken in time"
            raise error("XSCU0003", f"cannot write to {self._shown}: {why}")
        return count

    def _produce(self, key: bytes, value: bytes | None) -> None:
        while True:
            try:
                self._producer.produce(self._topic, value, key, on_delivery=self._delivered)
            except BufferError:  # as many wait as it holds
                self._producer.poll(0.1)
            else:
                self._producer.poll(0)
                return

    def _delivered(self, failed: Any, _: Any) -> None:
        if failed is not None:
            self._failed.append(str(failed.str()))
