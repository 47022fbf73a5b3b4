"""Two fragment streams and a document, generated: accounts, the vendors they pay, and readings."""

from __future__ import annotations

from random import Random
from typing import Any

from tests.operators.watched import Watched
from xstreamcast.api import Query
from xstreamcast.errors import Error
from xstreamcast.model.change import Change
from xstreamcast.operators.watching.inputs import Kind, Policy
from xstreamcast.operators.watching.network import Network

HEAD = '<stream:fragments xmlns:stream="urn:xstreamcast:stream">'
BANK = (
    '<stream:structure><tag id="1" name="accounts"><tag id="2" name="account" type="temporal">'
    '<tag id="3" name="owner"/><tag id="4" name="limit" type="temporal"/>'
    '<tag id="5" name="paid" type="event"><tag id="6" name="to"/><tag id="7" name="sum"/>'
    '<tag id="8" name="status" type="temporal"/></tag></tag></tag></stream:structure>'
)
SHOPS = (
    '<stream:structure><tag id="1" name="shops"><tag id="2" name="shop" type="temporal">'
    '<tag id="3" name="name"/><tag id="4" name="stars" type="temporal"/>'
    "</tag></tag></stream:structure>"
)
KINDS: dict[str, Kind] = {"bank": "fragments", "shops": "fragments", "day": "document"}


def filler(word: str, number: int, tag: int, minute: int, payload: str) -> str:
    head = f'id="{number}" tsid="{tag}" validTime="2020-01-01T00:{minute:02}:00"'
    if word == "remove":
        return f"<stream:remove {head}/>"
    return f"<stream:{word} {head}>{payload}</stream:{word}>"


class Feeds:
    """What arrives, drawn from a seed: corrections, removals, late versions, repetitions."""

    def __init__(self, seed: int, corrected: bool = True) -> None:
        self.random, self.corrected = Random(seed), corrected
        self.minute = 0

    def arrivals(self) -> list[tuple[str, bytes]]:
        """Pieces of all inputs, interleaved; what each begins with comes first."""
        heads = [("bank", HEAD + BANK), ("shops", HEAD + SHOPS), ("day", "<day>")]
        queues = {"bank": self.bank(), "shops": self.shops(), "day": self.day()}
        out = [(name, text.encode()) for name, text in heads]
        while any(queues.values()):
            name = self.random.choice([name for name, queue in queues.items() if queue])
            out.append((name, queues[name].pop(0).encode()))
        return out

    def at(self) -> int:
        """Mostly later than before, sometimes late."""
        if self.random.random() < 0.25:
            return self.random.randint(0, 59)
        self.minute = min(59, self.minute + self.random.randint(0, 4))
        return self.minute

    def mixed(self, lines: list[str]) -> list[str]:
        if self.random.random() < 0.5:
            self.random.shuffle(lines)
        if not self.corrected:
            return lines
        return lines + self.random.choices(lines, k=self.random.randint(0, 2))

    def versions(self, number: int, tag: int, contents: list[str]) -> list[str]:
        """One or more versions of a fragment, now and then a removal."""
        most = 3 if self.corrected else 1
        words = ["filler", "filler", "replace", "remove"] if self.corrected else ["filler"]
        return [
            filler(self.random.choice(words), number, tag, self.at(), self.random.choice(contents))
            for _ in range(self.random.randint(1, most))
        ]

    def bank(self) -> list[str]:
        lines, holes = [], ""
        for account in range(1, self.random.randint(1, 3) + 1):
            holes += f'<stream:hole id="{account}" tsid="2"/>'
            lines += self.account(account)
        root = filler("filler", 0, 1, 0, f"<accounts>{holes}</accounts>")
        return self.mixed([root, *lines])

    def account(self, number: int) -> list[str]:
        limit = 10 * number
        inner = f'<stream:hole id="{limit}" tsid="4"/>'
        lines = self.versions(limit, 4, [f"<limit>{n}</limit>" for n in (3, 5, 9)])
        for nth in range(1, self.random.randint(0, 3) + 1):
            inner += f'<stream:hole id="{limit + nth}" tsid="5"/>'
            status = f'<stream:hole id="{100 * number + nth}" tsid="8"/>'
            paid = [
                f'<paid n="{nth}"><to>{to}</to><sum>{n}</sum>{status}</paid>'
                for to in "xy"
                for n in (1, 4, 7)
            ]
            lines += self.versions(limit + nth, 5, paid)
            said = ["<status>ok</status>", "<status>off</status>"]
            lines += self.versions(100 * number + nth, 8, said)
        made = [f'<account n="{number}"><owner>{o}</owner>{inner}</account>' for o in "xz"]
        return lines + self.versions(number, 2, made)

    def shops(self) -> list[str]:
        lines, holes = [], ""
        for shop in range(1, self.random.randint(1, 3) + 1):
            holes += f'<stream:hole id="{shop}" tsid="2"/>'
            stars = f'<stream:hole id="{10 + shop}" tsid="4"/>'
            made = [f'<shop n="{shop}"><name>{name}</name>{stars}</shop>' for name in "xyz"]
            lines += self.versions(shop, 2, made)
            lines += self.versions(10 + shop, 4, [f"<stars>{n}</stars>" for n in (1, 4)])
        return self.mixed([filler("filler", 0, 1, 0, f"<shops>{holes}</shops>"), *lines])

    def day(self) -> list[str]:
        return [
            f'<temp at="{nth}" who="{self.random.choice("xyz")}">{self.random.randint(1, 9)}</temp>'
            for nth in range(self.random.randint(0, 7))
        ]


class Combined(Watched):
    """A query left running over all inputs, next to what `run` answers over the same bytes."""

    def __init__(self, query: str, policy: Policy = "optimistic") -> None:
        self.query = Query(query)
        super().__init__(self.query.telling(""), KINDS, running=Network, policy=policy)
        self.bytes = dict.fromkeys(KINDS, b"")

    def feed(self, name: str, chunk: bytes, tick: bool = False) -> list[Change]:
        self.bytes[name] += chunk
        return super().feed(name, chunk, tick)

    def end(self, *names: str) -> list[Change]:
        for name in KINDS:
            self.feed(name, b"</day>" if name == "day" else b"</stream:fragments>")
        return super().end(*names)

    def afresh(self) -> list[str] | None:
        """What `run` answers over the same bytes; None if it fails."""
        given: dict[str, Any] = dict(self.bytes)
        if not given["day"].endswith(b"</day>"):
            given["day"] += b"</day>"
        try:
            return list(self.query.run(None, **given).lines())
        except Error:
            return None

    @classmethod
    def whole(cls, query: str, feeds: Feeds) -> list[str] | None:
        """What `run` answers when all has come."""
        made = cls(query)
        for name, chunk in feeds.arrivals():
            made.bytes[name] += chunk
        return made.afresh()
