"""A tag structure that is sent again: the same, an extended one, or a contradiction.

merged(old, the same)      → old
merged(old, an extension) → the union of both
merged(old, anything else) → error XSCT0002
"""

from __future__ import annotations

from dataclasses import replace

from xstreamcast.errors import error
from xstreamcast.model.structure import Tag, TagStructure


def merged(old: TagStructure, new: TagStructure) -> TagStructure:
    """The union of both structures; `old` itself if the new one adds nothing."""
    if old.root != new.root:
        raise _contradiction(
            f"the root must stay tag {old.root} ({old[old.root].name}); "
            f"got tag {new.root} ({new[new.root].name})"
        )
    tags = {**old.tags, **{tsid: _both(old, new, tsid) for tsid in new.tags}}
    _check_names(tags)
    known = old.identifiers | new.identifiers
    result = TagStructure(old.root, tags, old.open and new.open, known)
    return old if result == old else result


def fragmented(structure: TagStructure, tsids: list[int]) -> TagStructure:
    """The structure in which these tags are fragments."""
    more = {tsid: replace(structure[tsid], filler=True) for tsid in tsids}
    return replace(structure, tags={**structure.tags, **more})


def _both(old: TagStructure, new: TagStructure, tsid: int) -> Tag:
    """A tag of the new structure, with the facts that the old one declared about it."""
    now = new[tsid]
    if tsid not in old:
        return now
    was = old[tsid]
    for what, before, after in (("name", was.name, now.name), ("type", was.type, now.type)):
        if before != after and not (what == "type" and (old.open or new.open)):
            raise _contradiction(f"the {what} of tag {tsid} must stay {before}; got {after}")
    if was.filler != now.filler and not (old.open or new.open):
        raise _contradiction(
            f"tag {tsid} ({was.name}) must {'stay' if was.filler else 'not become'} "
            "one whose elements are fragments"
        )
    children = was.children + tuple(c for c in now.children if c not in was.children)
    kind = was.type if new.open else now.type
    return Tag(tsid, was.uri, was.local, kind, was.filler or now.filler, children)


def _check_names(tags: dict[int, Tag]) -> None:
    """Below one tag a name must mean one tag."""
    for tag in tags.values():
        seen: dict[str, int] = {}
        for child in tag.children:
            name = tags[child].name
            if seen.setdefault(name, child) != child:
                raise _contradiction(
                    f"{name} below {tag.name} must stay tag {seen[name]}; got tag {child} too"
                )


def _contradiction(message: str) -> Exception:
    return error("XSCT0002", message, hint="a structure sent again may only add tags")
