"""FLWORs and whole queries of the grammar in `wide_queries`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random

from tests.fuzz.wide_queries import NUMERIC, VALUES, Grammar, Scope
from tests.fuzz.wide_streams import END, bank, net


@dataclass(frozen=True, slots=True)
class WideCase:
    """Queries over the streams a and b, each a list of lines."""

    queries: tuple[
        tuple[str, str], ...
    ]  # each with one that says the same without declared streams
    streams: dict[str, list[str]]

    def wires(self) -> dict[str, bytes]:
        return {name: "\n".join([*lines, END]).encode() for name, lines in self.streams.items()}

    def __repr__(self) -> str:
        return "\n".join(
            [
                "",
                *(text for text, _ in self.queries),
                *(str(lines) for lines in self.streams.values()),
            ]
        )


def wide_case(chance: Random) -> WideCase:
    """Two streams and some queries."""
    streams = {"a": bank(chance), "b": net(chance)}
    return WideCase(tuple(Clauses(chance).query() for _ in range(4)), streams)


class Clauses(Grammar):
    """FLWORs, put together from clauses, and what they return."""

    def query(self) -> tuple[str, str]:
        """A whole query, and one that says the same without declared streams."""
        deep = self.pick(1, 1, 2, 2, 3)
        if self.odds(0.08):
            return self.piped(self.flwor(Scope(), deep))
        text = self.plain(deep)
        return text, text

    def plain(self, deep: int) -> str:
        inner = self.flwor(Scope(), deep)
        match self.pick(*range(12)):
            case 0:
                return self.declared(deep)
            case 1 | 2:
                return f"<all>{{ {inner} }}</all>"
            case 3:
                fold = self.pick(
                    "count({})", "({})[position() <= 2]", "({})[last()]", "reverse({})"
                )
                return fold.format(f"({inner})")
            case 4:
                return f"string-join(({inner}) ! string(.), ' ')"
            case 5:
                return f"distinct-values(({inner}) ! string(.))"
            case 6:
                return f"{self.number(Scope(), deep)}, {inner}"
            case 7:
                return self.nodes(Scope(), deep)[0]
            case _:
                return inner

    def declared(self, deep: int) -> str:
        own = self.fresh("e")
        kind = self.pick("account", "transaction", "site")
        inner = Scope(one=((own, kind),))
        body = self.pick(self.number, self.string)(inner, deep - 1)
        text = self.nodes(Scope(), deep - 1, (kind,))[0]
        head = f"declare function local:f({own} as element()) as item()* {{ {body} }};"
        loop = f"for $z in {text} order by string(local:f($z)[1])"
        return f"{head} {loop} return <f>{{ local:f($z) }}</f>"

    def piped(self, inner: str) -> tuple[str, str]:
        """A query over the answer of another."""
        middle = f"for $m in ({inner}) return <m>{{ $m ! string(.) }}</m>"
        last = self.pick(
            "for $m in MID/answer/m order by string($m) return <o>{ string($m) }</o>",
            "count(MID/answer/m)", "MID/answer/m[last()]",
            "for $m in MID//m group by $g := string($m) order by $g return ($g, count($m))",
        )  # fmt: skip
        declared = f"declare stream mid := {middle}; " + last.replace("MID", 'stream("mid")')
        named = f"let $mid := document {{ <answer>{{ {middle} }}</answer> }} return "
        return declared, named + last.replace("MID", "$mid")

    def flwor(self, scope: Scope, deep: int) -> str:
        text, scope = self.first_clause(scope, deep)
        grouped = False
        words = [
            self.pick("let", "where", "where", "group", "order", "count", "for") for _ in range(4)
        ]
        for word in words[: self.pick(0, 1, 1, 2, 3, 4)]:
            if word == "group" and grouped:
                continue
            grouped = grouped or word == "group"
            more, scope = self.clause(word, scope, deep)
            text += more
        return f"{text}return {self.result(scope, deep)}"

    def first_clause(self, scope: Scope, deep: int) -> tuple[str, Scope]:
        if self.odds(0.2):
            return self.window(scope, deep)
        return self.clause("for", scope, deep)

    def clause(self, word: str, scope: Scope, deep: int) -> tuple[str, Scope]:
        match word:
            case "for":
                return self.loop(scope, deep)
            case "let":
                return self.let(scope, deep)
            case "where":
                return f"where {self.truth(scope, deep)} ", scope
            case "group":
                return self.group(scope, deep)
            case "order":
                return f"order by {self.order(scope, deep)} ", scope
            case _:
                name = self.fresh("c")
                return f"count {name} ", replace(scope, numbers=(*scope.numbers, name))

    def loop(self, scope: Scope, deep: int) -> tuple[str, Scope]:
        (text, kind), name = self.nodes(scope, deep), self.fresh("x")
        empty = self.odds(0.1)
        known = replace(scope, one=(*scope.one, (name, kind)))
        if empty:  # it may be empty: what is read of it is
            known = replace(scope, many=(*scope.many, (name, kind)))
        at = ""
        if self.odds(0.2):
            place = self.fresh("p")
            at, known = f" at {place}", replace(known, numbers=(*known.numbers, place))
        return f"for {name}{' allowing empty' if empty else ''}{at} in {text} ", known

    def let(self, scope: Scope, deep: int) -> tuple[str, Scope]:
        name = self.fresh("l")
        match self.pick(0, 1, 2):
            case 0:
                text, kind = self.nodes(scope, deep)
                return f"let {name} := {text} ", replace(scope, many=(*scope.many, (name, kind)))
            case 1:
                found = self.number(scope, deep)
                return f"let {name} := {found} ", replace(scope, numbers=(*scope.numbers, name))
            case _:
                found = self.string(scope, deep)
                return f"let {name} := {found} ", replace(scope, strings=(*scope.strings, name))

    def group(self, scope: Scope, deep: int) -> tuple[str, Scope]:
        """Keys are strings, by which groups are sorted: their order is nobody's promise.

        All other variables hold what all rows hold.
        """
        names = [self.fresh("g") for _ in range(self.pick(1, 1, 2))]
        keys = ", ".join(f"{name} := string(({self.string(scope, deep - 1)})[1])" for name in names)
        later = Scope(many=scope.nodes(), strings=tuple(names))
        return f"group by {keys} order by {', '.join(names)} ", later

    def order(self, scope: Scope, deep: int) -> str:
        text, kind = self.any_nodes(scope, 0)
        way = self.pick("", "", " descending", " empty greatest", " descending empty least")
        key = self.pick(
            f"string(({text}/{self.pick(*VALUES[kind])})[1])",
            f"({text}/{self.pick(*NUMERIC[kind])})[1]/number(.)", f"count({text})",
        )  # fmt: skip
        more = f", {self.string(scope, 0)}" if self.odds(0.3) else ""
        return f"{key}{way}{more}"

    def window(self, scope: Scope, deep: int) -> tuple[str, Scope]:
        (text, kind), name = self.nodes(scope, deep), self.fresh("w")
        key, number = self.pick(*VALUES[kind]), self.pick(*NUMERIC[kind])
        first, last = self.fresh("f"), self.fresh("t")
        span = self.pick("PT5M", "PT10M", "PT0S")
        starts = (
            "$s when true()",
            f"$s when $s/{key}",
            f"$s at $i when number(($s/{number})[1]) > 1",
        )
        ends = (
            f"end $e at $j when $e/{key} = '{self.pick('x', 'ok', '10')}'",
            f"{self.pick('', 'only ')}end $e next $n when vtFrom($n) - vtFrom($s) > {span}",
            f"{self.pick('', 'only ')}end at $j when $j mod 2 = 0",
            f"only end $e when $e/{key} = $s/{key}",
        )
        kinds = self.pick("tumbling", "sliding")
        known = replace(scope, many=(*scope.many, (name, kind)))
        if self.odds(0.25):
            size = self.pick("1", "2")
            form = f"start curItem {first}, position $a when true() "
            end = f"end curItem {last}, position $b when $b - $a eq {size}"
            return (
                f"forseq {name} in {text} {kinds} window {form}{self.pick('', 'force ')}{end} ",
                known,
            )
        end = "" if kinds == "tumbling" and self.odds(0.3) else self.pick(*ends)
        start = starts[0] if "$s" in end and "$s" not in starts[0] else self.pick(*starts)
        return f"for {kinds} window {name} in {text} start {start} {end} ", known

    def result(self, scope: Scope, deep: int) -> str:
        deeper = deep - 1
        text, kind = self.any_nodes(scope, deeper)
        value = f"{text}/{self.pick(*VALUES[kind])}"
        shown = ", ".join((*scope.numbers, *scope.strings)) or "()"
        choices: list[Callable[[], str]] = [
            lambda: text, lambda: value, lambda: f"{text}{self.projection(scope)}",
            lambda: f"<p k='{{ {self.string(scope, deeper)} }}'>{{ {value}, <i/>, {shown} }}</p>",
            lambda: f"<p>{{ {self.number(scope, deeper)} }}<i>{{ {shown} }}</i></p>",
            lambda: f"({self.number(scope, deeper)}, {shown})",
            lambda: f"<v>{{ {text} ! (vtFrom(.), vtTo(.)) }}</v>",
            lambda: f"map {{ 'n': {self.number(scope, deeper)}, 's': {value} }} ! (?n, ?s)",
            lambda: f"if ({self.truth(scope, deeper)}) then <t>{{ {shown} }}</t> else {value}",
            lambda: f"try {{ xs:integer(({value})[1]) }} catch * {{ 'bad' }}",
        ]  # fmt: skip
        if deep > 0:
            choices += [lambda: f"<n>{{ {self.flwor(scope, deeper)} }}</n>"] * 3
        return self.chance.choice(choices)()
