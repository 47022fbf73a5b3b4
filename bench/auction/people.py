"""Registered persons; what they tell of themselves is optional, as in the published schema."""

from bench.auction.places import CITIES, COUNTRIES_OF_PERSONS, DOMAINS, PROVINCES
from bench.dice import Dice, geometric, mostly
from bench.words import FIRST_NAMES, surnames

INTERESTS = geometric(2.9, 256)
WATCHES = geometric(3.8, 256)
AGES = mostly(18, 26, range(19, 70))
LEVELS = ("High School", "College", "Graduate School", "Other")
LEAST_INCOME = 9_876
# Most incomes lie around 40,000; one in nine is the least that may be told.
INCOMES = mostly(0, 11, [40 * k for k in geometric(750)])


def person(dice: Dice, number: int, categories: int, auctions: int) -> str:
    """A person; half of the optional parts are present, each on its own."""
    first, last = name(dice)
    domain = dice.one(DOMAINS)
    parts = [
        f'<person id="person{number}">\n<name>{first} {last}</name>\n'
        f"<emailaddress>mailto:{last}@{domain}</emailaddress>\n"
    ]
    if dice.chance(50):
        parts.append(f"<phone>+{dice.below(40)} ({_digits(dice, 3)}) {_digits(dice, 8)}</phone>\n")
    if dice.chance(50):
        parts.append(_address(dice))
    if dice.chance(50):
        parts.append(f"<homepage>http://www.{domain}/~{last}</homepage>\n")
    if dice.chance(50):
        parts.append(f"<creditcard>{_card(dice)}</creditcard>\n")
    if dice.chance(55):
        parts.append(_profile(dice, categories))
    if dice.chance(50):
        parts.append(_watches(dice, auctions))
    return "".join(parts) + "</person>\n"


def name(dice: Dice) -> tuple[str, str]:
    """A first and a family name."""
    return dice.one(FIRST_NAMES), dice.one(surnames())


def mail_address(dice: Dice, last: str) -> str:
    """Where a person of that family name gets mail."""
    return f"mailto:{last}@{dice.one(DOMAINS)}"


def _address(dice: Dice) -> str:
    country = dice.one(COUNTRIES_OF_PERSONS)
    province = ""
    if country == "United States":
        province = f"<province>{dice.one(PROVINCES)}</province>\n"
    return (
        f"<address>\n<street>{1 + dice.below(99)} {dice.one(surnames())} St</street>\n"
        f"<city>{dice.one(CITIES)}</city>\n<country>{country}</country>\n"
        f"{province}<zipcode>{1 + dice.below(40)}</zipcode>\n</address>\n"
    )


def _profile(dice: Dice, categories: int) -> str:
    interests = range(dice.one(INTERESTS))
    parts = [
        f'<profile income="{_income(dice)}">\n',
        *[f'<interest category="category{dice.middling(categories)}"/>\n' for _ in interests],
    ]
    if dice.chance(50):
        parts.append(f"<education>{dice.one(LEVELS)}</education>\n")
    if dice.chance(50):
        parts.append(f"<gender>{dice.one(('male', 'female'))}</gender>\n")
    parts.append(f"<business>{dice.one(('Yes', 'No'))}</business>\n")
    if dice.chance(50):
        parts.append(f"<age>{dice.one(AGES)}</age>\n")
    return "".join(parts) + "</profile>\n"


def _income(dice: Dice) -> str:
    over = dice.one(INCOMES)
    if not over:
        return f"{LEAST_INCOME}.00"
    return f"{LEAST_INCOME + over + dice.below(40)}.{dice.below(100):02d}"


def _watches(dice: Dice, auctions: int) -> str:
    watched = range(dice.one(WATCHES))
    marks = [f'<watch open_auction="open_auction{dice.below(auctions)}"/>\n' for _ in watched]
    return f"<watches>\n{''.join(marks)}</watches>\n"


def _card(dice: Dice) -> str:
    return f"{_digits(dice, 4)} {_digits(dice, 4)} {_digits(dice, 4)} {_digits(dice, 4)}"


def _digits(dice: Dice, count: int) -> str:
    least = 10 ** (count - 1)
    return str(least + dice.below(9 * least))
