"""Generated streams: small structures, histories with corrections, queries over them."""

from __future__ import annotations

from dataclasses import dataclass
from xml.sax.saxutils import quoteattr

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from xstreamcast.edges.structures import write_structure
from xstreamcast.model.structure import Tag, TagStructure, TagType

NAMES = ("a", "b", "c", "d")
WORDS = ("x", "y", "7", "12")
HEAD = '<stream:fragments xmlns:stream="urn:xstreamcast:stream">'


@dataclass(frozen=True, slots=True)
class Case:
    """A stream named s in order of arrival, and queries over it."""

    queries: tuple[str, ...]
    wire: bytes

    def __repr__(self) -> str:
        return "\n".join(["", *self.queries, self.wire.decode()])


@st.composite
def structures(draw: DrawFn) -> TagStructure:
    """A root and up to seven tags below; sometimes one contains one of those above it."""
    count = draw(st.integers(3, 7))
    parents = [draw(st.integers(0, i)) for i in range(count - 1)]
    children: dict[int, list[int]] = {i: [] for i in range(count)}
    names = ["r"]
    for tag, parent in enumerate(parents, start=1):
        taken = {names[child] for child in children[parent]}
        free = [name for name in NAMES if name not in taken]
        names.append(draw(st.sampled_from(free)) if free else f"n{tag}")
        children[parent].append(tag)
    kinds = [("snapshot", True), *(draw(st.sampled_from(KINDS)) for _ in parents)]
    _maybe_recursive(draw, children, names, kinds)
    tags = {
        i: Tag(i, "", names[i], kinds[i][0], kinds[i][1] if i else False, tuple(children[i]))
        for i in range(count)
    }
    return TagStructure(0, tags)


KINDS: tuple[tuple[TagType, bool], ...] = (
    *(("temporal", True), ("temporal", True), ("event", True)),
    *(("snapshot", False), ("snapshot", False), ("snapshot", True)),
)


def _maybe_recursive(
    draw: DrawFn,
    children: dict[int, list[int]],
    names: list[str],
    kinds: list[tuple[TagType, bool]],
) -> None:
    """Let a travelling tag stand below itself or below a tag under it."""
    travelling = [tag for tag in children if tag and kinds[tag][1]]
    if not travelling or draw(st.integers(0, 3)) != 0:
        return
    upper = draw(st.sampled_from(travelling))
    below, todo = {upper}, [upper]
    while todo:
        fresh = [child for child in children[todo.pop()] if child not in below]
        below.update(fresh)
        todo += fresh
    lower = draw(st.sampled_from(sorted(below)))
    if names[upper] not in {names[child] for child in children[lower]}:
        children[lower].append(upper)


@st.composite
def histories(draw: DrawFn, structure: TagStructure, plain: bool = False) -> bytes:
    """Fragments of up to eight ids, with versions, removals and repetitions, in any order.

    `plain`: none says more than its id, tag and valid time.
    """
    travelling = [tag for tag in structure.tags if tag and structure.travels(tag)]
    ids = [0]
    if travelling:
        ids += sorted(draw(st.lists(st.sampled_from(travelling), min_size=3, max_size=8)))
    lines: list[str] = []
    for number, tsid in enumerate(ids):
        for minute in draw(st.lists(st.integers(0, 9), min_size=1, max_size=3)):
            lines.append(draw(_fragments(structure, ids, number, tsid, minute, plain)))
    lines = draw(st.permutations(lines)) if draw(st.booleans()) else lines
    again = draw(st.lists(st.sampled_from(lines), max_size=2))
    if draw(st.booleans()):
        again = [line.replace("stream:filler", "stream:repeat") for line in again]
    told = write_structure(structure, None).decode()
    return "\n".join([HEAD, told, *lines, *again, "</stream:fragments>"]).encode()


@st.composite
def _fragments(
    draw: DrawFn,
    structure: TagStructure,
    ids: list[int],
    number: int,
    tsid: int,
    minute: int,
    plain: bool,
) -> str:
    word = draw(st.sampled_from(("filler", "filler", "filler", "replace", "remove")))
    if number == 0 and word == "remove":
        word = "filler"
    head = f'id="{number}" tsid="{tsid}" validTime="2020-01-01T00:0{minute}:00"'
    head += "" if plain else draw(_further(structure, ids, number, tsid, minute))
    if word == "remove":
        return f"<stream:remove {head}/>"
    payload = draw(_payloads(structure, ids, number, tsid, 0))
    return f"<stream:{word} {head}>{payload}</stream:{word}>"


@st.composite
def _further(
    draw: DrawFn, structure: TagStructure, ids: list[int], number: int, tsid: int, minute: int
) -> str:
    """What a fragment may say of its parent, its end, its place among corrections, its clock."""
    found = ""
    parents = [i for i in range(number) if tsid in structure[ids[i]].children]
    if parents and draw(st.integers(0, 2)) == 0:
        found += f' in="{draw(st.sampled_from(parents))}"'
    if structure[tsid].type != "snapshot" and draw(st.integers(0, 3)) == 0:
        found += f' validTo="2020-01-01T00:0{draw(st.integers(minute, 9))}:00"'
        found += ' temporary="true"' if draw(st.booleans()) else ""
    if draw(st.integers(0, 5)) == 0:
        found += f' version="{draw(st.integers(1, 3))}"'
    if draw(st.integers(0, 5)) == 0:
        found += f' messageTime="2020-01-01T00:0{draw(st.integers(0, 9))}:00"'
    return found


