"""Queries and documents made at random: small, and most of them make sense."""

from __future__ import annotations

from dataclasses import dataclass, replace

from hypothesis import strategies as st

NAMES = ("a", "b", "c")
WORDS = ("x", "y", "1", "2", "10", "2.5", "")


# -- documents ------------------------------------------------------------------------------------


def _element(name: str, attributes: dict[str, str], content: list[str]) -> str:
    written = "".join(f' {k}="{v}"' for k, v in attributes.items())
    return f"<{name}{written}>{''.join(content)}</{name}>"


_attributes = st.dictionaries(st.sampled_from(("k", "m")), st.sampled_from(WORDS), max_size=2)
_texts = st.sampled_from(("x", "y", "1", "2", "10", "<!--n-->", "<?p q?>"))
_leaves = st.builds(_element, st.sampled_from(NAMES), _attributes, st.lists(_texts, max_size=1))
_trees = st.recursive(
    _leaves,
    lambda inner: st.builds(
        _element, st.sampled_from(NAMES), _attributes, st.lists(inner | _texts, max_size=4)
    ),
    max_leaves=12,
)
documents = st.builds(
    lambda children: f"<r>{''.join(children)}</r>", st.lists(_trees, min_size=1, max_size=4)
)


# -- queries --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Scope:
    """What may be named where an expression stands: node variables, number variables, a focus.

    `certain`: nothing inside may fail, because when it would be evaluated, if at all, is free.
    """

    nodes: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    focus: bool = True
    depth: int = 3
    certain: bool = False

    def deeper(self) -> Scope:
        return replace(self, depth=self.depth - 1)

    def with_node(self, name: str) -> Scope:
        return replace(self, nodes=(*self.nodes, name))

    def with_number(self, name: str) -> Scope:
        return replace(self, numbers=(*self.numbers, name))


Draw = st.DrawFn


@st.composite
def numbers(draw: Draw, scope: Scope) -> str:
    """An expression that gives a number."""
    plain = ["1", "2", "0", "3.5", "1e0", *(f"${n}" for n in scope.numbers)]
    if scope.depth <= 0:
        return draw(st.sampled_from(plain))
    inner = scope.deeper()
    match draw(st.integers(0, 7)):
        case 0 | 1:
            return draw(st.sampled_from(plain))
        case 2:
            all_ops = ("+", "-", "*") if scope.certain else ("+", "-", "*", "div", "idiv", "mod")
            op = draw(st.sampled_from(all_ops))
            return f"({draw(numbers(inner))} {op} {draw(numbers(inner))})"
        case 3:
            return f"count({draw(nodes(inner))})"
        case 4:
            branches = f"{draw(numbers(inner))} else {draw(numbers(inner))}"
            return f"(if ({draw(truths(inner))}) then {branches})"
        case 5:
            function = draw(st.sampled_from(("sum", "max", "min", "avg")))
            return f"{function}(({draw(numbers(inner))}, {draw(numbers(inner))}))"
        case 6:
            return f"string-length(string(({draw(nodes(inner))})[1]))"
        case _:
            # Who asks for one of two numbers need not look at the other.
            sure = replace(inner, certain=True)
            place = "2" if scope.certain else draw(numbers(inner))
            return f"({draw(numbers(sure))}, {draw(numbers(sure))})[{place}]"


@st.composite
def truths(draw: Draw, scope: Scope) -> str:
    """An expression that is used for its truth."""
    inner = scope.deeper()
    if scope.depth <= 0:
        # Not true() and false(): the oracle folds those, and then complains about what is left.
        return draw(st.sampled_from(("count(/r) = 1", "count(/r) = 0")))
    general = draw(st.sampled_from(("=", "!=", "<", "<=", ">", ">=")))
    match draw(st.integers(1 if scope.certain else 0, 8)):
        case 0:
            return f"{draw(nodes(inner))} {general} {draw(numbers(inner))}"
        case 1:
            return f'{draw(nodes(inner))} {general} "{draw(st.sampled_from(WORDS))}"'
        case 2:
            return f"{draw(nodes(inner))} {general} {draw(nodes(inner))}"
        case 3:
            op = draw(st.sampled_from(("eq", "ne", "lt", "le", "gt", "ge")))
            return f"{draw(numbers(inner))} {op} {draw(numbers(inner))}"
        case 4:
            op = draw(st.sampled_from(("and", "or")))
            return f"({draw(_certain(inner))} {op} {draw(_certain(inner))})"
        case 5:
            return f"not({draw(truths(inner))})"
        case 6:
            kind = draw(st.sampled_from(("some", "every")))
            test = draw(truths(inner.with_node("q")))
            return f"({kind} $q in {draw(nodes(inner))} satisfies {test})"
        case 7:
            op = draw(st.sampled_from(("is", "<<", ">>")))
            return f"({draw(nodes(inner))})[1] {op} ({draw(nodes(inner))})[last()]"
        case _:
            return f"exists({draw(nodes(inner))})"


@st.composite
def _certain(draw: Draw, scope: Scope) -> str:
    """A truth that cannot fail: which operand of and/or is looked at first is free."""
    steps = st.sampled_from(("//a", "//b/@k", "/r/*", "//text()", *(f"${n}" for n in scope.nodes)))
    match draw(st.integers(0, 2)):
        case 0:
            return f"exists({draw(steps)})"
        case 1:
            return f'{draw(steps)} = "{draw(st.sampled_from(WORDS))}"'
        case _:
            return f"{draw(steps)} < {draw(steps)}"


