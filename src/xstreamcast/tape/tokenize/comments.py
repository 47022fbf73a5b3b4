"""Comments, processing instructions and what is outside the root, in compiled code."""

# ruff: noqa: SIM109 - compiled loops compare; they build no tuples

from __future__ import annotations

from numpy import int64

from xstreamcast.tape.layout import COMMENT, I64, PI, Columns
from xstreamcast.tape.tokenize.load_bytes import WIDTH, byte, eight, first, helper, tag_stops
from xstreamcast.tape.tokenize.state import (
    CURRENT,
    DECLARATION,
    DEPTH,
    DOCTYPE_SEEN,
    FULL,
    IN_COMMENT,
    IN_PI,
    IN_TAG,
    MAX_NAME,
    MORE,
    NAME_TOO_LONG,
    NOTHING,
    PENDING,
    POS,
    QUOTE,
    ROOM,
    ROOT_SEEN,
    ROWS,
    SCANNED,
    SEVERAL,
    SHIFT,
    STANDALONE,
    SUSPECT,
    TAG,
    UNIT,
    WORD,
)
from xstreamcast.tape.tokenize.text import BANG, CR, GT, LF, LT, TAB, plain, value_end
from xstreamcast.tape.tokenize.words import (
    EMPTY,
    NO_PREFIX,
    Lexicon,
    add_name_word,
    find_name,
    find_word,
    name_end,
)

SPACE, DASH, QUESTION, DOUBLE, SINGLE, OPEN_BRACKET = 32, 45, 63, 34, 39, 91
DOCTYPE = int.from_bytes(b"!DOCTYPE", "little")
SYSTEM = int.from_bytes(b"SYSTEM", "little")
PUBLIC = int.from_bytes(b"PUBLIC", "little")


@helper
def is_space(c: int) -> bool:
    """Whether a byte is white space of XML."""
    return c == SPACE or c == LF or c == TAB or c == CR


@helper
def skip_space(base: int, p: int, n: int) -> int:
    """The first position from `p` on that is not white space."""
    while p < n and is_space(byte(base + p)):
        p += 1
    return p


@helper
def has_end(base: int, n: int, state: I64) -> bool:
    """Whether the pending token ends before `n`; each byte is looked at once, however it is cut."""
    pending, p = state[PENDING], state[SCANNED]
    while p < n:
        mask = tag_stops(base + p)
        if mask == 0:
            p += WIDTH
            continue
        p += first(mask)
        if p >= n:
            break
        c = byte(base + p)
        if pending == IN_TAG:
            if c == GT and state[QUOTE] == 0:
                return True
            if c == state[QUOTE]:
                state[QUOTE] = 0
            elif c != GT and state[QUOTE] == 0:
                state[QUOTE] = c
        elif c == GT:
            before = byte(base + p - 1)
            if pending == IN_PI and before == QUESTION:
                return True
            if pending == IN_COMMENT and before == DASH and byte(base + p - 2) == DASH:
                return True
        p += 1
    state[SCANNED] = n
    return False


@helper
def wait_for(state: I64, pending: int, begin: int, scan: int) -> int:
    """Note that the token at `begin` has not ended; MORE."""
    state[POS] = begin
    if state[PENDING] != pending:
        state[PENDING], state[SCANNED], state[QUOTE] = pending, scan, 0
    return MORE


@helper
def put(c: Columns, state: I64, kind: int, name: int, start: int, end: int) -> None:
    """A row for a comment or PI, unless it is above the units."""
    if state[DEPTH] < state[UNIT] or (state[DEPTH] == state[UNIT] and state[CURRENT] < 0):
        return
    row = state[ROWS]
    c.kind[row], c.level[row] = kind, state[DEPTH] + state[SHIFT]
    c.name[row], c.parent[row], c.size[row] = name, state[CURRENT], 0
    c.start[row], c.length[row] = start, end - start
    state[ROWS] = row + 1


@helper
def comment(base: int, p: int, n: int, c: Columns, state: I64) -> int:
    """The position after the comment whose `<!` is at `p`."""
    if p + 4 > n:
        return wait_for(state, int64(IN_COMMENT), p, p + 4)
    q, flags = p + 4, 0
    while True:
        q, _, found = plain(base, q, n, int64(DASH))
        flags |= found
        if q == MORE or (q + 2 >= n and q != SUSPECT):
            return wait_for(state, int64(IN_COMMENT), p, p + 6)
        if q == SUSPECT:
            return SUSPECT
        if byte(base + q + 1) == DASH:
            break
        q += 1
    if byte(base + q + 2) != GT:
        return SUSPECT
    put(c, state, COMMENT | flags, int64(-1), p + 4, q)
    return q + 3