@st.composite
def _payloads(
    draw: DrawFn, structure: TagStructure, ids: list[int], number: int, tsid: int, depth: int
) -> str:
    """An element of the tag; its holes are for greater ids, so that nothing contains itself."""
    tag = structure[tsid]
    key = draw(st.sampled_from(("", *WORDS)))
    attribute = f" k={quoteattr(key)}" if key else ""
    content = draw(st.sampled_from(("", *WORDS)))
    for child in tag.children:
        if structure.travels(child):
            later = [i for i in range(number + 1, len(ids)) if ids[i] == child]
            for hole in later:
                if draw(st.integers(0, 3)):
                    content += f'<stream:hole id="{hole}" tsid="{child}"/>'
        elif depth < 3:
            for _ in range(draw(st.sampled_from((1, 1, 2, 0)))):
                content += draw(_payloads(structure, ids, number, child, depth + 1))
        content += draw(st.sampled_from(("", "", "x")))
    return f"<{tag.local}{attribute}>{content}</{tag.local}>"


def _minute(draw: DrawFn) -> str:
    return f"2020-01-01T00:0{draw(st.integers(0, 9))}:00"


@st.composite
def instants(draw: DrawFn, *variables: str) -> str:
    """A bound of a projection."""
    minute = _minute(draw)
    choices = [minute, minute, "now", "start", "now - PT2M", "now + PT3M", f"{minute} + PT90S"]
    choices += [f"vtFrom({v})" for v in variables] + [f"vtTo({v}) - PT1M" for v in variables]
    return draw(st.sampled_from(choices))


@st.composite
def intervals(draw: DrawFn, *variables: str) -> str:
    """`?[t]` or `?[t1,t2]`, mostly the right way round."""
    first = draw(instants(*variables))
    match draw(st.integers(0, 4)):
        case 0:
            return f"?[{first}]"
        case 1:
            return f"?[{first},{draw(instants(*variables))}]"
        case 2:
            return f"?[{first},now]"
        case 3:
            return f"?[start,{first}]"
        case _:
            minute = _minute(draw)
            return f"?[{minute},{minute} + PT{draw(st.integers(0, 6))}M]"


@st.composite
def versions(draw: DrawFn) -> str:
    """`#[n]` or `#[n,m]`."""
    return draw(st.sampled_from(("#[1]", "#[2]", "#[last]", "#[1,2]", "#[2,last]", "#[last - 1]")))


