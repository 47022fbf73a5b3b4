"""XML bytes to columns, in one compiled pass that accepts only what is surely well-formed.

The loop is in one function: its positions stay in registers, and every token writes a row.
What is rare is called. What the pass is not sure of it answers with SUSPECT, and expat decides.
"""

# ruff: noqa: SIM109 - compiled loops compare; they build no tuples

from __future__ import annotations

from typing import Any

from numpy import int64

from xstreamcast.tape.layout import ATTRIBUTE, ELEMENT, I32, I64, NAMESPACE, TEXT, Columns
from xstreamcast.tape.tokenize.comments import (
    QUESTION,
    has_end,
    is_space,
    misc,
    outside,
    skip_space,
    wait_for,
)
from xstreamcast.tape.tokenize.load_bytes import (
    WIDTH,
    byte,
    eight,
    entry,
    first,
    helper,
    inlined,
    text_stops,
    value_stops,
)
from xstreamcast.tape.tokenize.scope import (
    NamespaceScope,
    close_frame,
    declare,
    inherit,
    insert_row,
    name_attributes,
    open_frame,
    resolve,
)
from xstreamcast.tape.tokenize.state import (
    ANCESTOR,
    ANCESTOR_ROWS,
    BINDINGS,
    CONTEXT,
    CURRENT,
    DECODE,
    DEPTH,
    FILLED,
    FRAMES,
    FULL,
    IN_TAG,
    IN_TEXT,
    INHERITED,
    MAX_ATTRIBUTES,
    MAX_DEPTH,
    MAX_NAME,
    MORE,
    NAME_TOO_LONG,
    NO_ROW,
    NOTHING,
    ODD_URI,
    PENDING,
    POS,
    ROOM,
    ROOT_SEEN,
    ROWS,
    SHIFT,
    SUSPECT,
    TAG,
    TEXT_FLAGS,
    TEXT_START,
    TOO_DEEP,
    TOO_MANY_ATTRIBUTES,
    UNIT,
    UNIT_POS,
    UNIT_ROWS,
    WORD,
)
from xstreamcast.tape.tokenize.text import BANG, GT, LT, text_run, value_end
from xstreamcast.tape.tokenize.words import (
    HIGH,
    LOW,
    TAGS,
    UNASKED,
    XMLNS,
    Lexicon,
    add_name_word,
    add_word,
    find_name,
    find_word,
    name_end,
    same_rest,
)

SLASH, EQUALS, DOUBLE, SINGLE = 47, 61, 34, 39
LONGEST = 0x7FFFFFFF  # what the length column can say


@inlined
def ends_open(lex: Lexicon, base: int, p: int, word: int) -> bool:
    """Whether the bytes at `p` begin with the word of the open element."""
    size: Any = int64(lex.words[word].length)
    short = min(size, 16)
    low = (eight(base + p) & LOW[short]) ^ lex.words[word].low
    high = (eight(base + p + 8) & HIGH[short]) ^ lex.words[word].high
    if (low | high) != 0:
        return False
    return size <= 16 or same_rest(lex.pool, lex.words[word].offset, base, p, size)


@helper
def new_word(lex: Lexicon, base: int, p: int, e: int, state: I64) -> int:
    """The word of a name that was not one before."""
    if e - p > state[MAX_NAME]:
        return NAME_TOO_LONG
    word = add_name_word(lex, base, p, e)
    if word < 0:
        state[WORD], _ = find_word(lex, base, p, e)
    return word


@inlined
def word_of(lex: Lexicon, base: int, p: int, e: int, state: I64) -> int:
    """The word of the name from `p` to `e`."""
    word, _ = find_word(lex, base, p, e)
    if word < 0 or lex.words[word].prefix == UNASKED:
        word = new_word(lex, base, p, e, state)
    return word


@helper
def declaration(
    lex: Lexicon,
    scope: NamespaceScope,
    state: I64,
    word: int,
    base: int,
    p: int,
    e: int,
    flags: int,
) -> int:
    """The name of the NAMESPACE row for an attribute `xmlns…` with the value from `p` to `e`."""
    uri = add_word(lex, base, p, e)
    if uri < 0:
        return uri
    if flags:
        if lex.words[uri].local < 0:
            state[WORD] = uri
            return ODD_URI
        uri = lex.words[uri].local
    return declare(lex, scope, state, word, uri)


@helper
def finish_tag(
    c: Columns, lex: Lexicon, scope: NamespaceScope, state: I64, element: int, row: int, depth: int
) -> int:
    """Name what has a prefix and give a unit its inherited namespaces: the row count."""
    done = name_attributes(c, lex, scope, state, element + 1, row)
    if done < 0:
        return done
    if state[INHERITED] and depth == state[UNIT]:
        return inherit(c, lex, scope, state, element, row, depth + state[SHIFT] + 1)
    return row


