"""How far the next batch of a source reaches, and the splits that tasks read of it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from xstreamcast.edges.inputs import Kind, kind_of, opened, paths
from xstreamcast.edges.mapping.finding import named_mapping, split_source
from xstreamcast.edges.replay.documents import TakenFile, next_documents
from xstreamcast.edges.replay.messages import form_of, next_messages, parts_between
from xstreamcast.edges.replay.offset import Offset, ReadOffset, StreamFacts
from xstreamcast.edges.replay.scanning import Scan, scanned
from xstreamcast.edges.replay.splits import Split
from xstreamcast.edges.replay.survey import STEP, Mark, Survey
from xstreamcast.edges.sources.compressed import is_compressed
from xstreamcast.edges.sources.unfinished import is_unfinished, lacks_its_end
from xstreamcast.edges.wire.sync import first_markup, fragment_bytes, sure_start
from xstreamcast.errors import error

BATCH_BYTES: Final = 128 << 20  # a batch has at most about so many
_HEAD: Final = 1 << 16


@dataclass(slots=True)
class Replay:
    """Files that hold a stream: a file, a folder, a pattern; what is added to them is found.

    plan(a, b) reads the same bytes, whenever and wherever it is called.
    """

    source: str
    structure: str | None = None
    splits: int = 2
    valid: str | None = None
    over: str | None = None  # until there is such a file, fragments wait for their structure
    follow: bool = False  # whether the last file of a feed may grow: what is not whole is awaited
    called: str | None = None  # what messages call what was written down first: stdin, an address
    _mapping: str | None = None  # of a source that names one
    # marks of what was surveyed last, so that a batch that is planned at once is not read again
    _marks: dict[tuple[str, int, int], list[Mark]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._mapping, self.source = split_source(self.source)

    def advance(self, start: Offset, most: int | None = None) -> Offset:
        """Where the next batch ends, with at most so many fragments; `start` if nothing is new."""
        if self._mapping is not None:
            return self._messages(start, most)
        said = self._begun(start)
        if said.structure is None and self.over is not None and not self._is_over():
            return start
        limit = None if most is None else said.read + most
        files, left = dict(start.files), BATCH_BYTES
        self._marks.clear()
        names = self._names(start)
        for name in names:
            seen = _unless_changed(name, files.get(name, ReadOffset()))
            kind = _kind(name)
            if seen.done or kind == "empty":
                continue
            said = _entering(said, seen)
            grows = name == names[-1] and not self._is_over()
            if kind == "document":
                self._refuse_uncut(name, said)
                taken = next_documents(name, files.get(name), self.follow and grows)
                if taken is None:
                    continue
                seen_now, said = taken, replace(said, documents=said.documents + 1)
            elif kind == "fragments":
                seen_now, said = self._survey(name, seen, said, limit, left, grows)
            else:
                seen_now, said = self._whole(name, kind, said)
            left -= seen_now.position - seen.position
            files[name] = seen_now
            if not seen_now.done or left <= 0 or (limit is not None and said.read >= limit):
                break
        read = {name: seen for name, seen in files.items() if seen != ReadOffset()}
        return start if read == start.files else Offset(read, said)

    def plan(self, start: Offset, end: Offset) -> list[Split]:
        """The splits between two offsets, in order of arrival."""
        if self._mapping is not None:
            return self._mapped(start, end, self._mapping)
        found: list[Split] = []
        said = self._begun(start)
        changed = [name for name, seen in end.files.items() if seen != start.files.get(name)]
        for name in changed:
            last, kind = end.files[name], _kind(name)
            if kind == "document":
                said = replace(said, ended=False)
                found += self._documents(name, last, said, len(found))
                said = replace(said, documents=said.documents + 1)
                continue
            first = _from(name, start.files.get(name, ReadOffset()), last)
            whole = kind != "fragments"
            said = _entering(said, first)
            marks = [Mark(first.position, first.tag, said)]
            marks += [] if whole else self._between(name, marks[0], last)
            stop = None if whole or last.done else last.position
            found += self._pieces(name, marks, stop, len(found), whole)
            if name != changed[-1]:
                said = self._said_after(name, marks[-1], last, whole)
        return found

    def left_over(self, offset: Offset) -> Iterator[tuple[str, int]]:
        """Files that end in a fragment that is not whole, and how many bytes of it there are."""
        for name, seen in offset.files.items():
            if self._mapping is not None or seen.done or not os.path.isfile(name):
                continue
            with opened(name) as file:
                file.seek(seen.position)
                rest = fragment_bytes(file.read())
            if rest.strip():
                yield name, len(rest)

    # -- feeds with a mapping ---------------------------------------------------------------------

    def _messages(self, start: Offset, most: int | None) -> Offset:
        """Messages are read as a whole; a file that grows is read to its new end."""
        mapping = named_mapping(str(self._mapping))
        return next_messages(self._names(start), start, most, mapping, self.follow)

    def _mapped(self, start: Offset, end: Offset, word: str) -> list[Split]:
        """One split: what a message means may depend on those before it."""
        before, now = parts_between(start, end, form_of(named_mapping(word)))
        if not now:
            return []
        number = start.said.read
        return [
            Split(
                0, now[0].path, 0, None, "", StreamFacts(), mapping=word, parts=tuple(now),
                before=tuple(before), number=number,
            )
        ]  # fmt: skip

    # -- documents --------------------------------------------------------------------------------

    def _refuse_uncut(self, name: str, said: StreamFacts) -> None:
        if said.structure is None:
            raise error(
                "XSCU0001",
                f"{self.called or name} is a document: a tag structure is needed to cut it",
                hint=f"xstreamcast infer {name} -o TS proposes one; then --structure TS",
            )

    def _documents(
        self, name: str, last: ReadOffset, said: StreamFacts, index: int
    ) -> Iterator[Split]:
        """One split: what a batch reads of a file of documents."""
        taken = TakenFile.of(last)
        if taken is None or taken.begin < taken.end:
            begin, end = (0, None) if taken is None else (taken.begin, taken.end)
            yield Split(
                index, name, begin, end, "", said, "document", self.valid,
                not os.path.isfile(self.source), called=self.called,
            )  # fmt: skip

    # -- one file ---------------------------------------------------------------------------------

    def _survey(
        self,
        name: str,
        seen: ReadOffset,
        said: StreamFacts,
        limit: int | None,
        most: int,
        grows: bool,
    ) -> tuple[ReadOffset, StreamFacts]:
        """Read on in a file, up to a limit or its end."""
        size = os.path.getsize(name)
        found = self._scan(name, Mark(seen.position, seen.tag, said), limit, most)
        if found.stop is None and (is_compressed(name) or not grows):
            said = _closed(name, found.safe)
            over = ReadOffset(size, "", True)
            self._marks[name, seen.position, over.position] = found.marks
            return over, said
        stop = found.stop or _past_broken(name, found.safe)
        self._marks[name, seen.position, stop.position] = found.marks
        return ReadOffset(stop.position, stop.tag), stop.said

    def _scan(self, name: str, begin: Mark, limit: int | None, most: int) -> Scan:
        """Marks of a file: markup is followed, and where that is not enough, tokenised."""
        zipped = is_compressed(name)
        found = Scan(begin, strange=True) if zipped else scanned(name, begin, limit, most)
        if not found.strange:
            return found
        survey, read = Survey(found.safe), found.safe.position - begin.position
        for chunk in _chunks(name, found.safe.position):
            for mark in survey.feed(chunk, limit):
                found.marks.append(mark)
                if limit is not None and mark.said.read >= limit:
                    return replace(found, stop=mark)
            read += len(chunk)
            if read >= most and survey.safe().position > begin.position:
                return replace(found, stop=survey.safe())
        return replace(found, safe=survey.safe())

    def _whole(self, name: str, kind: str, said: StreamFacts) -> tuple[ReadOffset, StreamFacts]:
        """A file that is read in one piece: updates, changes, or one in another encoding."""
        if kind != "encoded":
            return ReadOffset(os.path.getsize(name), "", True), said
        survey = Survey(Mark(0, "", said))
        for chunk in _chunks(name, 0):
            for _ in survey.feed(chunk):
                pass
        return ReadOffset(os.path.getsize(name), "", True), survey.close()

    def _between(self, name: str, first: Mark, last: ReadOffset) -> list[Mark]:
        """Marks inside what is read of a file, as surveyed or surveyed again."""
        known = self._marks.get((name, first.position, last.position))
        if known is None:
            survey, known, at = Survey(first), [], first.position
            for chunk in _chunks(name, first.position):
                part = chunk if last.done else chunk[: max(last.position - at, 0)]
                known += survey.feed(part)
                at += len(chunk)
                if not last.done and at >= last.position:
                    break
        inside = (mark for mark in known if mark.position > first.position)
        return [mark for mark in inside if last.done or mark.position < last.position]

    def _said_after(self, name: str, mark: Mark, last: ReadOffset, whole: bool) -> StreamFacts:
        """What had been said when a file was left for the next one."""
        if whole:
            return self._whole(name, _kind(name), mark.said)[1]
        survey, at = Survey(mark), mark.position
        for chunk in _chunks(name, mark.position):
            part = chunk if last.done else chunk[: max(last.position - at, 0)]
            for _ in survey.feed(part):
                pass
            at += len(chunk)
            if not last.done and at >= last.position:
                return survey.said
        return survey.close()

    def _pieces(
        self, name: str, marks: list[Mark], stop: int | None, first: int, whole: bool
    ) -> Iterator[Split]:
        """Splits of about equal size."""
        end = os.path.getsize(name) if stop is None else stop
        wanted = max(STEP, (end - marks[0].position) // max(self.splits, 1))
        begins = marks[:1]
        for mark in marks[1:]:
            if mark.position - begins[-1].position >= wanted and end - mark.position > STEP // 2:
                begins.append(mark)
        kind = _kind(name)
        form: Kind = "fragments" if kind == "encoded" or kind == "empty" else kind
        ends: list[int | None] = [mark.position for mark in begins[1:]]
        for index, (mark, until) in enumerate(zip(begins, [*ends, stop], strict=True)):
            yield Split(
                first + index, name, mark.position, until, mark.tag, mark.said, form, self.valid,
                not os.path.isfile(self.source),
            )  # fmt: skip

    def _is_over(self) -> bool:
        """Whether nothing will grow any more."""
        return self.over is not None and os.path.exists(self.over)

    # -- all files --------------------------------------------------------------------------------

    def _names(self, start: Offset) -> list[str]:
        """The files that were met, in that order, then new ones by name; without those that went.

        Those that are still being written come later.
        """
        met = [name for name in start.files if os.path.isfile(name)]
        if os.path.isdir(self.source) and not os.listdir(self.source):
            return met
        there = [os.path.abspath(path) for path in paths(self.source)]
        found = [*met, *(name for name in there if name not in start.files)]
        if not os.path.isfile(self.source):
            found = [name for name in found if not is_unfinished(name)]
        read = {name for name in met if start.files[name].is_all_of(name)}
        return [name for name in found if name in read or not self._awaited(name)]

    def _awaited(self, name: str) -> bool:
        """Whether the rest of a file is still on its way."""
        return self.follow and lacks_its_end(name)

    def _begun(self, start: Offset) -> StreamFacts:
        """What was said before; a structure that comes later counts from the beginning."""
        said = start.said
        if said.structure is not None:
            return said
        if self.structure is not None:
            return replace(said, structure=self.structure)
        for name in self._names(start):
            if _kind(name) in ("fragments", "encoded"):
                survey = Survey(Mark(0, "", StreamFacts()))
                for chunk in _chunks(name, 0):
                    for _ in survey.feed(chunk):
                        pass
                    if survey.said.structure is not None:
                        return replace(said, structure=survey.said.structure)
        return said


def _unless_changed(name: str, seen: ReadOffset) -> ReadOffset:
    """How far a file was read; a file that was cut off, or changed after its end, was not."""
    if seen.is_all_of(name):
        return seen
    cut = os.path.getsize(name) < seen.position and not is_compressed(name)
    return ReadOffset() if seen.done or cut else seen


def _from(name: str, first: ReadOffset, last: ReadOffset) -> ReadOffset:
    """Where a batch begins in a file that had ended, or was longer: at its beginning."""
    cut = last.position < first.position and not is_compressed(name)
    return ReadOffset() if first.done or cut else first


def _entering(said: StreamFacts, seen: ReadOffset) -> StreamFacts:
    """What counts where a file is read on: an eos ends the file that says it, and no other."""
    return said if seen.position else replace(said, ended=False)


def _closed(name: str, mark: Mark) -> StreamFacts:
    """What was said in all of a file that is over."""
    survey = Survey(mark)
    for chunk in _chunks(name, mark.position):
        for _ in survey.feed(chunk):
            pass
    return survey.close()


def _past_broken(name: str, mark: Mark) -> Mark:
    """The place up to which all is whole or can be given up: a fragment in which others begin was
    never closed, so only what comes from the last beginning on may still be on its way."""
    with opened(name) as file:
        file.seek(mark.position)
        tail = file.read()
    last, tag = -1, mark.tag.encode()
    start = sure_start(tail, tag, first_markup(tail) + 1) if tail.strip() else -1
    while start >= 0:
        last, start = start, sure_start(tail, tag, start + 1)
    if last < 0:
        return mark
    given_up, rest = Survey(mark), tail[last:]
    for _ in given_up.feed(tail[:last]):
        pass
    after = Survey(Mark(mark.position + last, mark.tag, given_up.close()))
    for _ in after.feed(rest):
        pass
    return after.safe()


def _chunks(name: str, begin: int) -> Iterator[bytes]:
    with opened(name) as file:
        file.seek(begin)
        while chunk := file.read(STEP):
            yield chunk


def _kind(name: str) -> Kind | Literal["encoded", "empty"]:
    """What a file holds; encoded: fragments in another encoding. Fragments alone can be split."""
    with opened(name) as file:
        head = file.read(_HEAD)
    if not head.strip():
        return "empty"
    declared = head[: head.find(b"?>") + 1].lower() if head.lstrip().startswith(b"<?xml") else b""
    other = b"encoding" in declared and not (b"utf-8" in declared or b"ascii" in declared)
    if head[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in head[:4] or other:
        return "encoded"
    return kind_of(head)
