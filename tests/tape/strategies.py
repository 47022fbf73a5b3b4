"""Generated XML: well-formed documents with everything in them, near-XML, and cuttings."""

# ruff: noqa: RUF005 - long samples are easier to read in groups

from __future__ import annotations

from collections.abc import Callable

from hypothesis import strategies as st

NAMES = st.sampled_from(
    (
        "a",
        "b",
        "item",
        "_x",
        "a-b.c",
        "a_very_long_name_indeed",
        "é",
        "naïve-名",
        "sixteen_letters_",
        "x9",
    )
)
PREFIXES = st.sampled_from(("p", "q", "long-prefix", "é"))
URIS = st.sampled_from(("urn:u", "urn:v", "http://example.org/?a=1&amp;b=2", "u&#x20;v", "ü"))
SPACE = st.sampled_from((" ", "  ", "\n", "\t", "\r\n", " \r "))
MAYBE_SPACE = st.sampled_from(("", "", "", " ", "\n ", "\r\n\t"))
CHARACTERS = st.characters(
    exclude_categories=["Cs"], exclude_characters="<&\x00\ufffe\uffff"
).filter(lambda c: c >= " " or c in "\t\n\r")
PIECES = st.sampled_from(
    ("&lt;", "&gt;", "&amp;", "&quot;", "&apos;", "&#65;", "&#x1F600;", "&#13;", "&#10;", "&#x9;")
    + ("&#00065;", "]", "]]", "a]b", ">", "\r\n", "\r", "\n", "\t", "x" * 31, "y" * 40, "é" * 9)
    + ("\U0001f600", "\x7f", "\x85", "\u2028", "\ufffd", "\ud7ff", "\ue000")
)
TEXTS = st.lists(PIECES | st.text(CHARACTERS, max_size=6), min_size=1, max_size=5).map("".join)


def no(*parts: str) -> Callable[[str], bool]:
    return lambda text: not any(part in text for part in parts)


CHARACTER_DATA = TEXTS.map(lambda text: text.replace("]]>", "]] >"))
CDATA = TEXTS.filter(no("]]>")).map(lambda text: f"<![CDATA[{text}]]>") | st.sampled_from(
    ("<![CDATA[]]>", "<![CDATA[]]]]>", "<![CDATA[<&>]]>", "<![CDATA[ ]] > ]]>")
)
COMMENTS = TEXTS.filter(no("--")).filter(lambda t: not t.endswith("-")).map(
    lambda text: f"<!--{text}-->"
) | st.just("<!---->")
TARGETS = NAMES.filter(lambda name: name.lower() != "xml")


@st.composite
def instructions(draw: st.DrawFn) -> str:
    target = draw(TARGETS)
    data = draw(st.just("") | TEXTS.filter(no("?>")).filter(lambda t: not t.endswith("?")))
    return f"<?{target}{draw(SPACE) + data if data else draw(MAYBE_SPACE)}?>"


@st.composite
def quoted(draw: st.DrawFn, values: st.SearchStrategy[str] = TEXTS) -> str:
    quote = draw(st.sampled_from("\"'"))
    value = draw(values | st.just("")).replace(quote, "&quot;" if quote == '"' else "&apos;")
    return quote + value + quote


@st.composite
def elements(draw: st.DrawFn, depth: int = 3, scope: tuple[tuple[str, str], ...] = ()) -> str:
    bound = dict(scope)
    fresh = draw(st.dictionaries(PREFIXES | st.just(""), URIS, max_size=2))
    if bound.get("") and draw(st.booleans()):
        fresh[""] = ""
    bound |= fresh
    prefixes = st.sampled_from(["", *(prefix for prefix in bound if prefix)])

    def qname() -> str:
        prefix = draw(prefixes)
        return f"{prefix}:{draw(NAMES)}" if prefix else draw(NAMES)

    written = [
        f"xmlns{':' + prefix if prefix else ''}={draw(quoted(st.just(uri)))}"
        for prefix, uri in fresh.items()
    ]
    seen: set[tuple[str, str]] = set()
    for _ in range(draw(st.sampled_from((0, 0, 1, 2, 6)))):
        name = draw(st.sampled_from((qname(), "xml:lang")))
        prefix, _, local = name.rpartition(":")
        if (bound.get(prefix, prefix) if prefix else "", local) not in seen:
            seen.add((bound.get(prefix, prefix) if prefix else "", local))
            equals = draw(MAYBE_SPACE) + "=" + draw(MAYBE_SPACE)
            written.append(name + equals + draw(quoted()))
    written = draw(st.permutations(written))
    tag = qname()
    opened = (
        "<" + tag + "".join(draw(SPACE) + attribute for attribute in written) + draw(MAYBE_SPACE)
    )
    content = draw(_content(depth, tuple(bound.items()))) if depth else ""
    if not content and draw(st.booleans()):
        return opened + "/>"
    return f"{opened}>{content}</{tag}{draw(MAYBE_SPACE)}>"


