"""Whether a place that does not answer is called again, and how long to wait before that."""

from __future__ import annotations

import errno
import random
import socket
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from xstreamcast.edges.sources.trust import hint_of, why_of
from xstreamcast.errors import Error, error

if TYPE_CHECKING:
    from xstreamcast.edges.sources.inbox import Inbox

LATER: Final = (408, 425, 429, 500, 502, 503, 504)  # of HTTP: the server may answer yet
_FIRST: Final = 0.5  # seconds
_LONGEST: Final = 30.0
_NO_PLACE: Final = (errno.EAFNOSUPPORT, errno.EADDRNOTAVAIL, errno.EINVAL)


class BackOff:
    """Twice as long after each failure, a little by chance; at once after a success."""

    def __init__(self, longest: float = _LONGEST) -> None:
        self._longest, self.failures = longest, 0

    def succeeded(self) -> None:
        self.failures = 0

    def failed(self) -> float:
        """Seconds to wait after this failure."""
        wait: float = min(_FIRST * 2**self.failures, self._longest)
        self.failures = min(self.failures + 1, 16)
        return wait * random.uniform(0.8, 1.2)


class NotYet(Exception):
    """A place does not answer, and may do so later."""

    def __init__(self, why: Error) -> None:
        super().__init__(why.message)
        self.why = why


def cannot_connect(url: str, failed: BaseException) -> Exception:
    """A failed connection: an error if it can never work, else NotYet."""
    why = error("XSCU0003", f"cannot connect to {url}: {why_of(failed)}", hint=hint_of(failed))
    return why if never_works(failed) else NotYet(why)


def never_works(failed: BaseException | None) -> bool:
    """Whether waiting does not help: a name without an address, a certificate, another protocol."""
    import ssl

    while failed is not None:
        match failed:
            case socket.gaierror():
                return failed.errno != socket.EAI_AGAIN
            case ssl.SSLEOFError() | ssl.SSLZeroReturnError():
                return False
            case ssl.SSLError() | UnicodeError():
                return True
            case OSError() if failed.errno in _NO_PLACE:
                return True
        failed = failed.__cause__ or failed.__context__
    return False


def connected(
    call: Callable[[], Any], out: Inbox, waiting: BackOff, *, once: bool, met: bool = False
) -> Any:
    """What a call returns when it succeeds; None if nothing is to be received any more.

    A call that can never work is an error, unless it worked before (`met`).
    """
    while not out.closed:
        try:
            return call()
        except NotYet as failed:
            why = failed.why
        except Error as failed:
            if not met:
                raise
            why = failed
        if once:
            raise why
        if waiting.failures == 0 or (met and waiting.failures == 1):
            out.say(f"{why.message}; trying again")
        out.wait(waiting.failed())
    return None
