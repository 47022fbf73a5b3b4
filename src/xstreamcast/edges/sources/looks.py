"""What an input looks like that is no XML, and what to do about it."""

from __future__ import annotations

import re
from typing import Final

from xstreamcast.edges.sources.compressed import MARKS
from xstreamcast.errors import error

HEAD: Final = 4096  # bytes that are enough to see it
_PACKED: Final = {
    ".gz": ("gzip", "gunzip -c"),
    ".bz2": ("bzip2", "bunzip2 -c"),
    ".zst": ("Zstandard", "unzstd -c"),
}
_JSON: Final = re.compile(rb'(?:\xef\xbb\xbf)?\s*(?:\{\s*["}]|\[\s*[\[{"\]\d])')
_HTML: Final = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<!doctype\s+html[\s>]|<HTML[\s>])", re.IGNORECASE
)
_HTML_HINT: Final = (
    "a server often answers so in place of the feed: open it; a converter makes a page XHTML"
)
_JSON_HINT: Final = (
    "run reads JSON from a file that ends in .json, .ndjson or .jsonl, json-to-xml() within a "
    "query; a server may have XML too (Accept: application/xml)"
)
_FORMS: Final = {  # by their first bytes
    b"%PDF": "a PDF document",
    b"\x89PNG": "an image (PNG)",
    b"\xff\xd8\xff": "an image (JPEG)",
    b"GIF8": "an image (GIF)",
    b"RIFF": "an image or a sound (RIFF)",
    b"\x7fELF": "a program (ELF)",
    b"\xfd7zXZ": "an archive (xz)",
    b"7z\xbc\xaf": "an archive (7z)",
    b"PAR1": "a Parquet file",
    b"SQLite format 3": "a database of SQLite",
}
_FORM_HINT: Final = "an input is XML, lines of JSON or CSV, or a fragment table (table:FOLDER)"
_WIDE: Final = (b"\xff\xfe", b"\xfe\xff", b"<\x00", b"\x00<", b"\x00\x00")  # UTF-16, UTF-32
_TITLE: Final = re.compile(rb"<title>\s*([^<]{1,80})", re.IGNORECASE)


def refuse_foreign(head: bytes, name: str | None) -> None:
    """An error if the first bytes of an input are those of something else than XML."""
    found = _packed(head) or _other(head)
    if found is not None:
        what, hint = found
        who = "the input" if name is None else name
        raise error("XSCX0008", f"{who} is not XML: it looks like {what}", hint=hint)


def _packed(head: bytes) -> tuple[str, str] | None:
    for mark, ending in MARKS.items():
        if head.startswith(mark):
            what, command = _PACKED[ending]
            return what, f"a file is unpacked by itself, a pipe is not: {command} | …"
    if head.startswith(b"PK\x03\x04"):
        return "a zip archive", "unpack it (unzip -p FILE.zip | …), or give the folder it makes"
    return None


def _other(head: bytes) -> tuple[str, str] | None:
    if head.startswith((b"<\x00\x00\x00", b"\x00\x00\x00<")):
        order = "LE" if head.startswith(b"<") else "BE"
        hint = f"iconv -f UTF-32{order} -t UTF-8 FILE | … -i -"
        return f"UTF-32{order} with neither a byte order mark nor a declaration", hint
    if head.startswith((b"<\x00", b"\x00<")) and not head.startswith((b"<\x00?", b"\x00<\x00?")):
        order = "LE" if head.startswith(b"<") else "BE"
        hint = f"iconv -f UTF-16{order} -t UTF-8 FILE | … -i -"
        return f"UTF-16{order} with neither a byte order mark nor a declaration", hint
    if _JSON.match(head):
        return "JSON", _JSON_HINT
    if _HTML.match(head) and b"xmlns" not in head:
        title = _TITLE.search(head)
        said = f' ("{title[1].decode(errors="replace").strip()}")' if title else ""
        return f"a page in HTML{said}", _HTML_HINT
    for mark, what in _FORMS.items():
        if head.startswith(mark):
            return what, _FORM_HINT
    if b"\x00" in head and not head.startswith(_WIDE):
        return "binary data (it has NUL bytes)", _FORM_HINT
    return None
