"""Open auctions with their bidders, and closed ones with their buyers."""

from bench.auction.prose import Prose
from bench.days import AUCTION_DATES, time
from bench.dice import Dice, geometric, mostly

BIDDERS = geometric(5.5)
STEPS = geometric(9)
DOLLARS = geometric(75)
RESERVE_PERCENT = geometric(300)
QUANTITIES = mostly("1", 92, ("2", "2", "2", "2", "3"))
TYPES = ("Regular", "Featured") * 7 + ("Regular, Dutch", "Featured, Dutch")
# A quarter of all bids come from few keen bidders, so that persons meet in an auction (XMark Q4).
KEEN = 64


def open_auction(prose: Prose, number: int, item: int, persons: int) -> str:
    """An auction that still takes bids; `current` is `initial` plus all increases."""
    dice = prose.dice
    initial = dice.one(DOLLARS) * 100 + dice.below(100)
    current, bidders = initial, []
    for _ in range(dice.one(BIDDERS)):
        increase = 150 * (1 + dice.one(STEPS))
        current += increase
        bidders.append(_bidder(dice, increase, persons))
    return (
        f'<open_auction id="open_auction{number}">\n<initial>{_money(initial)}</initial>\n'
        f"{_reserve(dice, initial)}{''.join(bidders)}<current>{_money(current)}</current>\n"
        f"{'<privacy>Yes</privacy>' + chr(10) if dice.chance(45) else ''}"
        f'<itemref item="item{item}"/>\n<seller person="person{dice.below(persons)}"/>\n'
        f"{_annotation(prose, persons)}{_lot(dice)}"
        f"<interval>\n<start>{dice.one(AUCTION_DATES)}</start>\n<end>{dice.one(AUCTION_DATES)}</end>\n</interval>\n"
        "</open_auction>\n"
    )


def closed_auction(prose: Prose, item: int, persons: int) -> str:
    """An auction that has found its buyer."""
    dice = prose.dice
    price = dice.one(DOLLARS) * 100 + dice.below(100)
    return (
        f'<closed_auction>\n<seller person="person{dice.below(persons)}"/>\n'
        f'<buyer person="person{dice.below(persons)}"/>\n<itemref item="item{item}"/>\n'
        f"<price>{_money(price)}</price>\n<date>{dice.one(AUCTION_DATES)}</date>\n"
        f"{_lot(dice)}{_annotation(prose, persons)}</closed_auction>\n"
    )


def _bidder(dice: Dice, increase: int, persons: int) -> str:
    person = dice.below(min(KEEN, persons) if dice.chance(25) else persons)
    return (
        f"<bidder>\n<date>{dice.one(AUCTION_DATES)}</date>\n<time>{time(dice)}</time>\n"
        f'<personref person="person{person}"/>\n'
        f"<increase>{_money(increase)}</increase>\n</bidder>\n"
    )


def _reserve(dice: Dice, initial: int) -> str:
    if dice.chance(50):
        return ""
    return f"<reserve>{_money(initial * (101 + dice.one(RESERVE_PERCENT)) // 100)}</reserve>\n"


def _annotation(prose: Prose, persons: int) -> str:
    return (
        f'<annotation>\n<author person="person{prose.dice.below(persons)}"/>\n'
        f"{prose.description()}<happiness>{1 + prose.dice.below(10)}</happiness>\n</annotation>\n"
    )


def _lot(dice: Dice) -> str:
    return f"<quantity>{dice.one(QUANTITIES)}</quantity>\n<type>{dice.one(TYPES)}</type>\n"


def _money(cents: int) -> str:
    return f"{cents // 100}.{cents % 100:02d}"
