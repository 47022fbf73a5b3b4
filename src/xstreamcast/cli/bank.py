"""The demo's feed: a day of charges that come late, out of order, and are corrected."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

DAY: Final = "2026-11-15"
QUIET: Final = f"{DAY}T12:00:00"  # nothing that comes later is valid before this instant

FRAUD: Final = """for $a in stream("credit")//account
let $spent := sum($a/charge?[now - PT1H, now][status?[now] = "charged"]/amount)
where $spent >= max(($a/limit?[now] * 0.9, 5000))
return <alert customer="{$a/customer}" lastHour="{$spent}"/>"""

MAXED: Final = """for $a in stream("credit")//account
let $spent := sum($a/charge[status?[now] = "charged"]/amount)
where $spent >= $a/limit?[now]
return <maxed customer="{$a/customer}" limit="{$a/limit?[now]/text()}"/>"""

HEAD: Final = """<stream:fragments xmlns:stream="urn:xstreamcast:stream">
<stream:structure><tag id="1" name="bank" type="snapshot">
<tag id="2" name="account" type="temporal"><tag id="3" name="customer"/>
<tag id="4" name="limit" type="temporal"/><tag id="5" name="charge" type="event">
<tag id="6" name="vendor"/><tag id="7" name="amount"/><tag id="8" name="status" type="temporal"/>
</tag></tag></tag>
</stream:structure>
"""

_CUSTOMERS: Final = {
    "Ann Lee": 6000, "Bob Cole": 3000, "Cid Vega": 5500, "Dee Park": 5000, "Eve Moss": 2500,
    "Finn Hale": 9000, "Gail Roy": 9000, "Hugo Lind": 9000, "Ida Berg": 9000, "Jon Pike": 9000,
}  # fmt: skip
_SHOPS: Final = ("Bakery", "Books & Co", "Cinema", "Grocer", "Petrol", "Pizza", "Tram")
_MIDNIGHT: Final = 0


@dataclass(frozen=True, slots=True)
class BankMessage:
    """Fragments that arrive together, when by the bank's clock, and what a person would say."""

    at: int  # minutes after midnight
    text: str
    said: str = ""


def clock(minutes: int) -> str:
    """Minutes after midnight as a person reads them."""
    return f"{minutes // 60:02}:{minutes % 60:02}"


def beginning() -> str:
    """The accounts and their limits, valid from midnight."""
    holes = "".join(f'<stream:hole id="a{n}" tsid="2"/>' for n in range(len(_CUSTOMERS)))
    made = _filler("0", 1, _MIDNIGHT, f"<bank>{holes}</bank>")
    for n, (customer, limit) in enumerate(_CUSTOMERS.items()):
        inner = f'<stream:hole id="l{n}" tsid="4"/><stream:hole id="c{n}" tsid="5"/>'
        account = f"<account><customer>{customer}</customer>{inner}</account>"
        made += _filler(f"a{n}", 2, _MIDNIGHT, account)
        made += _filler(f"l{n}", 4, _MIDNIGHT, f"<limit>{limit}</limit>", n)
    return made


def first_half() -> list[BankMessage]:
    """What arrives from nine to noon."""
    return sorted([*_traffic(540, 719, 1), *_morning()], key=lambda one: one.at)


def second_half() -> list[BankMessage]:
    """What arrives from noon to three."""
    return sorted([*_traffic(721, 900, 2), *_afternoon()], key=lambda one: one.at)


def _morning() -> Iterator[BankMessage]:
    yield _pays("Ann Lee", 2700, "Gold Ltd", 580)
    yield _pays("Ann Lee", 2800, "Gold Ltd", 592)
    yield BankMessage(
        610, _charge("Ann Lee", 28, "Gold Ltd", 592),
        "correction: what Ann Lee paid at 09:52 was 28, not 2,800",
    )  # fmt: skip
    yield _pays("Bob Cole", 3100, "Sofa World", 625)
    yield BankMessage(
        650, _filler("l1", 4, 650, "<limit>8000</limit>", 1),
        "the bank raises Bob Cole's limit to 8,000",
    )  # fmt: skip
    yield _pays("Eve Moss", 2550, "Bikes", 670)
    paid = _charge("Cid Vega", 2600, "Watches", 705).splitlines(keepends=True)
    yield BankMessage(
        705, paid[1], "out of order: 'charged' comes before the charge that it is about"
    )
    yield BankMessage(707, paid[0], "the charge: Cid Vega pays 2,600 at Watches, at 11:45")
    yield BankMessage(
        710, _charge("Cid Vega", 2700, "Watches", 690),
        "late: at 11:30 Cid Vega had paid 2,700 at Watches",
    )  # fmt: skip
    yield BankMessage(720, f'<stream:heartbeat validTime="{QUIET}"/>\n')


def _afternoon() -> Iterator[BankMessage]:
    yield BankMessage(751, "", "an hour has passed since Cid Vega's first charge")
    yield _pays("Dee Park", 5100, "Jewels", 790)
    yield BankMessage(
        805, _filler(_status("Dee Park", 790), 8, 805, "<status>denied</status>", 3),
        "Dee Park's charge at Jewels is denied",
    )  # fmt: skip
    yield BankMessage(
        825, _filler("l4", 4, 825, "<limit>3000</limit>", 4),
        "the bank raises Eve Moss's limit to 3,000",
    )  # fmt: skip
    yield BankMessage(
        850, _charge("Eve Moss", 600, "Garage", 770), "late: at 12:50 Eve Moss had paid 600"
    )
    yield _pays("Ann Lee", 2900, "Cameras", 870)
    yield _pays("Ann Lee", 2600, "Cameras", 880)


def _traffic(first: int, last: int, seed: int) -> Iterator[BankMessage]:
    """Small charges, some of them a few minutes late; those of the first accounts are shown."""
    dice = random.Random(seed)
    for at in range(first, last):
        customer = dice.choice(list(_CUSTOMERS)[5:])
        valid = max(first, at - dice.choice((0, 0, 0, 4, 9)))
        yield BankMessage(at, _charge(customer, dice.randint(3, 20), dice.choice(_SHOPS), valid))


def _pays(customer: str, amount: int, vendor: str, at: int) -> BankMessage:
    text = _charge(customer, amount, vendor, at)
    return BankMessage(at, text, f"{customer} pays {amount:,} at {vendor}")


def _charge(customer: str, amount: int, vendor: str, at: int) -> str:
    """A charge, and its status; sent again for the same minute, it takes the first one's place."""
    status, shop = _status(customer, at), vendor.replace("&", "&amp;")
    hole = f'<stream:hole id="{status}" tsid="8"/>'
    paid = f"<vendor>{shop}</vendor><amount>{amount}</amount>{hole}"
    account = _account(customer)
    said = _filler(f"c{account}", 5, at, f"<charge>{paid}</charge>", account)
    return said + _filler(status, 8, at, "<status>charged</status>", account)


def _account(customer: str) -> int:
    return list(_CUSTOMERS).index(customer)


def _status(customer: str, at: int) -> str:
    return f"s{_account(customer)}-{at}"


def _filler(name: str, tsid: int, at: int, payload: str, account: int | None = None) -> str:
    """A fragment; one inside of an account names it."""
    valid = f"{DAY}T{clock(at)}:00"
    unit = "" if account is None else f' unit="a{account}"'
    head = f'<stream:filler id="{name}" tsid="{tsid}" validTime="{valid}"{unit}>'
    return f"{head}{payload}</stream:filler>\n"
