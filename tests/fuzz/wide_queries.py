"""Queries by grammar over the two streams of `wide_streams`: every clause in every other.

An expression is drawn by what it gives (nodes, a number, a string, an instant, a truth) and by the
variables that are known where it stands, so that most of what is drawn has an answer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random
from typing import Final, TypeVar

from tests.fuzz.wide_streams import KEYS, WORDS

ROOTS: Final = {
    "account": ('stream("a")//account', 'stream("a")/bank/account'),
    "transaction": ('stream("a")//transaction', 'stream("a")/bank/account/transaction'),
    "limit": ('stream("a")//limit', 'stream("a")//account/limit'),
    "status": ('stream("a")//status', 'stream("a")//transaction/status'),
    "site": ('stream("b")//site', 'stream("b")/net/site'),
    "reading": ('stream("b")//reading', 'stream("b")/net/reading'),
}
BELOW: Final = {
    "account": (("/limit", "limit"), ("/transaction", "transaction"), ("//status", "status")),
    "transaction": (("/status", "status"), ("/status", "status"), ("/..", "account")),
    "status": (("/..", "transaction"), ("/ancestor::account", "account")),
    "limit": (("/..", "account"),),
}
VALUES: Final = {  # paths to what is compared and added up
    "account": ("@k", "@id", "name", "limit", "transaction/amount", "transaction/@k"),
    "transaction": ("@k", "vendor", "amount", "status", "../@id", "amount"),
    "limit": (".", "../@k"),
    "status": (".", "../amount", "../@k"),
    "site": ("@k", "@id", "zone", "level"),
    "reading": ("@k", "@n", "value", "value"),
}
NUMERIC: Final = {
    "account": ("limit", "transaction/amount", "@id"), "transaction": ("amount", "@k"),
    "limit": (".",), "status": ("../amount",), "site": ("level", "@k"), "reading": ("value", "@n"),
}  # fmt: skip
ALLEN: Final = ("before", "after", "meets", "overlaps", "during", "contains", "starts", "equals")
T = TypeVar("T")
_LEAST: Final = "2020-01-01T00:"


@dataclass(frozen=True, slots=True)
class Scope:
    """Variables: those that are one node (by kind), several nodes, numbers, strings."""

    one: tuple[tuple[str, str], ...] = ()
    many: tuple[tuple[str, str], ...] = ()
    numbers: tuple[str, ...] = ()
    strings: tuple[str, ...] = ()

    def nodes(self) -> tuple[tuple[str, str], ...]:
        return self.one + self.many


class Grammar:
    """Draws queries; `deep` bounds how far they nest."""

    def __init__(self, chance: Random) -> None:
        self.chance, self.made = chance, 0

    def pick(self, *choices: T) -> T:
        return self.chance.choice(choices)

    def odds(self, of: float) -> bool:
        return self.chance.random() < of

    def fresh(self, letter: str) -> str:
        self.made += 1
        return f"${letter}{self.made}"

    def one_of(self, *choices: Callable[[], str]) -> str:
        return self.chance.choice(choices)()

    # -- instants and projections ---------------------------------------------------------------

    def instant(self, scope: Scope, projected: bool = True) -> str:
        """An instant; `start` is one in projections alone."""
        minute = f"{_LEAST}{self.chance.randint(0, 29):02}:00"
        found = [minute, minute, "now", "now - PT5M", "now - PT10M", f"{minute} + PT90S"]
        found += ["start"] if projected else []
        for name, _ in scope.one:
            found += [f"vtFrom({name})", f"vtTo({name})", f"vtFrom({name}) - PT5M"]
        return self.chance.choice(found)

    def projection(self, scope: Scope) -> str:
        minute = self.chance.randint(0, 25)
        return self.pick(
            *("?[now]", "?[now]", "?[now - PT10M, now]", "#[last]", "#[1]", "#[2]", "#[2, last]"),
            f"?[{self.instant(scope)}]",
            f"?[{self.instant(scope)}, now]",
            f"?[start, {self.instant(scope)}]",
            f"?[{_LEAST}{minute:02}:00, {_LEAST}{minute + self.chance.randint(0, 4):02}:00]",
        )

    # -- nodes ----------------------------------------------------------------------------------

    def source(self, scope: Scope, kinds: tuple[str, ...] = ()) -> tuple[str, str]:
        """A path to nodes, and their kind."""
        known = [one for one in scope.nodes() if one[1] in BELOW]
        if known and not kinds and self.odds(0.45):
            name, kind = self.chance.choice(known)
            step, below = self.chance.choice(BELOW[kind])
            return name + step, below
        kind = self.chance.choice(kinds or tuple(ROOTS))
        return self.chance.choice(ROOTS[kind]), kind

    def nodes(self, scope: Scope, deep: int, kinds: tuple[str, ...] = ()) -> tuple[str, str]:
        """Nodes of a kind: a path, cut, tested, projected, in another order, by a loop."""
        text, kind = self.source(scope, kinds)
        for _ in range(self.pick(0, 0, 1, 1, 2)):
            text = self.narrowed(text, kind, scope, deep)
        if deep and self.odds(0.12):
            text = self.rearranged(text, kind, scope, deep)
        return text, kind

    def narrowed(self, text: str, kind: str, scope: Scope, deep: int) -> str:
        own = self.fresh("q")
        inner = replace(scope, one=(*scope.one, (own, kind)))
        return self.one_of(
            lambda: text + self.projection(scope),
            lambda: text + self.projection(scope),
            lambda: f"{text}[{self.context_test(kind)}]",
            lambda: f"{text}[{self.context_test(kind)}]",
            lambda: f"({text})[{self.pick('1', '2', 'last()', 'position() <= 2')}]",
            lambda: f"{text}[{self.pick('1', 'last()')}]",
            lambda: f"(for {own} in {text} where {self.truth(inner, deep - 1)} return {own})",
        )

    def context_test(self, kind: str) -> str:
        value, number = self.pick(*VALUES[kind]), self.pick(*NUMERIC[kind])
        projected = self.pick("", "", "?[now]", "#[last]") if value not in (".", "@k") else ""
        return self.pick(
            f'{value}{projected} = "{self.pick(*KEYS, *WORDS)}"',
            f"number(({number})[1]) > {self.pick('0', '2', '5')}",
            f"count({value}{projected}) > {self.pick('0', '1')}",
            f"exists({value})", f"not({value})", f"{value} = {self.pick(*VALUES[kind])}",
            f'contains(string(({value})[1]), "{self.pick("a", "b", "1")}")',
        )  # fmt: skip

    def rearranged(self, text: str, kind: str, scope: Scope, deep: int) -> str:
        other, own = self.source(scope, (kind,))[0], self.fresh("f")
        key = self.pick(*NUMERIC[kind])
        inner = replace(Scope(), one=((own, kind),))
        return self.one_of(
            lambda: f"reverse({text})", lambda: f"({text}, {other})", lambda: f"({text} | {other})",
            lambda: f"({text} except {other})", lambda: f"({text} intersect {other})",
            lambda: f"head({text})", lambda: f"tail({text})", lambda: f"subsequence({text}, 2, 2)",
            lambda: f"sort({text}, (), function({own}) {{ number(({own}/{key})[1]) }})",
            lambda: f"filter({text}, function({own}) {{ {self.truth(inner, deep - 1)} }})",
            lambda: f"(if ({self.truth(scope, deep - 1)}) then {text} else {other})",
            lambda: f"array {{ {text} }}?*",
        )  # fmt: skip

    # -- values ---------------------------------------------------------------------------------

    def number(self, scope: Scope, deep: int) -> str:
        if scope.numbers and self.odds(0.4):
            return self.pick(*scope.numbers)
        text, kind = self.any_nodes(scope, deep)
        value = f"{text}/{self.pick(*NUMERIC[kind])}"
        fold = self.pick("sum", "avg", "max", "min")
        return self.one_of(
            lambda: f"count({text})",
            lambda: f"count({value})",
            lambda: f"{fold}({value} ! number(.))",
            lambda: f"{fold}({value} ! number(.))",
            lambda: f"number(({value})[{self.pick('1', 'last()')}])",
            lambda: f"string-length({self.string(scope, deep - 1)})",
            lambda: f"({self.number(scope, deep - 1)} {self.pick('+', '-', '*')} 2)"
            if deep > 0 else "2",
            lambda: f"count(distinct-values({value}))",
            lambda: f"fold-left({value} ! number(.), 0, function($x, $y) {{ $x + $y }})",
        )  # fmt: skip

    def any_nodes(self, scope: Scope, deep: int) -> tuple[str, str]:
        if scope.nodes() and self.odds(0.6 if deep > 0 else 0.95):
            return self.pick(*scope.nodes())
        return self.nodes(scope, deep - 1) if deep > 0 else self.source(scope)

    def string(self, scope: Scope, deep: int) -> str:
        if scope.strings and self.odds(0.4):
            return self.pick(*scope.strings)
        text, kind = self.any_nodes(scope, deep)
        value = f"{text}/{self.pick(*VALUES[kind])}"
        first = f"string(({value})[1])"
        return self.one_of(
            lambda: first, lambda: first, lambda: f"upper-case({first})",
            lambda: f"string-join({value}, '-')", lambda: f"substring({first}, 1, 2)",
            lambda: f"string-join(sort({value} ! string(.)), ',')",
            lambda: f"translate({first}, 'abc', 'xy')", lambda: f"replace({first}, '[a-c]', '_')",
            lambda: f"string(vtFrom(({text})[1]))" if deep > 0 else "'t'",
            lambda: f"string-join(tokenize({first}, ' '), '|')", lambda: f"name(({text})[1])",
            lambda: f"(switch ({first}) case 'ok' return 'A' case 'x' return 'B' "
            "default return 'C')",
            lambda: f"(typeswitch ({text}) case empty-sequence() return 'no' case element(status)+ "
            "return 'status' case element()+ return 'some' default return 'none')",
            lambda: f"concat({first}, '/', {self.number(scope, deep - 1)})",
        )  # fmt: skip

    def truth(self, scope: Scope, deep: int) -> str:
        text, kind = self.any_nodes(scope, deep)
        other, others = self.any_nodes(scope, deep)
        value, theirs = (
            f"{text}/{self.pick(*VALUES[kind])}",
            f"{other}/{self.pick(*VALUES[others])}",
        )
        own, key = self.fresh("s"), self.pick(*KEYS, *WORDS)
        inner = replace(scope, one=(*scope.one, (own, kind)))
        deeper = deep - 1

        def quantified() -> str:
            word = self.pick("some", "every")
            return f"({word} {own} in {text} satisfies {self.truth(inner, deeper)})"

        choices: list[Callable[[], str]] = [
            lambda: f"{value} = {theirs}", lambda: f"{value} = {theirs}",
            lambda: f"{value} = '{key}'", lambda: f"{value} != {theirs}",
            lambda: f"exists({value})", lambda: f"empty({text})",
            lambda: f"{self.number(scope, deeper)} {self.pick('>', '<', '>=', '=')} "
            f"{self.pick('1', '2', '5')}",
            lambda: f"{self.pick('contains', 'starts-with')}({self.string(scope, deeper)}, 'a')",
            lambda: f"matches({self.string(scope, deeper)}, '^[a-z]+$')",
            lambda: f"({text} ! vtFrom(.)) {self.pick('<', '>=', '=')} "
            f"{self.instant(scope, False)}",
            lambda: f"({text} ! vtTo(.)) = now",
            lambda: f"exists({text}[. {self.pick(*ALLEN)} {other}])"
            if "(" not in other else "true()",
        ]  # fmt: skip
        if deep > 0:
            choices += [
                quantified, quantified,
                lambda: f"not({self.truth(scope, deeper)})",
                lambda: f"({self.truth(scope, deeper)} and {self.truth(scope, deeper)})",
                lambda: f"({self.truth(scope, deeper)} or {self.truth(scope, deeper)})",
                lambda: f"{self.number(scope, deeper)} >= {self.number(scope, deeper)}",
                lambda: f"deep-equal({value}, {theirs})",
            ]  # fmt: skip
        return self.chance.choice(choices)()