@dataclass(frozen=True, slots=True)
class Asking:
    """Draws the parts of a query, mostly along the paths that the structure has."""

    draw: DrawFn
    structure: TagStructure

    def one_of(self, *choices: str) -> str:
        return self.draw(st.sampled_from(choices))

    def names_below(self, tags: frozenset[int]) -> list[str]:
        below = {child for tag in tags for child in self.structure[tag].children}
        return sorted({self.structure[child].local for child in below})

    def step(self, tags: frozenset[int]) -> tuple[str, frozenset[int]]:
        """A step from elements of these tags, and the tags it reaches."""
        deep = self.one_of("/", "/", "//") == "//"
        reach = frozenset().union(*(self.structure.below(tag) for tag in tags)) if deep else tags
        choices = (*self.names_below(reach), "*")
        name = self.one_of(*choices, *choices, self.one_of(*NAMES))
        below = {child for tag in reach for child in self.structure[tag].children}
        found = frozenset(c for c in below if name in ("*", self.structure[c].local))
        return ("//" if deep else "/") + name + self.predicate(found), found

    def predicate(self, tags: frozenset[int]) -> str:
        name = self.one_of(*self.names_below(tags), "*")
        word = self.one_of(*WORDS)
        return self.one_of(
            *("", "", "", "", "", "", f"[{name}]", f'[@k = "{word}"]', f'[{name} = "{word}"]'),
            *("[1]", "[last()]", f'[{name}?[now] = "{word}"]', f"[count({name}) > 1]"),
            f"[{name}//{name}]",
        )

    def steps(self, tags: frozenset[int], least: int = 0) -> tuple[str, frozenset[int]]:
        found = ""
        for _ in range(self.draw(st.integers(least, 2))):
            step, tags = self.step(tags)
            found += step
        return found, tags

    def source(self) -> tuple[str, frozenset[int]]:
        """A path from the stream, often projected."""
        every = frozenset(self.structure.tags)
        name = self.one_of(*sorted({tag.local for tag in self.structure.tags.values()}))
        first = self.one_of("/r", "/r", f"//{name}", f"//{name}", "//*")
        start = frozenset((0,)) if first == "/r" else every
        path, tags = self.steps(start)
        path = f'stream("s"){first}{path}'
        match self.draw(st.integers(0, 5)):
            case 0:
                return path + self.draw(intervals()), tags
            case 1:
                return path + self.draw(versions()), tags
            case 2:
                below, tags = self.steps(tags, 1)
                return path + self.draw(intervals()) + below, tags
            case _:
                return path, tags

    def query(self) -> str:
        """A question about the stream s."""
        source, tags = self.source()
        below = self.steps(tags, 1)[0]
        word = self.one_of(*WORDS)
        match self.draw(st.integers(0, 15)):
            case 0 | 1 | 2:
                return source
            case 13 | 14 | 15:
                return self.larger_query(source, below)
            case 3:
                return f"count({source})"
            case 4:
                return f"for $x in {source} return $x{below}"
            case 5:
                inner = self.draw(intervals("$x"))
                return f"for $x in {source} return <q>{{ $x/@*, $x{below}{inner} }}</q>"
            case 6:
                return f'for $x in {source} where $x{below} = "{word}" return $x'
            case 7:
                return f"for $x in {source} where vtFrom($x) >= {_minute(self.draw)} return $x"
            case 8:
                allen = self.one_of("before", "meets", "overlaps", "during", "starts", "equals")
                return f"for $x in {source} return count({self.source()[0]}[. {allen} $x])"
            case 9:
                return f"let $x := {source} return ($x{below}, string-join($x, '|'))"
            case 10:
                test = f'$y = "{word}" or vtTo($y) = now'
                return f"for $x in {source} where some $y in $x{below} satisfies ({test}) return $x"
            case 11:
                return f"for $x in {source} return $x/..{below}"
            case _:
                inner = self.draw(versions())
                return f"for $x in {source} return string-join($x{below}{inner}/@*, ',')"

    def larger_query(self, source: str, below: str) -> str:
        """A question that takes more of XQuery."""
        other = self.source()[0]
        declared = f"declare function local:f($e as element()) as item()* {{ $e{below} }};"
        return self.one_of(
            f"for $x in {source} order by string($x), count($x{below}) return $x/@k",
            f"for $x in {source} group by $k := string($x/@k) order by $k return <g>{{ $x }}</g>",
            f"for $x in {source} group by $k := name($x) order by $k return count($x{below})",
            f"if ({source}) then {other} else 'none'",
            f"{declared} for $x in {source} return local:f($x)",
            f"({source}, {other})",
            f"({source})[last()]{below}",
            f"{source} ! name(.), distinct-values({other} ! string(.))",
            f"for $x in {source} return typeswitch ($x{below}) case element(a)+ return 1 "
            "case element()+ return 2 default return 3",
            f"every $x in {source} satisfies $x{below}",
            f"for $x at $i in {source} let $y := $x{below} where $y return <p>{{ $i, $y }}</p>",
            f"for $x in {source}, $y in {other}?[vtFrom($x), vtTo($x)] return <p>{{$x/@k, $y}}</p>",
            f"let $x := {source} return <all>{{ $x }}</all>{below}",
            f"reverse({source}){below}",
            f"string-join(for $x in {source} return $x{below}/text(), '|')",
            f"{source}/node()",
            f"count({source}/descendant::*), {source}/self::a",
        )

    def query_around(self) -> str:
        """A question that goes up from what it finds, or whose names are found out."""
        source, tags = self.source()
        names = self.names_below(tags) or ["a"]
        name, other, word = self.one_of(*names), self.one_of(*names), self.one_of(*WORDS)
        above = self.one_of(*(tag.local for tag in self.structure.tags.values()), "*")
        up = self.one_of("..", "parent::*", f"ancestor::{above}", f"ancestor-or-self::{above}")
        fold = self.one_of("count", "count", "exists", "empty")
        return self.one_of(
            f"{fold}({source}/{up})",
            f"{fold}({source}/{up})",
            f"{fold}({source}/{up}//{name})",
            f"{fold}({source}/{up}//{name})",
            f"{fold}({source}/ancestor::node()//{above})",
            f'stream("s")//*[{name}]/{other}',
            f'stream("s")//*[{name} = "{word}"]/{other}/@k',
            f'stream("s")//*[{name} = "{word}" and {other}]/{other}',
            f'stream("s")//{above}//{name}[{other}]',
            f'stream("s")//{above}//{name}/{up}/@k',
            f"{source}/{up}/name()",
            f"for $x in {source} return <p>{{ count($x/{up}), $x/{up}/{name} }}</p>",
        )


@st.composite
def cases_around(draw: DrawFn) -> Case:
    """A stream whose fragments say nothing more, and questions about what stands around."""
    structure = draw(structures())
    wire = draw(histories(structure, True))
    asking = Asking(draw, structure)
    return Case(tuple(asking.query_around() for _ in range(draw(st.integers(1, 5)))), wire)


@st.composite
def cases(draw: DrawFn, plain: bool = False) -> Case:
    """A stream and some queries; `plain` as for histories."""
    structure = draw(structures())
    wire = draw(histories(structure, plain))
    asking = Asking(draw, structure)
    return Case(tuple(asking.query() for _ in range(draw(st.integers(1, 5)))), wire)
