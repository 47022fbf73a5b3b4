"""Items with their mail, the categories they are in, and the graph of categories."""

from bench.auction.people import mail_address, name
from bench.auction.places import LOCATIONS
from bench.auction.prose import Prose
from bench.days import AUCTION_DATES
from bench.dice import Dice, geometric, mostly

QUANTITIES = mostly("1", 92, ("2", "2", "2", "2", "3"))
MAILS = geometric(0.94, 256)
CATEGORIES = geometric(2.7, 256)
METHODS = ("Money order", "Creditcard", "Personal Check", "Cash")
TERMS = (
    "Will ship only within country",
    "Will ship internationally",
    "Buyer pays fixed shipping charges",
    "See description for charges",
)


def _subsets(words: tuple[str, ...]) -> tuple[str, ...]:
    chosen = range(1 << len(words))
    return tuple(", ".join(w for i, w in enumerate(words) if n >> i & 1) for n in chosen)


PAYMENTS, SHIPPINGS = _subsets(METHODS), _subsets(TERMS)


def item(prose: Prose, number: int, categories: int) -> str:
    """Something to sell, in one to ten categories, with the letters about it."""
    dice = prose.dice
    featured = ' featured="yes"' if dice.chance(10) else ""
    within = min(1 + dice.one(CATEGORIES), 10)
    return (
        f'<item id="item{number}"{featured}>\n'
        f"<location>{dice.one(LOCATIONS)}</location>\n"
        f"<quantity>{dice.one(QUANTITIES)}</quantity>\n"
        f"<name>{prose.name()}</name>\n"
        f"<payment>{dice.one(PAYMENTS)}</payment>\n"
        f"{prose.description()}"
        f"<shipping>{dice.one(SHIPPINGS)}</shipping>\n"
        f"{''.join([_incategory(dice, categories) for _ in range(within)])}"
        f"<mailbox>\n{''.join([_mail(prose) for _ in range(dice.one(MAILS))])}</mailbox>\n"
        "</item>\n"
    )


def category(prose: Prose, number: int) -> str:
    """A category with its name and description."""
    return (
        f'<category id="category{number}">\n<name>{prose.name()}</name>\n'
        f"{prose.description()}</category>\n"
    )


def edge(dice: Dice, categories: int) -> str:
    """One arrow of the graph of categories."""
    source, target = dice.below(categories), dice.below(categories)
    return f'<edge from="category{source}" to="category{target}"/>\n'


def _incategory(dice: Dice, categories: int) -> str:
    return f'<incategory category="category{dice.middling(categories)}"/>\n'


def _mail(prose: Prose) -> str:
    return (
        f"<mail>\n<from>{_correspondent(prose.dice)}</from>\n<to>{_correspondent(prose.dice)}</to>\n"
        f"<date>{prose.dice.one(AUCTION_DATES)}</date>\n{prose.text()}</mail>\n"
    )


def _correspondent(dice: Dice) -> str:
    first, last = name(dice)
    return f"{first} {last} {mail_address(dice, last)}"
