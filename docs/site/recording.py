"""python -m docs.site.recording: runs `xstreamcast watch` and draws what it prints, step by step.

Each message is written to the running command alone; the lines that it prints until it is quiet
again are the changes that this message made. The picture moves by CSS and needs no script.
"""

from __future__ import annotations

import os
import selectors
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Final

from docs.site.svg import MONO, SANS
from xstreamcast.model.change import Accumulated, Change

TARGET: Final = Path(__file__).parents[1] / "img" / "watch.svg"
QUIET: Final = 3.0  # seconds without a line: the tick is over
STEP: Final = 2.6  # seconds that a message is looked at
WIDTH, HEIGHT = 860, 400

QUERY: Final = """\
for $i in stream("roads")//incident?[now]
where $i/severity >= 4
return <avoid road="{$i/road}">{$i/cause/text()}</avoid>
"""

HEAD: Final = """\
<structure><tag id="1" name="roads"><tag id="2" name="incident" type="temporal">
<tag id="3" name="road"/><tag id="4" name="severity"/><tag id="5" name="cause"/></tag></tag>
</structure>
<filler id="0" tsid="1" validTime="2026-11-15T08:00:00"><roads/></filler>
"""


@dataclass(frozen=True, slots=True)
class Message:
    """An incident as the feed reports it, and what a reader should notice."""

    key: int
    clock: str
    road: str
    severity: int
    cause: str
    note: str

    def xml(self) -> str:
        return (
            f'<filler id="{self.key}" tsid="2" in="0" validTime="2026-11-15T{self.clock}:00">'
            f"<incident><road>{self.road}</road><severity>{self.severity}</severity>"
            f"<cause>{self.cause}</cause></incident></filler>\n"
        )


MESSAGES: Final = (
    Message(17, "09:00", "A8", 5, "accident", "reported"),
    Message(18, "09:04", "B17", 4, "flooding", "reported"),
    Message(17, "09:12", "A8", 2, "accident", "corrected"),
    Message(19, "09:20", "A9", 4, "ice", "reported"),
    Message(18, "09:25", "B17", 5, "bridge closed", "extended"),
)


def recorded() -> list[list[Change]]:
    """The changes that the command prints for each message."""
    with tempfile.TemporaryDirectory() as folder:
        query = Path(folder) / "avoid.xq"
        query.write_text(QUERY)
        command = [
            *(sys.executable, "-m", "xstreamcast", "watch", str(query), "-i", "roads=-"),
            *("--batch", "1", "--format", "changes"),
        ]
        pipe, quiet = subprocess.PIPE, subprocess.DEVNULL
        with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=quiet) as running:
            assert running.stdin is not None
            os.write(running.stdin.fileno(), HEAD.encode())
            found = []
            for message in MESSAGES:
                os.write(running.stdin.fileno(), message.xml().encode())
                found.append([Change.from_json(line) for line in lines_until_quiet(running)])
            running.stdin.close()
            running.wait()
        return found


def lines_until_quiet(running: subprocess.Popen[bytes]) -> Iterator[str]:
    """The first line may take as long as the command takes to begin."""
    assert running.stdout is not None
    with selectors.DefaultSelector() as selector:
        selector.register(running.stdout, selectors.EVENT_READ)
        text, patience = b"", 60.0
        while selector.select(patience):
            text, patience = text + os.read(running.stdout.fileno(), 65536), QUIET
    yield from text.decode().splitlines()


@dataclass(frozen=True, slots=True)
class Shown:
    """A line of the picture, with the seconds between which it is there."""

    x: float
    y: float
    text: str
    color: str
    begin: float
    end: float
    flash: str = ""  # the colour behind it when it appears


