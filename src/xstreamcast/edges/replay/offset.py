"""How far a source has been read: enough to continue from there, and nothing else."""

from __future__ import annotations

import os
from dataclasses import field
from typing import Any

from xstreamcast.model.frozen import dataclass


@dataclass(frozen=True, slots=True)
class ReadOffset:
    """How far one file has been read, the root's tag to read on under, whether it is over."""

    position: int = 0
    tag: str = ""
    done: bool = False

    def is_all_of(self, name: str) -> bool:
        """Whether a file was read to its end, and is as long as it was then."""
        return self.done and os.path.getsize(name) == self.position


@dataclass(frozen=True, slots=True)
class StreamFacts:
    """What the stream has said of itself so far."""

    structure: str | None = None
    ended: bool = False
    read: int = 0  # fragments: the logical clock of those without valid time
    documents: int = 0  # inputs of documents: the ids of the next ones begin with this number


@dataclass(frozen=True, slots=True)
class Offset:
    """Files by name, in the order in which they were met, and what was said in them."""

    files: dict[str, ReadOffset] = field(default_factory=dict)
    said: StreamFacts = StreamFacts()

    def json(self) -> dict[str, Any]:
        """As JSON has it; the same offset always gives the same text."""
        files = {name: [s.position, s.tag, s.done] for name, s in self.files.items()}
        said = self.said
        return {"files": files, "said": [said.structure, said.ended, said.read, said.documents]}

    @staticmethod
    def of(fields: dict[str, Any]) -> Offset:
        files = {name: ReadOffset(*one) for name, one in fields["files"].items()}
        structure, ended, read, *documents = fields["said"]
        # Offsets of older versions do not count documents; no number may come twice.
        return Offset(files, StreamFacts(structure, ended, read, *(documents or [len(files)])))
