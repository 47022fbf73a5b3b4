"""What an input looks like that is no XML, and what to do about it."""

from __future__ import annotations

import re
from typing import Final

from xstreamcast.errors import error

_PACKED: Final = {
    b"\x1f\x8b": ("gzip", ".gz", "gunzip -c"),
    b"BZh": ("bzip2", ".bz2", "bunzip2 -c"),
    b"\x28\xb5\x2f\xfd": ("Zstandard", ".zst", "unzstd -c"),
}
_JSON: Final = re.compile(rb'(?:\xef\xbb\xbf)?\s*(?:\{\s*["}]|\[\s*[\[{"\]\d])')
_HTML: Final = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<!doctype\s+html[\s>]|<HTML[\s>])", re.IGNORECASE
)
_TITLE: Final = re.compile(rb"<title>\s*([^<]{1,80})", re.IGNORECASE)


def refuse_foreign(head: bytes, name: str | None) -> None:
    """An error if the first bytes of an input are those of something else than XML."""
    found = _packed(head) or _other(head)
    if found is not None:
        what, hint = found
        who = "the input" if name is None else name
        raise error("XSCX0008", f"{who} is no XML: it looks like {what}", hint=hint)


def _packed(head: bytes) -> tuple[str, str] | None:
    for mark, (what, ending, command) in _PACKED.items():
        if head.startswith(mark):
            return what, f"a file whose name ends in {ending} is unpacked; a pipe: {command} | …"
    if head.startswith(b"PK\x03\x04"):
        return "a zip archive", "unpack it (unzip -p FILE.zip | …), or give the folder it makes"
    return None


def _other(head: bytes) -> tuple[str, str] | None:
    if head.startswith((b"<\x00", b"\x00<")) and not head.startswith((b"<\x00?", b"\x00<\x00?")):
        order = "LE" if head.startswith(b"<") else "BE"
        hint = f"iconv -f UTF-16{order} -t UTF-8 FILE | … -i -"
        return f"UTF-16{order} with neither a byte order mark nor a declaration", hint
    if _JSON.match(head):
        return "JSON", "only XML is read; ask the sender for XML (Accept: application/xml)"
    if _HTML.match(head) and b"xmlns" not in head:
        title = _TITLE.search(head)
        said = f' ("{title[1].decode(errors="replace").strip()}")' if title else ""
        return f"a page in HTML{said}", "a server often answers so in place of the feed: open it"
    return None
