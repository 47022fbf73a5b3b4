"""Credit accounts as a stream of fragments: charges, their status, limits that change."""

from collections import deque
from collections.abc import Iterator
from itertools import islice

from bench.dice import Dice, geometric
from xstreamcast.edges.wire.encoder import OPEN, UNIT, fragment_line

STREAM = "credit"
STRUCTURE = b"""<stream:structure><tag type="snapshot" id="1" name="creditAccounts">
<tag type="temporal" id="2" name="account"><tag type="snapshot" id="3" name="customer"/>
<tag type="temporal" id="4" name="creditLimit"/><tag type="event" id="5" name="transaction">
<tag type="snapshot" id="6" name="vendor"/><tag type="temporal" id="7" name="status"/>
<tag type="snapshot" id="8" name="amount"/></tag></tag></tag></stream:structure>
"""
QUERIES = {
    "fraud": """for $a in stream("credit")//account
where sum($a/transaction?[now-PT1H,now][status = "charged"]/amount)
      >= max(($a/creditLimit?[now] * 0.9, 5000))
return <alert><account id="{$a/@id}">{$a/customer}</account></alert>""",
    "maxed-out": """for $a in stream("credit")//account
where sum($a/transaction?[2003-11-01,2003-12-01][status = "charged"]/amount)
      >= $a/creditLimit?[now]
return <account>{ attribute id {$a/@id}, $a/customer, $a/creditLimit }</account>""",
}
BEGIN = "2003-01-01T00:00:00"
SPAN = 28 * 86_400  # seconds of November that the charges are spread over
LIMITS = (2000, 5000, 10000)
# Cents: most charges are small, one in a hundred is large enough to be noticed.
AMOUNTS = (*geometric(4000.0, 990), *range(100_000, 600_000, 50_000))


def opening(accounts: int, seed: int) -> bytes:
    """The structure, the root, and each account with its limit."""
    dice = Dice(seed, "limits")
    holes = "".join(_hole(f"a{i}", 2) for i in range(accounts))
    lines = [OPEN, STRUCTURE, _line("0", 1, f"<creditAccounts>{holes}</creditAccounts>", BEGIN)]
    for i in range(accounts):
        inner = f"<customer>Customer {i}</customer>{_hole(f'l{i}', 4)}{_hole(f't{i}', 5)}"
        lines.append(_line(f"a{i}", 2, f'<account id="{i}">{inner}</account>', BEGIN))
        limit = f"<creditLimit>{dice.one(LIMITS)}</creditLimit>"
        lines.append(_line(f"l{i}", 4, limit, BEGIN, i))
    return b"".join(lines)


def charges(accounts: int, count: int, seed: int) -> Iterator[bytes]:
    """So many fragments in the order of time: 49 of 100 are charges, 50 a status, 1 a limit."""
    dice, open_ = Dice(seed, "charges"), deque[tuple[int, int]]()
    charge = 0
    for n in range(count):
        instant = _instant(n * SPAN // count)
        if open_ and dice.chance(50):
            word = "denied" if dice.chance(5) else "charged"
            charged, of = open_.popleft()
            yield _line(f"s{charged}", 7, f"<status>{word}</status>", instant, of)
        elif dice.chance(98):
            account, cents = dice.below(accounts), dice.one(AMOUNTS)
            content = f"<vendor>Vendor {charge % 977}</vendor>"
            content += f"<amount>{cents // 100}.{cents % 100:02}</amount>{_hole(f's{charge}', 7)}"
            payload = f'<transaction id="{charge}">{content}</transaction>'
            yield _line(f"t{account}", 5, payload, instant, account)
            open_.append((charge, account))
            charge += 1
        else:
            limit = f"<creditLimit>{dice.one(LIMITS)}</creditLimit>"
            account = dice.below(accounts)
            yield _line(f"l{account}", 4, limit, instant, account)


def batches(lines: Iterator[bytes], size: int) -> Iterator[bytes]:
    """Lines together."""
    while batch := list(islice(lines, size)):
        yield b"".join(batch)


def _line(id: str, tag: int, payload: str, instant: str, account: int | None = None) -> bytes:
    """A fragment; one inside of an account names it."""
    unit = {} if account is None else {UNIT: f"a{account}"}
    return fragment_line(id, tag, payload.encode(), instant, more=unit)


def _hole(id: str, tag: int) -> str:
    return f'<stream:hole id="{id}" tsid="{tag}"/>'


def _instant(second: int) -> str:
    day, rest = divmod(second, 86_400)
    minute, second = divmod(rest, 60)
    return f"2003-11-{1 + day:02}T{minute // 60:02}:{minute % 60:02}:{second:02}"
