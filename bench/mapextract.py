"""A map extract after OpenStreetMap's shape: nearly all of it attributes, factor 1 ≈ 100 MB."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from xml.sax.saxutils import quoteattr

from bench.days import DATES, time
from bench.dice import Dice, geometric, mostly
from bench.words import surnames

NODES = 500_000
NODES_PER_WAY, WAYS_PER_RELATION = 9, 40
REFS = geometric(7)
MEMBERS = geometric(12, 256)
VERSIONS = geometric(1.5, 64)
ROLES = mostly("", 70, ("outer", "inner", "stop", "platform"))
HIGHWAYS = ("residential", "residential", "service", "footway", "track", "path", "primary")
SURFACES = ("asphalt", "asphalt", "gravel", "paving_stones", "unpaved")
NODE_TAGS = (
    ("highway", ("crossing", "bus_stop", "traffic_signals")),
    ("natural", ("tree", "peak")),
    ("amenity", ("bench", "cafe", "post_box", "parking")),
    ("power", ("tower", "pole")),
)


@dataclass(frozen=True, slots=True)
class Counts:
    """How many of each; a way runs along existing nodes, a relation gathers existing ways."""

    nodes: int
    ways: int
    relations: int

    @classmethod
    def of(cls, factor: float) -> "Counts":
        nodes = max(10, int(factor * NODES))
        ways = max(1, nodes // NODES_PER_WAY)
        return cls(nodes, ways, max(1, ways // WAYS_PER_RELATION))


def pieces(factor: float, seed: int) -> Iterator[str]:
    """Bounds, then nodes, ways and relations by rising id."""
    counts, dice = Counts.of(factor), Dice(seed, "map")
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    yield '<osm version="0.6" generator="xstreamcast bench">\n'
    yield ' <bounds minlat="47.0" minlon="8.0" maxlat="48.0" maxlon="9.0"/>\n'
    for number in range(counts.nodes):
        yield _node(dice, number)
    for number in range(counts.ways):
        yield _way(dice, number, counts.nodes)
    for number in range(counts.relations):
        yield _relation(dice, number, counts)
    yield "</osm>\n"


def node_id(number: int) -> int:
    """Ids rise with gaps of changing width, as after years of deleting."""
    return 20_000_000 + 37 * number + number * number % 31


def way_id(number: int) -> int:
    return 4_000_000 + 11 * number + number * number % 7


def _node(dice: Dice, number: int) -> str:
    where = f'lat="47.{dice.below(10**7):07d}" lon="8.{dice.below(10**7):07d}"'
    head = f' <node id="{node_id(number)}" {where} {_edit(dice)}'
    if dice.chance(94):
        return head + "/>\n"
    key, values = dice.one(NODE_TAGS)
    return f"{head}>\n{_tag(key, dice.one(values))} </node>\n"


def _way(dice: Dice, number: int, nodes: int) -> str:
    length = min(nodes, 2 + dice.one(REFS))
    first = dice.below(nodes - length + 1)
    refs = [f'  <nd ref="{node_id(first + k)}"/>\n' for k in range(length)]
    tags = [_tag("highway", dice.one(HIGHWAYS))]
    if dice.chance(55):
        tags.append(_tag("name", dice.one(streets())))
    if dice.chance(30):
        tags.append(_tag("surface", dice.one(SURFACES)))
    return f' <way id="{way_id(number)}" {_edit(dice)}>\n{"".join(refs)}{"".join(tags)} </way>\n'


def _relation(dice: Dice, number: int, counts: Counts) -> str:
    members = "".join([_member(dice, counts) for _ in range(1 + dice.one(MEMBERS))])
    tags = _tag("type", dice.one(("multipolygon", "route", "restriction")))
    tags += _tag("name", dice.one(streets()))
    return f' <relation id="{100 + 3 * number}" {_edit(dice)}>\n{members}{tags} </relation>\n'


def _member(dice: Dice, counts: Counts) -> str:
    if dice.chance(15):
        kind, ref = "node", node_id(dice.below(counts.nodes))
    else:
        kind, ref = "way", way_id(dice.below(counts.ways))
    return f'  <member type="{kind}" ref="{ref}" role="{dice.one(ROLES)}"/>\n'


def _edit(dice: Dice) -> str:
    day, who = dice.one(changesets())
    return f'version="{1 + dice.one(VERSIONS)}" timestamp="{day}T{time(dice)}Z" {who}'


def _tag(key: str, value: str) -> str:
    return f'  <tag k="{key}" v="{value}"/>\n'


@cache
def changesets() -> tuple[tuple[str, str], ...]:
    """Sittings of one mapper on one day: the day, and the attributes that say which and who."""
    dice = Dice(0, "changesets")
    numbers = (1_000_000 + 4_271 * n + dice.below(4_000) for n in range(20_000))
    return tuple((dice.one(DATES), f'changeset="{n}" {dice.one(mappers())}') for n in numbers)


@cache
def mappers() -> tuple[str, ...]:
    """`uid` and `user` of those who edit; some names need escaping or more than ASCII."""
    dice = Dice(0, "mappers")
    odd = ("Zoë & Søn", 'the "surveyor"', "a<b", "Ωmega", "地図", "plain mapper")
    names = [*odd, *(dice.one(surnames()).lower() + str(dice.below(99)) for _ in range(500))]
    return tuple(f'uid="{1000 + 17 * i}" user={_quoted(name)}' for i, name in enumerate(names))


@cache
def streets() -> tuple[str, ...]:
    """Names of streets, some with accents."""
    dice = Dice(0, "streets")
    endings = (" Street", " Road", " Lane", "straße", "gränd", " &amp; Sons Way")
    return tuple(dice.one(surnames()) + dice.one(endings) for _ in range(2000))


def _quoted(text: str) -> str:
    return quoteattr(text, {'"': "&quot;"})
