"""Generated window queries over items e with attributes k, n and t, and such items."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

# Conditions on a start: of the item itself, its neighbours, its position.
STARTS = (
    "true()",
    "$s/@k = 'a'",
    "$sp mod 2 = 1",
    "$sp = 1",
    "empty($sb) or $sb/@k != $s/@k",
    "$sa/@k = 'b'",
    "xs:integer($s/@n) > 1",
)
# Conditions on an end: alone, compared with the start by equality, by order, by both and more.
ENDS = (
    "true()",
    "$e/@k = 'b'",
    "$ep mod 3 = 0",
    "$ea/@k = 'a'",
    "$ep - $sp = 2",
    "$ep - $sp ge 1",
    "$e/@k = $s/@k",
    "$e/@k eq $s/@k and $ep > $sp",
    "$s/@n = $e/@n and $e/@k != 'c'",
    "$e/@t > $s/@t + 2",
    "$e/@t - $s/@t ge 3",
    "$ea/@t - $s/@t gt 2",
    "3 le $e/@t - $s/@t",
    "xs:integer($s/@t) + 1 lt xs:integer($e/@t)",
    "xs:date($e/@d) - xs:date($s/@d) ge xs:dayTimeDuration('P2D')",
    "xs:date($e/@d) gt xs:date($s/@d)",
    "$e/@d lt $s/@d",
    "$e/@t le $s/@n and $e/@k = 'a'",
    "$eb/@k = $s/@k or $ea/@k = 'c'",
    "not($s/@k = $e/@k)",
    "$ep - $sp lt 3 and $e/@k = 'b'",
    "$ep le $sp + 1 and $e/@n != $s/@n",
    "$ep = $s/@n",
)
RESULTS = (
    "return string-join($w/@t, '-')",
    "return <w n='{count($w)}'>{ $w/@k/string() }</w>",
    "return ($s/@t, $e/@t)/string()",
    "return count($w)",
    "where count($w) > 1 return <q>{ $w[1]/@t, sum($w/@n) }</q>",
    "let $m := max($w/@n/xs:integer(.)) where $m > 1 return <m>{ $m, $sp, $ep }</m>",
    "for $x in $w where $x/@k = 'a' return concat($x/@t, ':', $sp)",
    "return $w",
    "return <n>{ string($ea/@t), string($eb/@t), string($sa/@t), string($sb/@t) }</n>",
    "return <f>{ sum($w/@x), avg($w/@x), min($w/@k/string()), exists($w[@k = 'c']), $s/@t }</f>",
    "where sum($w/@n) > 3 return <d>{ distinct-values($w/@k), count($w/@x[. > 1]) }</d>",
    "return <g>{ for $x in distinct-values($w/@k) return sum($w[@k eq $x]/@n) }</g>",
    "return sum(for $x in $w where $x/@t >= $s/@t return $x/@x)",
    "return <p>{ $w/../@g/string(), $e/preceding-sibling::e/@k/string() }</p>",
    "return <o>{ for $x in $w order by $x/@n descending return string($x/@t) }</o>",
)
AROUND = (
    "%q", "%q", "%q", "%q", "<all>{ %q }</all>", "count(%q)", "string-join(%q, '|')",
    "sum(for $y in (%q) return string-length(string($y)))", "(%q, count(%s/r/e))",
)  # fmt: skip
SOURCES = (
    *("%s/r/e",) * 4, "%s//e", "%s/r/g/e", "%s//e[@n != '2']",
    "(for $x in %s/r/e return <e y=''>{ $x/@* }</e>)",
)  # fmt: skip


@st.composite
def window_queries(draw: DrawFn, stream: str) -> str:
    """A query with one window clause over items of `stream`."""
    source = draw(st.sampled_from(SOURCES)).replace("%s", stream)
    start, result = draw(st.sampled_from(STARTS)), draw(st.sampled_from(RESULTS))
    end = draw(st.sampled_from(ENDS))
    if draw(st.booleans()):
        kind = draw(st.sampled_from(["tumbling", "sliding"]))
        only = draw(st.sampled_from(["", "only "]))
        closing = f"{only}end $e at $ep previous $eb next $ea when {end}"
        if kind == "tumbling" and draw(st.integers(0, 4)) == 0:
            closing, result = "", draw(st.sampled_from(RESULTS[:2]))
        opening = f"start $s at $sp previous $sb next $sa when {start}"
        asked = f"for {kind} window $w in {source} {opening} {closing} {result}"
    else:
        kind = draw(st.sampled_from(["tumbling", "sliding", "landmark"]))
        force = draw(st.sampled_from(["", "force "]))
        end = "newstart" if draw(st.integers(0, 5)) == 0 else end
        names = "curItem ${0}, position ${0}p, prevItem ${0}b, nextItem ${0}a"
        asked = (
            f"forseq $w in {source} {kind} window start {names.format('s')} when {start} "
            f"{force}end {names.format('e')} when {end} {result}"
        )
    return draw(st.sampled_from(AROUND)).replace("%q", asked).replace("%s", stream)


@st.composite
def items(draw: DrawFn, number: int) -> str:
    """An item; times mostly go forward."""
    k, n = draw(st.sampled_from("abc")), draw(st.sampled_from("123"))
    t = max(0, number + draw(st.sampled_from([0, 0, 0, 0, 1, 2, -2, -4])))
    x = draw(st.sampled_from(["0.1", "0.2", "1e16", "3"]))
    return f'<e k="{k}" n="{n}" t="{t}" x="{x}" d="2024-01-{1 + t:02d}"/>'


@st.composite
def units(draw: DrawFn, number: int) -> str:
    """An item, or several in a group."""
    if draw(st.integers(0, 3)):
        return draw(items(number))
    inner = "".join(draw(items(number)) for _ in range(draw(st.integers(0, 3))))
    return f'<g g="{number}">{inner}</g>'


@st.composite
def item_lists(draw: DrawFn, most: int = 12) -> list[str]:
    """Items and groups of them, in order."""
    return [draw(units(number)) for number in range(draw(st.integers(0, most)))]
