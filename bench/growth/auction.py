"""The auction site of XMark as fragments: people, items of six regions, open and closed auctions.

A quarter of the units is of each kind. What a unit refers to grows with n, so that a person buys
about as much however many there are.
"""

from bench.growth.streams import Stream, Unit, filler, holes, scattered, structure

REGIONS = ("africa", "asia", "australia", "europe", "namerica", "samerica")
NAME = "auction"
ITEM, PERSON, OPEN, CLOSED = 10, 20, 30, 40
RICH = 5  # people with the highest income, however many there are
PROSE = ("of old silver", "in a small box", "with a new handle", "from a quiet house")


def _structure() -> bytes:
    regions = "".join(
        f'<tag id="{100 + r}" name="{region}"><tag id="{ITEM + r}" name="item" filler="true">'
        f"{_tags(200 + 10 * r, 'location', 'quantity', 'name', 'payment', 'description')}"
        "</tag></tag>"
        for r, region in enumerate(REGIONS)
    )
    return structure(
        f'<tag id="1" name="site"><tag id="2" name="regions">{regions}</tag>'
        f'<tag id="3" name="people"><tag id="{PERSON}" name="person" filler="true">'
        f"{_tags(300, 'name', 'emailaddress', 'homepage', 'creditcard', 'address', 'profile')}"
        f'</tag></tag><tag id="4" name="open_auctions"><tag id="{OPEN}" name="open_auction" '
        f'filler="true">{_tags(400, "initial", "reserve", "bidder", "current", "itemref")}'
        f'</tag></tag><tag id="5" name="closed_auctions"><tag id="{CLOSED}" name="closed_auction" '
        f'filler="true">{_tags(500, "seller", "buyer", "itemref", "price", "annotation")}'
        "</tag></tag></tag>"
    )


def _tags(first: int, *names: str) -> str:
    return "".join(f'<tag id="{first + i}" name="{name}"/>' for i, name in enumerate(names))


def quarter(n: int) -> int:
    """How many units are of one kind."""
    return max(8, n // 4)


def _root(n: int) -> bytes:
    reach = range(quarter(n) + 6 * 64 + 6)
    regions = "".join(
        f"<{name}>{holes('item', ITEM + r, reach[r::6])}</{name}>" for r, name in enumerate(REGIONS)
    )
    rest = range(PEOPLE.reach(n))
    return filler(
        "0",
        1,
        f"<site><regions>{regions}</regions>"
        f"<people>{holes('person', PERSON, rest)}</people>"
        f"<open_auctions>{holes('open', OPEN, rest)}</open_auctions>"
        f"<closed_auctions>{holes('closed', CLOSED, rest)}</closed_auctions></site>",
    )


def _item(i: int, version: int, n: int) -> bytes:
    place = "Albania" if version else ("Greece", "Chile", "Albania", "Ghana")[scattered(i, 4)]
    paid = "Cash" if version or i % 3 else "Check"
    words = PROSE[i % 4] + (" and gold" if version or i % 7 == 0 else "")
    return filler(
        f"item{i}",
        ITEM + i % 6,
        f'<item id="item{i}"><location>{place}</location><quantity>{1 + version}</quantity>'
        f"<name>thing {i}{' mended' * version}</name><payment>{paid}</payment>"
        f"<description><text>A thing {words}</text></description></item>",
    )


def _person(i: int, version: int, n: int) -> bytes:
    income = 120_000 if i < RICH else 10_000 + scattered(i, 80_000)
    income = 101_000 + i % 900 if version else income
    category, parity = i % max(1, quarter(n) // 5), i % 2
    profile = f'<interest category="category{category}"/>'
    profile += f"<education>{('Other', 'High')[parity]}</education>"
    profile += f"<gender>{('female', 'male')[parity]}</gender><age>{18 + i % 60}</age>"
    page = "" if version or i % 2 else f"<homepage>http://example.org/{i}</homepage>"
    known = "" if i % 10 == 9 and not version else f' income="{income}"'
    return filler(
        f"person{i}",
        PERSON,
        f'<person id="person{i}"><name>Person {i}{" Junior" * version}</name>'
        f"{_mail(i) * (1 + version)}{page}<creditcard>{i % 9999}</creditcard>"
        f"<address><street>{i} Road</street><city>City {i % 40}</city><country>Peru</country>"
        f"</address><profile{known}>{profile}</profile></person>",
    )


def _mail(i: int) -> str:
    return f"<emailaddress>p{i}@example.org</emailaddress>"


def _open(i: int, version: int, n: int) -> bytes:
    initial = 19.0 + scattered(i, 50) / 100 if version else scattered(i, 1800) / 100
    raises = (3 + i % 5, 4, 30) if version else (6, 2, 4 + i % 7)
    early, late = ("person3", "person5") if version else ("person5", "person3")
    bidders = zip(raises, (early, f"person{i % 8}", late), strict=True)
    bids = "".join(
        f'<bidder><personref person="{who}"/><increase>{much}</increase></bidder>'
        for much, who in bidders
    )
    reserve = f"<reserve>{initial * 2:.2f}</reserve>" if version or i % 2 else ""
    return filler(
        f"open{i}",
        OPEN,
        f'<open_auction id="open{i}"><initial>{initial:.2f}</initial>{reserve}{bids}'
        f'<current>{initial + sum(raises):.2f}</current><itemref item="item{i}"/></open_auction>',
    )


def _closed(i: int, version: int, n: int) -> bytes:
    people, item = quarter(n), i % quarter(n)
    buyer = (people // 2 + i) % people if version else i % people
    price = f"{60 + i % 40 if version or i % 8 == 0 else 5 + scattered(i, 30)}.{i % 100:02}"
    keyword = f"<keyword>rare {i}</keyword>" if version or i % 5 == 0 else ""
    deep = f"<text>seen <emph>{keyword}</emph></text>"
    for _ in range(2):
        deep = f"<parlist><listitem>{deep}</listitem></parlist>"
    european = item - item % 6 + 3
    return filler(
        f"closed{i}",
        CLOSED,
        f'<closed_auction><seller person="person{(i * 3) % people}"/>'
        f'<buyer person="person{buyer}"/><itemref item="item{european if version else item}"/>'
        f"<price>{price}</price><annotation><description>{deep}</description></annotation>"
        "</closed_auction>",
    )


PEOPLE = Unit(NAME, quarter, _person)
ITEMS = Unit(NAME, quarter, _item)
EUROPEAN = Unit(NAME, quarter, _item, 6, 3)
AUSTRALIAN = Unit(NAME, quarter, _item, 6, 2)
OPEN_AUCTIONS = Unit(NAME, quarter, _open)
CLOSED_AUCTIONS = Unit(NAME, quarter, _closed)
AUCTION = (Stream(NAME, _structure(), _root, (PEOPLE, ITEMS, OPEN_AUCTIONS, CLOSED_AUCTIONS)),)
