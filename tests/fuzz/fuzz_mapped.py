"""Messages of feeds with a shipped mapping, mutated; and mappings, mutated."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.fuzz.read_xml import mutate
from tests.fuzz.streams import check_answers, check_decoder
from tests.fuzz.target import Check, plain_errors
from xstreamcast.edges.mapping.finding import named_mapping

EXAMPLES = Path(__file__).parents[2] / "examples"
FEEDS = ("siri-sx", "siri-vm", "cap", "fpml", "osmchange", "rss", "netconf", "ecb-rates")
TOML = b"""[unit.a]
path = "//a"
key = ["@k"]
from = "@t"
to = "@u"
remove = "@gone"
"""
MESSAGE = b"<m><a k='1' t='2020-01-01'>x</a><a k='2' t='2020-01-02T00:00:00Z' u='2020-01-09'/></m>"


def _samples() -> list[tuple[str, bytes]]:
    found = []
    for name in FEEDS:
        paths = sorted((EXAMPLES / name / "data").rglob("*.*"))
        small = [path for path in paths if path.is_file() and path.stat().st_size < 20_000]
        found += [(name, path.read_bytes()) for path in small[:3]]
    if not found:
        pytest.skip("no examples of feeds beside the tests")
    return found


def begin(folder: Path) -> Check:
    """Chunks make no difference; `run` and `watch` agree; a wrong mapping is an error in words."""
    samples = _samples()

    def check(chance: random.Random) -> None:
        if chance.random() < 0.3:
            _check_mapping(folder, chance)
            return
        name, data = chance.choice(samples)
        data = mutate(data, chance)
        check_decoder("document", data, chance, named_mapping(name))
        if chance.random() < 0.2:
            path = folder / "message.xml"
            path.write_bytes(data)
            check_answers('stream("s")/*/*', f"{name}:{path}", (name, data))

    return check


def _check_mapping(folder: Path, chance: random.Random) -> None:
    text, message = mutate(TOML, chance), mutate(MESSAGE, chance)
    (folder / "mapping.toml").write_bytes(text)
    (folder / "message.xml").write_bytes(message)
    with plain_errors((text, message)):
        check_answers(
            'stream("s")//a', f"{folder / 'mapping.toml'}:{folder / 'message.xml'}", (text, message)
        )
