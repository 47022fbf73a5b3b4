"""Queries by grammar over documents that arrive in pieces, compared with SaxonC-HE."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest

import xstreamcast as xsc
from tests.fuzz.target import Check, Finding, cut
from tests.fuzz.wide_clauses import Clauses
from tests.fuzz.wide_queries import ALLEN, Scope
from tests.fuzz.wide_streams import KEYS, NUMBERS, WORDS
from tests.oracle import canonical, over_documents
from xstreamcast.errors import Error
from xstreamcast.model.change import Accumulated

# What documents have no part of: lifespans, versions, instants; and streams that are declared.
_TIMED: Final = re.compile(
    rf"\?\[|#\[|\bvt(From|To)\b|\bnow\b| ({'|'.join(ALLEN)}) |declare stream|2020-"
)


class Untimed(Clauses):
    """Queries over what has no lifespan, most of the time."""

    def projection(self, scope: Scope) -> str:
        return ""

    def untimed(self) -> str:
        """A query over the documents a and b."""
        while True:
            text, _ = self.query()
            if not _TIMED.search(text) and "stream(" in text:
                return text


def begin(folder: Path) -> Check:
    """`run`, and `watch` over pieces and over files, answer as Saxon does."""
    pytest.importorskip("saxonche")

    def check(chance: random.Random) -> None:
        given = {"a": bank(chance), "b": net(chance)}
        for _ in range(4):
            query = Untimed(chance).untimed()
            read = {name: text for name, text in given.items() if f'stream("{name}")' in query}
            _check(query, read, folder, chance)

    return check


def _check(query: str, given: Mapping[str, bytes], folder: Path, chance: random.Random) -> None:
    case = (query, given)
    try:
        expected = over_documents(query, given)
    except Exception:  # Saxon refuses it: so may we
        return
    whole: dict[str, Any] = dict(given)
    pieces: dict[str, Any] = {name: iter(cut(text, chance)) for name, text in given.items()}
    files = {name: folder / f"{name}.xml" for name in given}
    for name, text in given.items():
        files[name].write_bytes(text)
    ways = {
        "run": lambda: [canonical(one) for one in xsc.query(query).run(**whole).lines()],
        "watch": lambda: _told(xsc.query(query), pieces, chance.choice((1, 2, 5))),
        "watch over files": lambda: _told(xsc.query(query), files, 1000),
    }
    for way, ask in ways.items():
        try:
            found = ask()
        except Error as refused:
            if way == "run" or refused.code.startswith("XSC"):
                raise Finding(f"{way}: {refused}; Saxon gives {expected}", case) from refused
            continue  # it fails over a part of what arrives, by the rules of XQuery
        if found != expected:
            raise Finding(f"{way} gives {found}, not {expected}", case)


def _told(query: xsc.Query, given: Mapping[str, Any], batch: int) -> list[str]:
    told = Accumulated()
    for change in query.watch(**given, batch=batch):
        told.apply(change)
    return [canonical(one) for one in told.items()]


def bank(chance: random.Random) -> bytes:
    """Accounts with limits and transactions, some of which have several values, or none."""
    accounts = [_account(number, chance) for number in range(chance.randint(0, 6))]
    return _document("bank", accounts, chance)


def net(chance: random.Random) -> bytes:
    """Sites and readings, sometimes mixed."""
    parts = [_site(number, chance) for number in range(chance.randint(0, 4))]
    for _ in range(chance.randint(0, 5)):
        number = chance.choice(NUMBERS)
        head = f'<reading k="{chance.choice(KEYS)}" n="{chance.choice(NUMBERS)}">'
        parts.append(f"{head}<value>{number}</value></reading>")
    if chance.random() < 0.5:
        chance.shuffle(parts)
    return _document("net", parts, chance)


def _document(root: str, parts: list[str], chance: random.Random) -> bytes:
    between = [chance.choice(("", "", "\n", "\n  ")) + part for part in parts]
    return f"<{root}>{''.join(between)}</{root}>".encode()


def _account(number: int, chance: random.Random) -> str:
    limits = [f"<limit>{chance.choice(NUMBERS)}</limit>" for _ in range(chance.choice((0, 1, 2)))]
    parts = limits + [_transaction(chance) for _ in range(chance.choice((0, 1, 2, 3)))]
    if chance.random() < 0.3:
        chance.shuffle(parts)
    name = f"<name>{chance.choice(WORDS)}</name>"
    return f'<account id="{number}" k="{chance.choice(KEYS)}">{name}{"".join(parts)}</account>'


def _transaction(chance: random.Random) -> str:
    vendors = [f"<vendor>{chance.choice(WORDS)}</vendor>"] * chance.choice((0, 1, 1, 2))
    states = [f"<status>{chance.choice(WORDS)}</status>" for _ in range(chance.choice((0, 1, 2)))]
    amount = f"<amount>{chance.choice(NUMBERS)}</amount>"
    inside = "".join((*vendors, amount, *states))
    return f'<transaction k="{chance.choice(KEYS)}">{inside}</transaction>'


def _site(number: int, chance: random.Random) -> str:
    key = chance.choice(KEYS)
    levels = f"<level>{chance.choice(NUMBERS)}</level>" * chance.choice((0, 1, 1, 2))
    return f'<site id="{number}" k="{chance.choice(KEYS)}"><zone>{key}</zone>{levels}</site>'
