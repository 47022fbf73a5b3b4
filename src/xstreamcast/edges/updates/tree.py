"""The current content as a tree that updates are made to in place: constant work for each event.

Children are linked both ways, so that a region is found, emptied and put next to another without
looking at its siblings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from xstreamcast.edges.updates.events import Begin, Token


class TreeNode:
    """A node of the tree, linked to its parent and neighbours."""

    __slots__ = ("above", "around", "before", "behind", "first", "last")

    def __init__(self) -> None:
        self.above: TreeNode | None = None
        self.around: TreeElement | None = (
            None  # the nearest element, regardless of regions in between
        )
        self.before: TreeNode | None = None
        self.behind: TreeNode | None = None
        self.first: TreeNode | None = None
        self.last: TreeNode | None = None

    def append(self, new: TreeNode) -> None:
        """Append a child."""
        new.above, new.before, new.behind = self, self.last, None
        new.around = self if isinstance(self, TreeElement) and self.is_element else self.around
        if self.last is None:
            self.first = new
        else:
            self.last.behind = new
        self.last = new

    def put_beside(self, new: TreeNode, after: bool) -> None:
        """Put something directly before this, or directly behind it."""
        assert self.above is not None
        before, behind = (self, self.behind) if after else (self.before, self)
        new.above, new.before, new.behind = self.above, before, behind
        new.around = self.around
        if before is None:
            self.above.first = new
        else:
            before.behind = new
        if behind is None:
            self.above.last = new
        else:
            behind.before = new

    def empty(self) -> TreeNode | None:
        """Take everything below away → the first of it."""
        first, self.first, self.last = self.first, None, None
        return first

    def children(self) -> Iterator[TreeNode]:
        """The children."""
        child = self.first
        while child is not None:
            yield child
            child = child.behind


class Leaf(TreeNode):
    """Text, a comment or a processing instruction."""

    __slots__ = ("token",)

    def __init__(self, token: Token) -> None:
        super().__init__()
        self.token = token


class TreeElement(TreeNode):
    """An element, or a tuple: what its start and its end say; the end only once it has come."""

    __slots__ = ("ending", "fragment", "gone", "removed", "sent", "tag", "token")

    def __init__(self, token: Token) -> None:
        super().__init__()
        self.token = token
        self.ending: Token | None = None
        self.gone = False  # a replacement took it away
        self.tag: int | None = None  # its tag in a tag structure
        self.fragment: str | None = None  # the id that it travels under
        self.sent: bytes | None = None  # what was sent under it last
        self.removed = False  # it was removed since: a region around it is hidden

    @property
    def is_element(self) -> bool:
        return bool(self.token[0] == "sE")


class Region(TreeNode):
    """A stream (`begun` is None) or a region: `cursor` is where its next event goes."""

    __slots__ = (
        *("begun", "counts", "cursor", "ended", "frozen", "hidden", "id", "sent", "slot"),
        *("placed", "was_hidden"),
    )

    def __init__(self, id: str, begun: Begin | None, slot: str = "") -> None:
        super().__init__()
        self.id, self.begun, self.slot = id, begun, slot
        self.cursor: TreeNode = self
        self.ended = self.hidden = self.frozen = False
        self.was_hidden = False  # when its elements were last looked at
        self.placed = True
        self.counts: dict[int, int] = {}  # elements of each tag at its top
        self.sent: bytes | None = None  # what it gave to the element around it, when last looked at

    def dissolve(self) -> None:
        """Leave the content in place of the region; the region can no longer be named."""
        for child in self.children():
            child.above = self.above
        before, behind = self.before, self.behind
        first, last = (self.first, self.last) if self.first else (behind, before)
        assert self.above is not None
        if before is None:
            self.above.first = first
        else:
            before.behind = first
        if behind is None:
            self.above.last = last
        else:
            behind.before = last
        if self.first is not None and self.last is not None:
            self.first.before, self.last.behind = before, behind
        self.empty()
        self.placed = False


def walk(
    top: TreeNode, enters: Callable[[TreeNode], bool] = lambda place: True
) -> Iterator[tuple[TreeNode, bool]]:
    """The content below that counts, in order: (place, False), and (place, True) on leaving it.

    A place that `enters` rejects is returned, but nothing below it. There may be regions in regions
    by the thousand, so no recursion.
    """
    at, leaving = top, False
    while True:
        if not leaving and at is not top:
            yield at, False
        if not leaving and at.first is not None and _counts(at) and (at is top or enters(at)):
            at = at.first
            continue
        if at is top:
            return
        yield at, True
        leaving = at.behind is None
        following = at.above if leaving else at.behind
        assert following is not None
        at = following


def everything(top: TreeNode) -> Iterator[TreeNode]:
    """A place and everything below it, hidden or not."""
    todo = [top]
    while todo:
        place = todo.pop()
        yield place
        todo.extend(reversed(list(place.children())))


def elements_on_top(region: Region) -> Iterator[TreeElement]:
    """The elements of a region and of regions in it, in order, hidden or not."""
    todo: list[TreeNode] = [region]
    while todo:
        place = todo.pop()
        if isinstance(place, Region):
            todo.extend(reversed(list(place.children())))
        elif isinstance(place, TreeElement):
            yield place


def is_hidden(place: TreeNode) -> bool:
    """Whether a region that it is on top of is hidden, or one around that region."""
    above = place.above
    while isinstance(above, Region):
        if above.hidden:
            return True
        above = above.above
    return False


def _counts(place: TreeNode) -> bool:
    return not (isinstance(place, Region) and place.hidden)


def tokens(top: TreeNode) -> Iterator[Token]:
    """The tokens that count, in order."""
    for place, leaving in walk(top):
        if isinstance(place, Leaf) and not leaving:
            yield place.token
        elif isinstance(place, TreeElement):
            said = place.ending if leaving else place.token
            if said is not None:
                yield said