def shown(changes: list[list[Change]], total: float) -> Iterator[Shown]:
    """Messages on the left, changes on the right, the answer below."""
    row, answer = 0, Accumulated()
    for n, (message, made) in enumerate(zip(MESSAGES, changes, strict=True)):
        at = 1.0 + n * STEP
        words = f"{message.clock}  {message.key}  {message.road:<4} severity {message.severity}"
        color = "#e6edf3" if message.note == "reported" else "#f2cc60"
        yield Shown(28, 118 + 24 * n, f"{words}  {message.note}", color, at, total)
        before = answer.items()
        for change in made:
            sign, color = ("+", "#7ee787") if change.diff > 0 else ("-", "#ff9790")
            yield Shown(440, 118 + 20 * row, f"{sign} {change.item}", color, at + 0.5, total)
            answer.apply(change)
            row += 1
        until = total if n == len(MESSAGES) - 1 else at + STEP + 0.5
        for place, item in enumerate(answer.items()):
            flash = "" if item in before else "#238636"
            yield Shown(28, 316 + 22 * place, item, "#e6edf3", at + 0.5, until, flash)


def picture(changes: list[list[Change]]) -> str:
    total = 1.0 + STEP * len(MESSAGES) + 3.0
    every = list(shown(changes, total))
    styles, texts = [], []
    for n, one in enumerate(every):
        styles.append(keyframes(n, one, total))
        if one.flash:
            width = 12 + 8.1 * len(one.text)
            texts.append(
                f'<rect class="f{n}" x="{one.x - 6:g}" y="{one.y - 15:g}" width="{width:g}" '
                f'height="20" rx="4" fill="{one.flash}" opacity="0"/>'
            )
        texts.append(
            f'<text class="l{n}" x="{one.x:g}" y="{one.y:g}" fill="{one.color}" '
            f'xml:space="preserve">{escape(one.text)}</text>'
        )
    return "\n".join((*head(styles), *texts, "</g>", "</svg>", ""))


def keyframes(n: int, one: Shown, total: float) -> str:
    """Hidden, shown from `begin`, hidden again from `end`."""
    begin, end = (100 * at / total for at in (one.begin, min(one.end, total - 0.4)))
    made = (
        f"@keyframes k{n}{{0%,{begin:.2f}%{{opacity:0}}{begin + 1:.2f}%,{end:.2f}%{{opacity:1}}"
        f"{min(end + 1, 100):.2f}%,100%{{opacity:0}}}}.l{n}{{animation:k{n} {total:g}s infinite}}"
    )
    if one.flash:
        made += (
            f"@keyframes g{n}{{0%,{begin:.2f}%{{opacity:0}}{begin + 1:.2f}%{{opacity:.9}}"
            f"{begin + 8:.2f}%,100%{{opacity:0}}}}.f{n}{{animation:g{n} {total:g}s infinite}}"
        )
    return made


def head(styles: list[str]) -> list[str]:
    return [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
        f'height="{HEIGHT}" role="img">',
        "<title>xstreamcast watch: an answer is revised as messages correct each other</title>",
        f"<style>{''.join(styles)}</style>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" rx="10" fill="#0d1117"/>',
        '<circle cx="22" cy="20" r="6" fill="#ff5f57"/><circle cx="42" cy="20" r="6" '
        'fill="#febc2e"/><circle cx="62" cy="20" r="6" fill="#28c840"/>',
        f'<g font-family="{SANS}" font-size="12.5" fill="#8b949e">',
        '<text x="28" y="92">what the feed says: time, incident, road</text>',
        '<text x="440" y="92">what watch prints</text>',
        '<text x="28" y="290">the answer now</text>',
        "</g>",
        '<line x1="28" y1="268" x2="832" y2="268" stroke="#30363d"/>',
        f'<g font-family="{MONO}" font-size="13.5">',
        '<text x="28" y="58" fill="#e6edf3">'
        "$ xstreamcast watch avoid.xq -i roads=- --format lines</text>",
    ]


def main() -> None:
    TARGET.write_text(picture(recorded()), "utf-8")


if __name__ == "__main__":
    main()
