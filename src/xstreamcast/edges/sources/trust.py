"""Which certificates are trusted: those of the system, or those in a given file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from xstreamcast.errors import error

if TYPE_CHECKING:
    import ssl  # 30 ms that a query over a file need not wait for

HINT = "name the certificate to trust: ca=FILE in the address, or XSTREAMCAST_CA"


def checked(ca: str | None) -> str | None:
    """The file of certificates, if it is one."""
    if ca is not None:
        trusting(ca)
    return ca


def trusting(ca: str | None) -> ssl.SSLContext:
    """What a connection is checked by."""
    import ssl

    try:
        return ssl.create_default_context(cafile=ca)
    except ssl.SSLError:
        raise error("XSCU0003", f"{ca} holds no certificate in PEM") from None
    except OSError as failed:
        raise error("XSCU0003", f"cannot open {ca}: {failed.strerror}") from None


def why_of(failed: BaseException) -> str:
    """What went wrong on the network, without the numbers and places of libraries."""
    said = getattr(failed, "strerror", None) or str(failed)
    said = re.sub(r"^\[[^\]]*\] |\s*\(_ssl\.c:\d+\)$", "", said)
    return said or type(failed).__name__


def hint_of(failed: BaseException | None) -> str | None:
    """What to do about an untrusted certificate; None for any other failure."""
    import ssl

    while failed is not None:
        if isinstance(failed, ssl.SSLCertVerificationError):
            return HINT
        failed = failed.__cause__ or failed.__context__
    return None
