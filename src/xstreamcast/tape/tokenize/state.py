"""What the tokeniser carries from call to call, and how it answers."""

from __future__ import annotations

# Answers of a scan that are no position, and of the tokeniser to its driver.
MORE = -1  # the bytes end first
SUSPECT = -2  # not known to be well-formed: expat must say
FULL = -3  # the lexicon is full
ROOM = -4  # the columns are full
SCOPE = -5  # the namespace bindings are full
ODD_NAME = -6  # is WORD a name? it is not ASCII
ODD_URI = -7  # which URI is WORD? it has references
DECLARATION = -8  # an XML declaration that is not at the beginning
ANCESTOR = -9  # an element above the units began or ended
TOO_DEEP = -10
NAME_TOO_LONG = -11
TOO_MANY_ATTRIBUTES = -12
TAG = -13  # a start tag outside the root
NO_ROW = -14  # a declaration that says nothing new

# Places in the state.
(
    POS,  # first byte still needed
    ROWS,  # rows written
    DEPTH,  # open elements
    CURRENT,  # row of the innermost open element, -1 above the units
    PENDING,  # what kind of token has not ended
    SCANNED,  # how far the search for the end of a tag, comment or PI came
    QUOTE,  # the quote that is open there
    TEXT_START,
    TEXT_FLAGS,
    CONTEXT,  # number of the namespace bindings in scope; 0 has none
    BINDINGS,
    FRAMES,
    ROOT_SEEN,
    DOCTYPE_SEEN,
    STANDALONE,
    WORD,
    UNIT_ROWS,  # rows and position after the last complete unit
    UNIT_POS,
    ANCESTOR_ROWS,  # rows of the start tag of an ancestor, from ROWS on
    INHERITED,  # bindings that each unit takes from its ancestors
    UNIT,  # open elements above a unit
    SHIFT,  # level = open elements + SHIFT
    SEVERAL,  # whether several roots may follow each other
    MAX_DEPTH,
    MAX_NAME,
    MAX_ATTRIBUTES,
    STATE,
) = range(27)

# Tokens that have not ended.
NOTHING, IN_TEXT, IN_TAG, IN_COMMENT, IN_PI = range(5)

# Flags of a run of text; DECODE is the kind flag NEEDS_DECODE.
DECODE, FILLED, CDATA = 8, 16, 32