@helper
def instruction(base: int, p: int, n: int, c: Columns, lex: Lexicon, state: I64) -> int:
    """The position after the processing instruction whose `<?` is at `p`."""
    e = p + 2
    while e < n and not is_space(byte(base + e)) and byte(base + e) != QUESTION:
        e += 1
    if e - p > state[MAX_NAME] + 2:
        return NAME_TOO_LONG
    if e >= n:
        return wait_for(state, int64(IN_PI), p, p + 3)
    if e - p == 5 and (eight(base + p + 2) | 0x202020) & 0xFFFFFF == 0x6C6D78:
        return DECLARATION
    start = skip_space(base, e, n)
    q, flags = start, 0
    while True:
        q, _, found = plain(base, q, n, int64(QUESTION))
        flags |= found
        if q == MORE or (q + 1 >= n and q != SUSPECT):
            return wait_for(state, int64(IN_PI), p, p + 3)
        if q == SUSPECT:
            return SUSPECT
        if byte(base + q + 1) == GT:
            break
        if start == e:
            return SUSPECT
        q += 1
    word = add_name_word(lex, base, p + 2, e)
    if word < 0:
        state[WORD], _ = find_word(lex, base, p + 2, e)
        return word
    if lex.words[word].prefix != NO_PREFIX:
        return SUSPECT
    name = find_name(lex, word, int64(EMPTY))
    if name < 0:
        return FULL
    put(c, state, PI | flags, name, start, q)
    return q + 2


@helper
def misc(base: int, p: int, n: int, c: Columns, lex: Lexicon, state: I64) -> int:
    """The position after the comment or PI that begins at `p`."""
    if p + 1 >= n:
        state[POS] = p
        return MORE
    if byte(base + p + 1) == QUESTION:
        return instruction(base, p, n, c, lex, state)
    if (p + 2 < n and byte(base + p + 2) != DASH) or (p + 3 < n and byte(base + p + 3) != DASH):
        return SUSPECT
    return comment(base, p, n, c, state)


@helper
def literal(base: int, p: int, n: int) -> int:
    """The position after a quoted literal of a DOCTYPE; SUSPECT unless it is plain ASCII."""
    quote = byte(base + p)
    if quote != DOUBLE and quote != SINGLE:
        return SUSPECT
    q, _, flags = value_end(base, p + 1, n, quote, int64(0))
    return SUSPECT if q < 0 or flags else q + 1


@helper
def doctype(base: int, p: int, n: int, lex: Lexicon, state: I64) -> int:
    """The position after a DOCTYPE without an internal subset, whose `<` is at `p`."""
    state[SCANNED], state[QUOTE], state[PENDING] = p + 1, 0, IN_TAG
    if not has_end(base, n, state):
        state[POS] = p
        return MORE
    state[PENDING] = NOTHING
    q = skip_space(base, p + 9, n)
    e = name_end(base, q, n)
    if eight(base + p + 1) != DOCTYPE or q == p + 9 or state[DOCTYPE_SEEN] or state[ROOT_SEEN]:
        return SUSPECT
    word = add_name_word(lex, base, q, e)
    if word < 0:
        return FULL if word == FULL else SUSPECT
    q = skip_space(base, e, n)
    external = eight(base + q) & 0xFFFFFFFFFFFF
    if q > e and (external == SYSTEM or external == PUBLIC):
        literals = 1 if external == SYSTEM else 2
        q += 6
        for _ in range(literals):
            after = skip_space(base, q, n)
            if after == q:
                return SUSPECT
            q = literal(base, after, n)
            if q < 0:
                return SUSPECT
    q = skip_space(base, q, n)
    if byte(base + q) != GT:
        return SUSPECT
    state[DOCTYPE_SEEN] = 1
    return q + 1


@helper
def next_document(state: I64) -> None:
    """Forget the prolog of the document before, in a sequence."""
    state[ROOT_SEEN] = state[DOCTYPE_SEEN] = state[STANDALONE] = 0


@helper
def outside(base: int, p: int, n: int, c: Columns, lex: Lexicon, state: I64) -> int:
    """Read what is outside the root, up to a start tag: TAG, with its position in POS."""
    while True:
        p = skip_space(base, p, n)
        state[POS] = p
        if p + 1 >= n:
            return SUSPECT if p < n and byte(base + p) != LT else MORE
        if byte(base + p) != LT:
            return SUSPECT
        kind = byte(base + p + 1)
        if state[ROWS] + 2 > len(c.kind):
            return ROOM
        if kind == QUESTION:
            p = misc(base, p, n, c, lex, state)
        elif kind == BANG:
            if p + 2 >= n:
                return MORE
            if byte(base + p + 2) == DASH:
                p = misc(base, p, n, c, lex, state)
            else:
                if state[ROOT_SEEN] and state[SEVERAL]:
                    next_document(state)
                p = doctype(base, p, n, lex, state)
        else:
            if state[ROOT_SEEN] and not state[SEVERAL]:
                return SUSPECT
            if state[ROOT_SEEN]:
                next_document(state)
            return TAG
        if p < 0:
            return p
