"""Generated documents with tag structures, and how they may be sent."""

from __future__ import annotations

from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr

from hypothesis import strategies as st

from xstreamcast.model.structure import Tag, TagStructure, TagType

NAMES = ("a", "b", "c", "hole", "filler")
URIS = ("", "urn:one", "urn:two")
TYPES: tuple[tuple[TagType, bool], ...] = (
    ("snapshot", False),
    ("snapshot", True),
    ("temporal", True),
    ("event", True),
)
texts = st.text(st.sampled_from("xyz <&>\"'é]\n/"), max_size=6)


@st.composite
def structures(draw, most=6) -> TagStructure:
    """A tag structure of up to `most` tags, some of which may contain themselves."""
    count = draw(st.integers(1, most))
    names = [(draw(st.sampled_from(URIS)), draw(st.sampled_from(NAMES))) for _ in range(count)]
    tags = {}
    for tsid in range(1, count + 1):
        wanted = draw(st.lists(st.integers(2, count), max_size=4)) if count > 1 else []
        by_name = {names[child - 1]: child for child in wanted}
        kind, filler = draw(st.sampled_from(TYPES))
        uri, local = names[tsid - 1]
        tags[tsid] = Tag(tsid, uri, local, kind, filler, tuple(by_name.values()))
    return reachable(TagStructure(1, tags))


def reachable(structure: TagStructure) -> TagStructure:
    """The structure without tags that stand nowhere."""
    kept = structure.below(structure.root)
    return TagStructure(structure.root, {t: tag for t, tag in structure.tags.items() if t in kept})


@dataclass(frozen=True, slots=True)
class Case:
    """A structure and a document that fits it."""

    structure: TagStructure
    document: bytes


@st.composite
def cases(draw) -> Case:
    structure = draw(structures())
    body = _element(draw, structure, structure.root, 0)
    return Case(structure, body.encode())


def _element(draw, structure: TagStructure, tsid: int, depth: int) -> str:
    tag = structure[tsid]
    prefix = draw(st.sampled_from(("", "p", "stream"))) if tag.uri else ""
    name = f"{prefix}:{tag.local}" if prefix else tag.local
    declared = f" xmlns{':' + prefix if prefix else ''}={quoteattr(tag.uri)}"
    if draw(st.booleans()):
        declared += f" v={quoteattr(draw(texts))}"
    inside = escape(draw(texts)) if draw(st.booleans()) else ""
    for _ in range(draw(st.integers(0, 3 if depth < 3 else 0))):
        if tag.children:
            child = draw(st.sampled_from(tag.children))
            inside += _element(draw, structure, child, depth + 1) + escape(draw(texts))
    if draw(st.booleans()):
        inside += draw(st.sampled_from(("<!-- c -->", "<?pi d?>", "<![CDATA[<x/>]]>", "")))
    return f"<{name}{declared}>{inside}</{name}>" if inside else f"<{name}{declared}/>"