@entry
def tokenize(
    base: int, n: int, c: Columns, lex: Lexicon, scope: NamespaceScope, open_words: I32, state: I64
) -> int:
    """Read on until the bytes end or the driver must act; says why it stopped."""
    if state[PENDING] > IN_TEXT:
        if not has_end(base, n, state):
            return MORE
        state[PENDING] = NOTHING
    pos, row, depth, current = state[POS], state[ROWS], state[DEPTH], state[CURRENT]
    unit, shift, room = state[UNIT], state[SHIFT], len(c.kind) - 2 - state[INHERITED]
    most, deepest = state[MAX_ATTRIBUTES], state[MAX_DEPTH]
    while True:
        if row >= room:
            answer = ROOM
            break
        # --- up to the next `<` -----------------------------------------------------------------
        if depth == 0:
            state[ROWS], state[DEPTH], state[CURRENT] = row, depth, current
            answer = outside(base, pos, n, c, lex, state)
            pos, row = state[POS], state[ROWS]
            if answer != TAG:
                break
        else:
            start, q, flags = pos, pos, FILLED
            resumed = state[PENDING] == IN_TEXT
            mask = text_stops(base + q)
            while mask == 0 and q < n:
                q += WIDTH
                mask = text_stops(base + q)
            q += first(mask)
            if resumed or q + 9 > n or byte(base + q) != LT or byte(base + q + 1) == BANG:
                if resumed:
                    start = state[TEXT_START]
                    state[PENDING] = NOTHING
                else:
                    state[TEXT_FLAGS] = 0
                q, safe = text_run(base, pos, n, state, state[MAX_NAME])
                if q < 0:
                    answer, pos = q, safe
                    if q == MORE:
                        state[PENDING] = IN_TEXT
                        # Text above the units is never needed again.
                        state[TEXT_START] = start if depth > unit else safe
                    break
                flags = state[TEXT_FLAGS]
            if q > start and depth > unit and flags & FILLED:
                c.kind[row] = TEXT | (flags & DECODE)
                c.level[row] = depth + shift
                c.name[row] = -1
                c.parent[row] = current
                c.size[row] = 0
                c.start[row] = start
                c.length[row] = q - start
                row += 1
            pos = q
            ahead = byte(base + pos + 1)
            # --- end tag ------------------------------------------------------------------------
            if ahead == SLASH:
                word = open_words[depth - 1]
                e = pos + 2 + lex.words[word].length
                if not ends_open(lex, base, pos + 2, word):
                    answer = MORE if e >= n else SUSPECT
                    break
                if byte(base + e) != GT:
                    e = skip_space(base, e, n)
                    if e < n and byte(base + e) != GT:
                        answer = SUSPECT
                        break
                if e >= n:
                    answer = MORE
                    break
                pos = e + 1
                depth -= 1
                frames = state[FRAMES]
                if frames and scope.frames[frames - 1].depth == depth:
                    close_frame(scope, state)
                if current < 0:
                    state[ANCESTOR_ROWS] = row
                    answer = ANCESTOR
                    break
                c.size[current] = row - current - 1
                length = pos - c.start[current]
                c.length[current] = length if length <= LONGEST else -1
                if depth == unit:
                    if state[INHERITED]:
                        c.length[current] = -1
                    state[UNIT_ROWS], state[UNIT_POS] = row, pos
                current = c.parent[current]
                continue
            if ahead == BANG or ahead == QUESTION:
                state[ROWS], state[DEPTH], state[CURRENT] = row, depth, current
                answer = misc(base, pos, n, c, lex, state)
                row = state[ROWS]
                if answer < 0:
                    break
                pos = answer
                continue
        # --- start tag --------------------------------------------------------------------------
        e = name_end(base, pos + 1, n)
        if e >= n:
            answer = wait_for(state, int64(IN_TAG), pos, pos + 1)
            break
        word = word_of(lex, base, pos + 1, e, state)
        if word < 0:
            answer = word
            break
        element, bindings, attributes = row, state[BINDINGS], 0
        level = depth + shift
        prefixed = lex.words[word].prefix == XMLNS
        stamp = lex.counts[TAGS] + 1
        lex.counts[TAGS] = stamp
        row += 1
        answer = 0
        while True:
            # --- attribute ----------------------------------------------------------------------
            ahead = byte(base + e)
            if ahead == GT or ahead == SLASH:
                break
            p = e + 1
            if ahead != 32 and not is_space(ahead):
                answer = MORE if e >= n else SUSPECT
                break
            if byte(base + p) <= 32:
                p = skip_space(base, p, n)
            ahead = byte(base + p)
            e = p
            if ahead == GT or ahead == SLASH:
                break
            e = name_end(base, p, n)
            if e >= n:
                answer = MORE
                break
            word2 = word_of(lex, base, p, e, state)
            if word2 < 0:
                answer = word2
                break
            if byte(base + e) != EQUALS:
                e = skip_space(base, e, n)
                if byte(base + e) != EQUALS:
                    answer = MORE if e >= n else SUSPECT
                    break
            p = e + 1
            quote = byte(base + p)
            if quote != DOUBLE and quote != SINGLE:
                p = skip_space(base, p, n)
                quote = byte(base + p)
                if quote != DOUBLE and quote != SINGLE:
                    answer = MORE if p >= n else SUSPECT
                    break
            p += 1
            e, flags = p, 0
            mask = value_stops(base + e, quote)
            while mask == 0 and e < n:
                e += WIDTH
                mask = value_stops(base + e, quote)
            e += first(mask)
            if e >= n or byte(base + e) != quote:
                e, _, flags = value_end(base, p, n, quote, state[MAX_NAME])
                if e < 0:
                    answer = e
                    break
            if lex.words[word2].stamp == stamp:
                answer = SUSPECT
                break
            lex.words[word2].stamp = stamp
            c.kind[row] = ATTRIBUTE | flags
            c.level[row] = level + 1
            c.parent[row] = element
            c.size[row] = 0
            c.start[row] = p
            c.length[row] = e - p
            name = lex.words[word2].plain_name
            c.name[row] = name
            row += 1
            if name < 0:
                if word2 == XMLNS or lex.words[word2].prefix == XMLNS:
                    name = declaration(lex, scope, state, word2, base, p, e, flags)
                    if name == NO_ROW:
                        row -= 1
                    elif name < 0:
                        answer = name
                        break
                    else:
                        at = element + state[BINDINGS] - bindings
                        insert_row(c, at, row - 1)
                        c.kind[at], c.name[at] = NAMESPACE | flags, name
                        c.start[at], c.length[at] = p, e - p
                elif lex.words[word2].prefix >= 0:
                    c.name[row - 1] = -2 - word2
                    prefixed = True
                else:
                    name = find_name(lex, word2, int64(0))
                    if name < 0:
                        answer = FULL
                        break
                    lex.words[word2].plain_name = name
                    c.name[row - 1] = name
            attributes += 1
            if row >= room or attributes > most:
                answer = ROOM if row >= room else TOO_MANY_ATTRIBUTES
                break
            e += 1
        # --- end of the start tag ---------------------------------------------------------------
        empty = byte(base + e) == SLASH
        declares = state[BINDINGS] > bindings
        if answer == 0:
            if empty:
                e += 1
                if byte(base + e) != GT:
                    answer = SUSPECT
            if e >= n:
                answer = MORE
            elif depth >= deepest:
                answer = TOO_DEEP
        if answer == 0:
            if declares:
                open_frame(lex, scope, state, depth, bindings)
            if prefixed or depth == unit:
                row = finish_tag(c, lex, scope, state, element, row, depth)
                answer = min(row, 0)
            name = lex.words[word].context_name
            if lex.words[word].context != state[CONTEXT]:
                name = resolve(lex, scope, state, word)
                answer = min(answer, name)
            if lex.words[word].prefix == XMLNS:
                answer = SUSPECT
            if answer < 0 and declares:
                close_frame(scope, state)
        if answer < 0:
            state[BINDINGS], row = bindings, element
            if answer == MORE:
                wait_for(state, int64(IN_TAG), pos, pos + 1)
            break
        c.kind[element] = ELEMENT
        c.level[element] = level
        c.name[element] = name
        c.parent[element] = current
        c.start[element] = pos
        if empty:
            c.size[element] = row - element - 1
            length = e + 1 - pos
            c.length[element] = length if length <= LONGEST else -1
            if declares:
                close_frame(scope, state)
        else:
            open_words[depth] = word
            depth += 1
            current = element
        pos = e + 1
        if level - shift <= unit:
            state[ROOT_SEEN] = 1
            if level - shift < unit:
                state[ANCESTOR_ROWS] = row
                row, current, answer = element, -1, ANCESTOR
                break
            if empty:
                if state[INHERITED]:
                    c.length[element] = -1
                state[UNIT_ROWS], state[UNIT_POS] = row, pos
    state[POS], state[ROWS], state[DEPTH], state[CURRENT] = pos, row, depth, current
    return answer