def _content(depth: int, scope: tuple[tuple[str, str], ...]) -> st.SearchStrategy[str]:
    part = CHARACTER_DATA | CDATA | COMMENTS | instructions() | elements(depth - 1, scope)
    joined = st.lists(part, max_size=4).map("".join)
    return joined.map(
        lambda text: text.replace("]]>", "]]&gt;") if "<![CDATA[" not in text else text
    )


MISC = st.lists(COMMENTS | instructions() | SPACE, max_size=2).map("".join)
DECLARATIONS = st.sampled_from(
    ("", "", '<?xml version="1.0"?>', "<?xml version='1.0' encoding='UTF-8'?>\n", "\ufeff")
    + ('<?xml version="1.0" encoding="utf-8" standalone="yes" ?>', '\ufeff<?xml version="1.0"?>')
)
DOCTYPES = st.sampled_from(
    (
        "",
        "",
        "",
        "<!DOCTYPE a>",
        '<!DOCTYPE a SYSTEM "a.dtd">',
        "<!DOCTYPE\na PUBLIC '-//X' \"u\" >",
    )
)


@st.composite
def documents(draw: st.DrawFn) -> bytes:
    """A document, well-formed but for rare accidents of joining; expat says which it is."""
    parts = DECLARATIONS, MISC, DOCTYPES, MISC, elements(), MISC
    return "".join(draw(part) for part in parts).encode()


SPLICED = (
    (
        b"<",
        b">",
        b"&",
        b"]]>",
        b"--",
        b"\x00",
        b"\x1f",
        b"\xff",
        b"\xc3",
        b"\xed\xa0\x80",
        b"\xef\xbf\xbe",
    )
    + (
        b"&#0;",
        b"&#xD800;",
        b"&nope;",
        b"<!--",
        b"-->",
        b"<![CDATA[",
        b"<?",
        b"?>",
        b"<?xml?>",
        b" xmlns:p=''",
    )
    + (
        b"xmlns:xml='u'",
        b" a='1' a='2'",
        b"</a>",
        b"<a>",
        b"<a/>",
        b"'",
        b'"',
        b"=",
        b"/",
        b":",
        b"\r",
        b" ",
    )
    + (
        b"\xc0\x80",
        b"\xf4\x90\x80\x80",
        b"\xe0\x80\x80",
        b"xmlns",
        b"p:",
        b"<!DOCTYPE a [<!ENTITY e 'v'>]>",
        b"&e;",
    )
    + (
        b" xmlns:xml='http://www.w3.org/XML/1998/namespace'",
        b"-",
        b"!",
        b"1",
        "\u0300".encode(),
        "×".encode(),
    )
)
SPLICES = st.sampled_from(SPLICED)


@st.composite
def near_xml(draw: st.DrawFn) -> bytes:
    """A document with a few bytes gone, doubled, changed or put in."""
    data = bytearray(draw(documents()))
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(data)))
        end = min(len(data), at + draw(st.integers(1, 4)))
        match draw(st.sampled_from(("delete", "double", "change", "splice", "splice"))):
            case "delete":
                del data[at:end]
            case "double":
                data[at:at] = data[at:end]
            case "change":
                if at < len(data):
                    data[at] = draw(st.integers(0, 255))
            case _:
                data[at:at] = draw(SPLICES)
    return bytes(data)


@st.composite
def cut(draw: st.DrawFn, data: bytes) -> list[bytes]:
    """The same bytes in chunks."""
    if draw(st.booleans()):
        size = draw(st.sampled_from((1, 2, 3, 7, 64)))
        return [data[at : at + size] for at in range(0, len(data), size)]
    ends = sorted(draw(st.lists(st.integers(0, len(data)), max_size=6)))
    return [data[a:b] for a, b in zip([0, *ends], [*ends, len(data)], strict=True)]
