"""Two streams as people have them: accounts with transactions, and sites with readings.

Units are corrected, come late, are removed and made again, are sent twice, stand in holes or name
their parent; the root is sent again with fewer holes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Final

HEAD: Final = '<stream:fragments xmlns:stream="urn:xstreamcast:stream">'
END: Final = "</stream:fragments>"
BANK: Final = (
    '<stream:structure><tag id="1" name="bank" type="snapshot">'
    '<tag id="2" name="account" type="temporal" filler="true"><tag id="3" name="name"/>'
    '<tag id="4" name="limit" type="temporal" filler="true"/>'
    '<tag id="5" name="transaction" type="event" filler="true"><tag id="6" name="vendor"/>'
    '<tag id="7" name="amount"/><tag id="8" name="status" type="temporal" filler="true"/>'
    "</tag></tag></tag></stream:structure>"
)
NET: Final = (
    '<stream:structure><tag id="1" name="net" type="snapshot">'
    '<tag id="2" name="site" type="temporal" filler="true"><tag id="3" name="zone"/>'
    '<tag id="4" name="level"/></tag><tag id="5" name="reading" type="event" filler="true">'
    '<tag id="6" name="value"/></tag></tag></stream:structure>'
)
KEYS: Final = ("x", "y", "z", "10")
NUMBERS: Final = ("1", "2", "3", "10", "2.5", "-4", "007", "0")
WORDS: Final = ("ok", "charged", "denied", "Abc", "a b", "")


@dataclass(slots=True)
class _Writer:
    """The lines of one stream."""

    chance: Random
    attaches: float
    lines: list[str] = field(default_factory=list)
    holes: dict[str, list[tuple[str, int]]] = field(default_factory=dict)

    def unit(self, name: str, tag: int, above: str) -> bool:
        """Note where it stands → whether it must name its parent."""
        if self.chance.random() < self.attaches:
            return True
        self.holes.setdefault(above, []).append((name, tag))
        return False

    def inside(self, name: str) -> str:
        holes = self.holes.get(name, [])
        kept = [one for one in holes if self.chance.random() < 0.92]
        return "".join(f'<stream:hole id="{hole}" tsid="{tag}"/>' for hole, tag in kept)

    def life(self, name: str, tag: int, above: str, word: str, most: int = 3) -> None:
        """The versions of a unit; some end, some are removed and made again."""
        attached = self.unit(name, tag, above)
        chance = self.chance
        for turn in range(chance.choice((1, 1, 1, 2, 2, 3)[: most * 2])):
            head = f'id="{name}" tsid="{tag}" validTime="{_when(chance)}"'
            head += f' in="{above}"' if attached else ""
            if turn and chance.random() < 0.25:
                self.lines.append(f"<stream:remove {head}/>")
                continue
            if chance.random() < 0.06:
                head += f' validTo="{_when(chance)}"'
            said = "replace" if chance.random() < 0.1 else "filler"
            content = _payload(word, name, chance) % self.inside(name)
            self.lines.append(f"<stream:{said} {head}>{content}</stream:{said}>")


def _when(chance: Random) -> str:
    return f"2020-01-01T00:{chance.randint(1, 29):02}:00"


def _payload(word: str, name: str, chance: Random) -> str:
    key, number, text = chance.choice(KEYS), chance.choice(NUMBERS), chance.choice(WORDS)
    match word:
        case "account":
            return f'<account id="{name[1:]}" k="{key}"><name>{text}</name>%s</account>'
        case "transaction":
            vendor = f"<vendor>{text}</vendor>" * chance.choice((1, 1, 1, 0, 2))
            amount = f"<amount>{number}</amount>"
            return f'<transaction k="{key}">{vendor}{amount}%s</transaction>'
        case "site":
            level = f"<level>{number}</level>" * chance.choice((1, 1, 0, 2))
            return f'<site id="{name[1:]}" k="{key}"><zone>{key}</zone>{level}%s</site>'
        case "reading":
            return f'<reading k="{key}" n="{number}"><value>{number}</value>%s</reading>'
        case "limit":
            return f"<limit>{number}%s</limit>"
        case _:
            return f"<status>{text}%s</status>"


def bank(chance: Random) -> list[str]:
    """Accounts with limits and transactions; transactions with a status."""
    to = _Writer(chance, chance.choice((0.0, 0.0, 0.5, 1.0)))
    accounts = [f"a{number}" for number in range(chance.randint(1, 4))]
    for at in range(chance.randint(0, 5)):
        above = chance.choice(accounts)
        for _ in range(chance.choice((0, 1, 1))):
            to.life(f"s{at}", 8, f"t{at}", "status")
        to.life(f"t{at}", 5, above, "transaction", 2)
    for at, above in enumerate(accounts):
        to.life(f"l{at}", 4, above, "limit")
        to.life(above, 2, "0", "account")
    return _sent(to, BANK, "bank")


def net(chance: Random) -> list[str]:
    """Sites, and readings that happen once."""
    to = _Writer(chance, chance.choice((0.0, 0.5, 1.0)))
    for at in range(chance.randint(0, 4)):
        to.life(f"p{at}", 2, "0", "site")
    for at in range(chance.randint(0, 7)):
        to.life(f"r{at}", 5, "0", "reading", 1)
    return _sent(to, NET, "net")


def _sent(to: _Writer, structure: str, root: str) -> list[str]:
    """Everything in an order of arrival, the structure first."""
    chance = to.chance
    lines = list(to.lines)
    if chance.random() < 0.4:
        chance.shuffle(lines)
    else:
        lines.sort(key=lambda line: _minute(line) + chance.choice((0, 0, 0, 0, 5, 20)))
    for _ in range(chance.choice((1, 1, 1, 2))):
        at = chance.choice((0, 0, chance.randint(0, len(lines))))
        when = "2020-01-01T00:00:00" if at == 0 else _when(chance)
        head = f'id="0" tsid="1" validTime="{when}"'
        lines.insert(at, f"<stream:filler {head}><{root}>{to.inside('0')}</{root}></stream:filler>")
    if chance.random() < 0.2:
        lines.insert(chance.randint(0, len(lines)), chance.choice(lines))
    return [HEAD + structure, *lines]


def _minute(line: str) -> int:
    at = line.index('validTime="') + len('validTime="2020-01-01T00:')
    return int(line[at : at + 2])
