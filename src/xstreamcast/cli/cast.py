"""xstreamcast cast: send a stream as fragments to all listeners."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any

from xstreamcast.cli.arguments import Parsed, Parser
from xstreamcast.cli.query_arguments import sources
from xstreamcast.edges.durations import micros
from xstreamcast.errors import error
from xstreamcast.model.counted import counted

if TYPE_CHECKING:
    from xstreamcast.serve.carousel import Keep
    from xstreamcast.serve.casting import Casting


def add_arguments(parser: Parser) -> None:
    """What the command understands."""
    parser.add_argument(
        "source", nargs="+", metavar="[NAME=]SOURCE",
        help="a stream of fragments, or with --structure a document: a file, a folder, -, or an "
        "address; several need names",
    )  # fmt: skip
    parser.add_argument(
        "--to", action="append", required=True, metavar="TARGET",
        help="ws://HOST:PORT (WebSocket and server-sent events), sse, tcp://HOST:PORT, or "
        "mqtt://HOST/TOPIC; may be repeated",
    )  # fmt: skip
    parser.add_argument("-s", "--structure", metavar="TS", help="the tag structure of a document")
    parser.add_argument(
        "--repeat", metavar="30s", help="repeat the kept fragments like a carousel at this interval"
    )
    parser.add_argument(
        "--rounds", type=int, metavar="N", help="with --repeat: end after so many, once SOURCE has"
    )
    parser.add_argument(
        "--structure-every", default="10s", metavar="10s", help="with --repeat: the structure too"
    )
    parser.add_argument(
        "--keep", default="current", metavar="current|all|1h",
        help="what late listeners get: the current version of everything (and all events), all "
        "versions, or the current state and this much history",
    )  # fmt: skip
    parser.add_argument(
        "--priority", action="append", default=[], metavar="TAG=N",
        help="fragments of this tag go first where they wait; others are 0",
    )  # fmt: skip
    parser.add_argument(
        "--rate", metavar="100|64kB", help="fragments, or bytes, a second to each listener at most"
    )
    parser.add_argument("--follow", action="store_true", help="keep reading files that grow")
    parser.add_argument("--for", dest="seconds", metavar="30s", help="stop after this duration")
    parser.add_argument(
        "--once",
        action="store_true",
        help="stop when SOURCE has ended and every listener was served",
    )


def main(arguments: Parsed) -> int:
    """Cast until interrupted; say where, and at last what was sent."""
    import asyncio

    casting = _casting(arguments)
    seconds = micros(arguments.seconds)
    try:
        asyncio.run(casting.run(None if seconds is None else seconds / 10**6))
    except KeyboardInterrupt:
        _report(casting)
        raise
    _report(casting)
    return 0


def _casting(arguments: Parsed) -> Casting:
    from xstreamcast.serve.casting import Casting
    from xstreamcast.serve.channel import Rhythm

    rate, byte_rate = _rate(arguments.rate)
    repeat = micros(arguments.repeat)
    rhythm = Rhythm(
        repeat=None if repeat is None else repeat / 10**6,
        structure=(micros(arguments.structure_every) or 0) / 10**6,
        rounds=arguments.rounds, rate=rate, byte_rate=byte_rate,
    )  # fmt: skip
    return Casting(
        _named(arguments.source), arguments.to, rhythm, _keep(arguments.keep),
        dict(map(_priority, arguments.priority)), arguments.structure, arguments.follow,
        stay=not arguments.once, say=_say,
    )  # fmt: skip


def _named(words: list[str]) -> dict[str, Any]:
    from xstreamcast.edges.inputs import stream_name
    from xstreamcast.edges.sources import is_place

    unnamed, named = sources(words)
    if unnamed is None:
        return dict(named)
    name = "stream" if is_place(unnamed) else stream_name(unnamed)
    return {name: unnamed, **named}


def _keep(word: str) -> Keep:
    match word:
        case "current":
            return "current"
        case "all":
            return "all"
        case _:
            return micros(word) or 0


def _priority(word: str) -> tuple[str, int]:
    tag, _, number = word.rpartition("=")
    if not tag or not re.fullmatch(r"-?\d+", number):
        raise error("XSCU0001", f"a priority must be TAG=N; got {word}")
    return tag, int(number)


def _rate(word: str | None) -> tuple[float | None, float | None]:
    """(fragments a second, bytes a second)."""
    if word is None:
        return None, None
    found = re.fullmatch(r"(\d+(?:\.\d+)?)(B|kB|MB|)(?:/s)?", word)
    if found is None or float(found[1]) <= 0:
        raise error("XSCU0001", f"a rate must be like 100 (fragments) or 64kB; got {word}")
    amount = float(found[1])
    if not found[2]:
        return amount, None
    return None, amount * {"B": 1, "kB": 1000, "MB": 10**6}[found[2]]


def _say(sentence: str) -> None:
    sys.stderr.write(sentence + "\n")
    sys.stderr.flush()


def _report(casting: Casting) -> None:
    for name, carousel in casting.hub.streams.items():
        said = f"{name}: {counted(carousel.taken, 'fragment')}, "
        said += f"{len(carousel)} kept for late listeners"
        _say(said + (f", {carousel.replaced} replaced" if carousel.replaced else ""))
    for refused in casting.hub.refused:
        _say(f"refused: {refused}")
    _say(f"{counted(casting.hub.most, 'listener')} at once" + _stuck(casting.hub.stuck))


def _stuck(count: int) -> str:
    return f", {count} disconnected because they read nothing for 30 s" if count else ""
