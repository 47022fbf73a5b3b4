"""Orders, their customers and returned goods: three streams.

There are n orders, and customers and returns a quarter as many. Half of the customers have eight
orders each, the others none; regions and segments are as many however large n is.
"""

from bench.growth.readings import at
from bench.growth.streams import Stream, Unit, filler, holes, scattered, structure

REGIONS, SEGMENTS, PRODUCTS = 8, 6, 40
BIG = 5  # orders that are larger than all others from the beginning


def _all(n: int) -> int:
    return n


def _quarter(n: int) -> int:
    return max(8, n // 4)


def _buyer(i: int, n: int) -> int:
    """Customers of the second half have orders."""
    without = _quarter(n) // 2
    return without + i % (_quarter(n) - without)


def _another(i: int, n: int) -> int:
    """A customer without orders: new orders and corrections find different ones."""
    without = _quarter(n) // 2
    return i % without if i < n else without - 1 - i % without


def _cents(i: int, version: int, n: int) -> int:
    """In later versions an order is larger than all before; a correction more so than a new one."""
    if version:
        return 9_000_000 + (i - n) * 10_000_000 if i >= n else 2_000_000_000 + i % 400 * 100
    return 2_000_000 + i if i < BIG else 500 + scattered(i, 999_000)


def _order(i: int, version: int, n: int) -> bytes:
    """In later versions an order is of a customer who had none."""
    return _write(i, version, n, _another(i, n) if version else _buyer(i, n))


def _repeated(i: int, version: int, n: int) -> bytes:
    """In later versions an order is of the customer behind, who has some."""
    return _write(i, version, n, _buyer(i + version, n))


def _write(i: int, version: int, n: int, buyer: int) -> bytes:
    cents = _cents(i, version, n)
    again = f' again="o{i - 7}"' if version or (i % 3 == 0 and i > 7) else ""
    return filler(
        f"o{i}",
        2,
        f'<order id="o{i}" customer="c{buyer}" region="r{(i + version) % REGIONS}"'
        f'{again} at="{at(60 * i)}"><product>p{scattered(i, PRODUCTS)}</product>'
        f"<amount>{cents // 100}.{cents % 100:02}</amount></order>",
    )


def _customer(i: int, version: int, n: int) -> bytes:
    limit = 100 if version else 10_000 + i % 90
    return filler(
        f"c{i}",
        2,
        f'<customer id="c{i}"><name>Customer {i}{" Ltd" * version}</name>'
        f"<segment>s{(i + version) % SEGMENTS}</segment><limit>{limit}</limit></customer>",
    )


def _return(i: int, version: int, n: int) -> bytes:
    return filler(
        f"b{i}",
        2,
        f'<return order="o{(i * 4 + version) % n}" at="{at(240 * i + 30)}">'
        f"<amount>{1 + i % 9 + 10 * version}</amount></return>",
    )


def _stream(name: str, root: str, tag: str, prefix: str, unit: Unit, *inner: str) -> Stream:
    below = "".join(f'<tag id="{3 + i}" name="{one}"/>' for i, one in enumerate(inner))
    described = (
        f'<tag id="1" name="{root}"><tag id="2" name="{tag}" filler="true">{below}</tag></tag>'
    )

    def opening(n: int) -> bytes:
        return filler("0", 1, f"<{root}>{holes(prefix, 2, range(unit.reach(n)))}</{root}>")

    return Stream(name, structure(described), opening, (unit,))


ORDER = Unit("orders", _all, _order)
REPEATED = Unit("orders", _all, _repeated)
CUSTOMER = Unit("customers", _quarter, _customer)
RETURN = Unit("returns", _quarter, _return)
_ORDERS = _stream("orders", "orders", "order", "o", ORDER, "product", "amount")
_CUSTOMERS = _stream(
    "customers", "customers", "customer", "c", CUSTOMER, "name", "segment", "limit"
)
_RETURNS = _stream("returns", "returns", "return", "b", RETURN, "amount")
ORDERS = (_ORDERS,)
SALES = (_ORDERS, _CUSTOMERS)
MOVES = (_ORDERS, _RETURNS)