AXES = (
    "child", "descendant", "descendant-or-self", "self", "parent", "ancestor", "ancestor-or-self",
    "following-sibling", "preceding-sibling", "following", "preceding", "attribute",
)  # fmt: skip


@st.composite
def steps(draw: Draw, scope: Scope) -> str:
    """One step with its predicates."""
    axis = draw(st.sampled_from(AXES))
    names = ("k", "m", "*") if axis == "attribute" else (*NAMES, "*", "node()", "text()")
    step = f"{axis}::{draw(st.sampled_from(names))}"
    if scope.depth > 0 and draw(st.integers(0, 2)) == 0:
        step += f"[{draw(predicates(scope.deeper()))}]"
    return step


@st.composite
def predicates(draw: Draw, scope: Scope) -> str:
    """What may stand between brackets."""
    inner = replace(scope, focus=True, certain=True)  # not every item need be looked at
    plain = st.sampled_from(("1", "2", "last()", "position() > 1", "position() mod 2 = 1", "@k"))
    return draw(plain if draw(st.booleans()) else truths(inner))


@st.composite
def nodes(draw: Draw, scope: Scope) -> str:
    """An expression that gives nodes."""
    bases = ["/r", "/", *(f"${n}" for n in scope.nodes), *(("." if scope.focus else "/r",) * 2)]
    inner = scope.deeper()
    if scope.depth <= 0:
        return draw(st.sampled_from(bases))
    match draw(st.integers(0, 5)):
        case 0:
            op = draw(st.sampled_from(("union", "intersect", "except")))
            return f"({draw(nodes(inner))} {op} {draw(nodes(inner))})"
        case 1:
            return f"({draw(nodes(inner))})[{draw(predicates(inner))}]"
        case 2:
            return f"//{draw(st.sampled_from((*NAMES, '*', '@k')))}"
        case 3:
            return f"({draw(nodes(inner))}/{draw(steps(inner))})"
        case _:
            many = draw(st.lists(steps(inner), min_size=1, max_size=2))
            base = draw(st.sampled_from(bases))
            return "/".join(["/r" if base == "/" else base, *many])


@st.composite
def constructors(draw: Draw, scope: Scope) -> str:
    """A new element."""
    inner = scope.deeper()
    content = draw(queries(inner))
    number = draw(numbers(inner))
    if draw(st.booleans()):
        return f'<e n="{{{number}}}">t{{{content}}}<f/></e>'
    return f'element {{"e"}} {{attribute n {{{number}}}, {content}}}'


@st.composite
def flwors(draw: Draw, scope: Scope) -> str:
    """A FLWOR expression."""
    name = f"v{scope.depth}"
    scope = replace(scope, certain=True)
    inner, at = scope.deeper().with_node(name), f"i{scope.depth}"
    clauses = [f"for ${name} at ${at} in {draw(nodes(scope.deeper()))}"]
    inner = inner.with_number(at)
    if draw(st.booleans()):
        clauses.append(f"let $n{scope.depth} := {draw(numbers(inner))}")
        inner = inner.with_number(f"n{scope.depth}")
    if draw(st.booleans()):
        clauses.append(f"where {draw(truths(inner))}")
    match draw(st.integers(0, 4)):
        case 0:
            clauses.append(f"group by $g{scope.depth} := string(${name}/@k)")
            inner = replace(inner, numbers=scope.numbers)
        case 1:
            key = draw(st.sampled_from((f"string(${name})", f"${at}", f"count(${name}/*)")))
            down = draw(st.sampled_from(("", " descending")))
            clauses.append(f"order by {key}{down}, ${at}")
        case 2:
            clauses.append(f"count $c{scope.depth}")
            inner = inner.with_number(f"c{scope.depth}")
        case _:
            pass
    return f"({' '.join(clauses)} return {draw(queries(inner))})"


@st.composite
def windows(draw: Draw, scope: Scope) -> str:
    """A window clause over numbers or nodes."""
    kind = draw(st.sampled_from(("tumbling", "sliding")))
    scope = replace(scope, certain=True)
    source = draw(st.one_of(st.just("(1 to 6)"), nodes(scope.deeper())))
    start = draw(st.sampled_from(("true()", "$s mod 2 = 1", "$s ge 3", "empty($p)", "$x = 2")))
    end = draw(st.sampled_from(("$e - $s eq 1", "true()", "false()", "$e mod 3 = 0", "empty($n)")))
    only = draw(st.sampled_from(("", "only ")))
    stop = f" {only}end $y at $e next $n when {end}"
    if kind == "tumbling" and draw(st.booleans()):
        stop = ""
    return (
        f"(for {kind} window $w in {source} start $x at $s previous $p when {start}{stop} "
        f"return <w s='{{$s}}'>{{count($w), string($x)}}</w>)"
    )


@st.composite
def queries(draw: Draw, scope: Scope) -> str:
    """Any expression."""
    if scope.depth <= 0:
        return draw(st.one_of(numbers(scope), nodes(scope)))
    inner = scope.deeper()
    match draw(st.integers(0, 7)):
        case 0:
            return draw(numbers(inner))
        case 1:
            return f"({draw(truths(inner))})"
        case 2:
            return draw(nodes(inner))
        case 3:
            return draw(constructors(inner))
        case 4:
            return f"({draw(queries(inner))}, {draw(queries(inner))})"
        case 5:
            return draw(windows(inner))
        case _:
            return draw(flwors(inner))
