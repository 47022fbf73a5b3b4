"""The format of tests/corpus/*.stream: a query, what arrives at each instant, what it then answers.

    # A title, and what there is to see.
    query
      for $a in stream("credit")//account return $a/customer
    structure credit
      <tag id="1" name="accounts" type="snapshot"> … </tag>
    define
      declare function xsc:distance($a as xs:string, …) { … };
    at 2003-11-01T10:00:00
      <filler id="0" tsid="1"><accounts><hole id="1" tsid="2"/></accounts></filler>
      <filler id="1" tsid="2" validTime="2003-10-01T00:00:00"> … </filler>
    ----
      <customer>John Smith</customer>
    changes
      + <customer>John Smith</customer>
    as of 2003-10-15T00:00:00
    ----
      (nothing)

Words at the margin begin a part, its text is indented. `structure` names a stream; where there are
several, `at INSTANT NAME` says on which of them something arrives. What arrives is valid at its
instant unless it says otherwise; after a bare `at`, it says nothing and the logical clock counts.
`define` gives in XQuery the functions that are registered in Python. Below a rule stands the whole
answer, an item a line: after an `at`, over all that arrived so far, the clock at the largest valid
time; after an `as of`, over all that the file holds, as of that instant. `changes` are those of the
moment, as a query that stays tells them; `changes strict` those of the strict policy.

`updates NAME` is a stream of update events; what arrives on it is written as in the paper that gave
them: `sM(0,1) cD(1,"x") eM(0,1)`. `as xquery` is the query in words that another processor knows.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from xstreamcast.edges.structures import read_structure, write_structure

RULE = "----"
NOTHING = "(nothing)"
HEAD = '<stream:fragments xmlns:stream="urn:xstreamcast:stream">'
FOOT = "</stream:fragments>"
_WORDS = re.compile(r"<(/?)(filler|replace|repeat|remove|eos|hole)\b")
_UNTIMED = re.compile(r"<stream:(?:filler|replace|repeat|remove)\b(?![^>]*validTime)[^>/]*")


@dataclass(slots=True)
class Moment:
    """Something arrives at an instant, or the past is asked about; `expected` None: nobody asks."""

    past: bool
    instant: str | None
    stream: str
    arrives: str = ""
    expected: list[str] | None = None
    line: int = 0
    changes: dict[str, list[str]] = field(default_factory=dict)  # by policy


@dataclass(slots=True)
class Script:
    """One file."""

    path: Path
    query: str = ""
    definitions: str = ""
    structures: dict[str, str] = field(default_factory=dict)  # "" of update streams
    moments: list[Moment] = field(default_factory=list)
    plain: str = ""  # the query as another processor understands it

    def wire(self, until: int) -> dict[str, bytes]:
        """Each stream as it stands after a moment, in canonical form."""
        return {
            name: "\n".join([HEAD, told, *self._arrived(name, until), FOOT]).encode()
            if told
            else "".join(self._arrived(name, until)).encode()
            for name, told in self.structures.items()
        }

    def beginning(self, name: str) -> bytes:
        """What comes on a stream before anything arrives."""
        told = self.structures[name]
        return f"{HEAD}{told}".encode() if told else b""

    def _arrived(self, name: str, until: int) -> list[str]:
        return [m.arrives for m in self.moments[: until + 1] if m.stream == name and m.arrives]

    def questions(self) -> list[tuple[Moment, dict[str, bytes], str | None]]:
        """Each moment with an answer, with what is there then and the instant it asks about."""
        every = len(self.moments) - 1
        return [
            (m, self.wire(every if m.past else i), m.instant if m.past else None)
            for i, m in enumerate(self.moments)
            if m.expected is not None
        ]


def read_script(path: Path) -> Script:
    """The script in a file."""
    script = Script(path)
    for number, head, text in _parts(path.read_text("utf-8")):
        _add(script, number, head, text)
    return script


def _parts(text: str) -> list[tuple[int, str, list[str]]]:
    """(line number, word at the margin, indented lines)."""
    found: list[tuple[int, str, list[str]]] = []
    for number, line in enumerate(text.splitlines()):
        if line.startswith(" ") and found:
            found[-1][2].append(line[2:])
        elif line and not line.startswith("#"):
            found.append((number, line.strip(), []))
    return found


def _add(script: Script, number: int, head: str, lines: list[str]) -> None:
    word, _, rest = head.partition(" ")
    text = "\n".join(lines)
    if word == "changes":
        script.moments[-1].changes[rest or "optimistic"] = [one for one in lines if one != NOTHING]
    elif head == "as xquery":
        script.plain = text
    elif word == "updates":
        script.structures[rest] = ""
    elif head == RULE:
        script.moments[-1].expected = [line for line in lines if line != NOTHING]
        script.moments[-1].line = number
    elif word == "query":
        script.query = text
    elif word == "define":
        script.definitions = text
    elif word == "structure":
        told = write_structure(read_structure(text.encode()), None).decode()
        script.structures[rest] = told
    elif head.startswith("as of "):
        script.moments.append(Moment(True, head[6:], ""))
    elif word == "at":
        script.moments.append(_arrival(script, rest.split(), text))
    else:
        raise ValueError(f"{script.path.name}:{number + 1}: what is {head}?")


def _arrival(script: Script, rest: list[str], text: str) -> Moment:
    named = [one for one in rest if one in script.structures]
    instant = next((one for one in rest if one not in named), None)
    stream = named[0] if named else next(iter(script.structures))
    if not script.structures[stream]:
        return Moment(False, instant, stream, _events(text, instant))
    wire = _WORDS.sub(r"<\1stream:\2", text)
    if instant is not None:
        wire = _UNTIMED.sub(lambda m: f'{m.group().rstrip()} validTime="{instant}"', wire)
    return Moment(False, instant, stream, _compact(wire))


def _events(text: str, instant: str | None) -> str:
    """Lines of JSON for what the script says in the notation of the paper."""
    from tests.edges.update_streams import events
    from xstreamcast.edges.updates.lines import line

    at = f'{{"event":"at","time":"{instant}"}}\n' if instant else ""
    return at + "".join(line(event).decode() for event in events(text))


def materialised(wire: bytes) -> bytes:
    """An update stream as one fragment: its content as it stands."""
    from xstreamcast.edges.updates import apply
    from xstreamcast.edges.updates.lines import LineReading
    from xstreamcast.edges.updates.writing import xml

    document = xml(apply(part.event for part in LineReading().feed(wire)))  # type: ignore[union-attr]
    root = re.match(r"<([^\s/>]+)", document)
    assert root is not None, document
    told = write_structure(
        read_structure(f'<tag id="1" name="{root[1]}"/>'.encode()), None
    ).decode()
    filler = '<stream:filler id="0" tsid="1" validTime="1970-01-01T00:00:00">'
    return f"{HEAD}{told}{filler}{document}</stream:filler>{FOOT}".encode()


def _compact(wire: str) -> str:
    """Line breaks and indentation of the script are no part of what arrives."""
    return re.sub(r"\n\s*", "", wire)


def with_answers(script: Script, answers: list[list[str]]) -> str:
    """The file's text with other answers."""
    lines = script.path.read_text("utf-8").splitlines()
    asked = [m for m in script.moments if m.expected is not None]
    for moment, answer in reversed(list(zip(asked, answers, strict=True))):
        end = moment.line + 1
        while end < len(lines) and lines[end].startswith(" "):
            end += 1
        lines[moment.line + 1 : end] = [f"  {line}" for line in answer or [NOTHING]]
    return "\n".join(lines) + "\n"
