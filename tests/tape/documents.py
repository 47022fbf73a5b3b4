"""Generated documents: namespaces, references, CDATA, odd white space, comments, PIs."""

from __future__ import annotations

from hypothesis import strategies as st

_CHARACTERS = ("x", " ", "12", "-3.5e2", "é", "\U0001f600", "\n", "\t", "\r\n", "\r")
_CONTROLS = ("\x7f", "\u2028", "\x85")
_NAMED = ("&lt;", "&gt;", "&amp;", "&quot;", "&apos;")
_NUMBERED = ("&#65;", "&#x1F600;", "&#13;", "&#10;", "&#9;")
_TEXTS = st.sampled_from((*_CHARACTERS, *_CONTROLS, *_NAMED, *_NUMBERED))
_PLAIN = st.sampled_from(("x", "y z", "12", "é", "end"))
_PREFIXES = ("p", "q", "")
_URIS = ("urn:u", "urn:v", "http://w/?a=1&amp;b")
_NAMES = st.sampled_from(("a", "b", "c", "item"))


def _quoted(draw: st.DrawFn) -> str:
    quote = draw(st.sampled_from("\"'"))
    other = "'" if quote == '"' else '"'
    parts = draw(st.lists(_TEXTS | st.just(other), max_size=3))
    return quote + "".join(parts) + quote


def _content(draw: st.DrawFn, depth: int, scope: dict[str, str]) -> str:
    match draw(st.sampled_from("ttteec!?") if depth else st.sampled_from("ttc!?")):
        case "t":
            return "".join(draw(st.lists(_TEXTS, min_size=1, max_size=4)))
        case "c":
            return f"<![CDATA[{draw(st.sampled_from(('', '<&>', ']] >', 'x', ']')))}]]>"
        case "!":
            return f"<!--{draw(_PLAIN)}\r\n-->"
        case "?":
            return draw(st.sampled_from(("<?go on?>", "<?go?>", "<?halt  a\r?>")))
        case _:
            return _element(draw, depth - 1, scope)


def _element(draw: st.DrawFn, depth: int, scope: dict[str, str]) -> str:
    declared = draw(st.dictionaries(st.sampled_from(_PREFIXES), st.sampled_from(_URIS), max_size=2))
    if scope.get("") and draw(st.booleans()):
        declared[""] = ""
    scope = scope | declared
    prefixes = ["", *(prefix for prefix in scope if prefix)]
    name = _name(draw, prefixes)
    written = [f'xmlns{":" + p if p else ""}="{uri}"' for p, uri in declared.items()]
    for local in draw(st.lists(_NAMES, max_size=3, unique=True)):
        written.append(f"{_prefixed(draw(st.sampled_from(prefixes)), local)}={_quoted(draw)}")
    tag = " ".join([name, *draw(st.permutations(written))])
    content = "".join(_content(draw, depth, scope) for _ in range(draw(st.integers(0, 4))))
    return f"<{tag}>{content}</{name}>" if content else f"<{tag}/>"


def _name(draw: st.DrawFn, prefixes: list[str]) -> str:
    return _prefixed(draw(st.sampled_from(prefixes)), draw(_NAMES))


def _prefixed(prefix: str, local: str) -> str:
    return f"{prefix}:{local}" if prefix else local


@st.composite
def documents(draw: st.DrawFn, depth: int = 3) -> bytes:
    """A well-formed document in UTF-8."""
    before = draw(st.sampled_from(("", "<!--first-->", "<?go first?>\n")))
    return (before + _element(draw, depth, {})).encode()
