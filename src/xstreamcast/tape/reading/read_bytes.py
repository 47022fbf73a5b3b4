"""Bytes that are all there, to a tape.

Whole inputs are tokenised in place: the bytes of the caller or the pages of the file are the
heap of the tape. What the tokeniser is not sure of, expat reads again from the beginning: it gives
the error, or the tape.
"""

from __future__ import annotations

import numpy as np

from xstreamcast.model.work import WORK
from xstreamcast.tape.expat.through_sequence import authoritative
from xstreamcast.tape.layout import U8, Tape
from xstreamcast.tape.limits import Limits
from xstreamcast.tape.names import Names
from xstreamcast.tape.reading.prolog import LONGEST, look
from xstreamcast.tape.reading.refusals import BEYOND, beyond_at, check_size
from xstreamcast.tape.tokenize.driver import Driver
from xstreamcast.tape.tokenize.lexicon import address
from xstreamcast.tape.tokenize.load_bytes import PADDING
from xstreamcast.tape.tokenize.state import MORE, POS, ROWS

_STEP = 64 << 20  # bytes after which it is known how far reading has come
_SMALL = 1 << 14  # below this a padded copy costs less than a second call


def whole(data: U8, several: bool, limits: Limits, names: Names, name: str | None) -> Tape:
    """The tape of a document, or of `several` one after another."""
    check_size(len(data), limits, name)
    prolog = look(data[:LONGEST].tobytes(), True)
    assert prolog is not None
    if not prolog.odd:
        driver = Driver(limits, names, unit=None, several=several)
        driver.begin(prolog)
        answer = _drive(driver, data)
        pos = int(driver.state[POS])
        if answer == MORE and driver.complete and pos == len(data):
            driver.finish_document()
            return Tape(driver.take(int(driver.state[ROWS]), data), names, name)
        if answer in BEYOND:
            raise beyond_at(answer, limits, data.data, pos, name)
    return authoritative(data.data, several, limits, names, name)


def _drive(driver: Driver, data: U8) -> int:
    """Tokenise the bytes in place, and their end, which cannot be read past, in a padded copy."""
    WORK.total += len(data)
    before = WORK.read
    if len(data) > _SMALL:
        safe = len(data) - PADDING
        for end in (*range(_STEP, safe, _STEP), safe):
            answer = driver.run(address(data), end, len(data))
            if answer != MORE:
                return answer
            WORK.read = before + end
    pos = int(driver.state[POS])
    WORK.read = before + len(data)
    rest = np.zeros(len(data) - pos + PADDING, np.uint8)
    rest[:-PADDING] = data[pos:]
    return driver.run(address(rest) - pos, len(data), len(data))
