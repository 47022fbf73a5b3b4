"""The timelines of the guide to time: versions as bars over an axis of hours and minutes."""

from __future__ import annotations

from dataclasses import dataclass

from docs.site.svg import AMBER, BLUE, FAINT, GREEN, GREY, INK, PALE, RED, Drawing

LEFT, RIGHT, TOP, LANE = 150, 30, 52, 44
DAY_START, DAY_END = 8 * 60 + 50, 9 * 60 + 30


@dataclass(frozen=True, slots=True)
class Bar:
    """A version: minutes of its beginning and end, what it says, how it looks."""

    begin: int
    end: int
    label: str
    fill: str = PALE
    line: str = BLUE
    dashed: bool = False


def minute(clock: str) -> int:
    hours, minutes = clock.split(":")
    return int(hours) * 60 + int(minutes)


class Timeline:
    """Lanes of versions over one axis."""

    def __init__(
        self, title: str, lanes: int, width: int = 760, first: int = DAY_START, last: int = DAY_END
    ) -> None:
        self.first, self.last, self.lanes = first, last, lanes
        self.drawing = Drawing(width, TOP + lanes * LANE + 44, title)
        self.axis()

    def x(self, at: int) -> float:
        span = self.drawing.width - LEFT - RIGHT
        return LEFT + (at - self.first) / (self.last - self.first) * span

    def y(self, lane: int) -> float:
        return TOP + lane * LANE

    def axis(self) -> None:
        base = TOP + self.lanes * LANE + 8
        self.drawing.line(LEFT, base, self.drawing.width - RIGHT + 14, base, arrow=True)
        for at in range(-(-self.first // 5) * 5, self.last + 1, 5):
            self.drawing.line(self.x(at), base, self.x(at), base + 5)
            if at % 10 == 0:
                words = f"{at // 60:02}:{at % 60:02}"
                self.drawing.text(self.x(at), base + 21, words, 12, FAINT, "middle")

    def lane(self, lane: int, name: str, *bars: Bar) -> None:
        self.drawing.text(LEFT - 14, self.y(lane) + 21, name, 13, INK, "end")
        for bar in bars:
            x1, x2 = self.x(max(bar.begin, self.first)), self.x(min(bar.end, self.last))
            self.drawing.box(x1, self.y(lane) + 3, x2 - x1, 27, bar.fill, bar.line, bar.dashed)
            self.drawing.text(x1 + 7, self.y(lane) + 21, bar.label, 12.5)

    def event(self, lane: int, name: str, at: int, label: str) -> None:
        self.drawing.text(LEFT - 14, self.y(lane) + 21, name, 13, INK, "end")
        self.drawing.dot(self.x(at), self.y(lane) + 17)
        self.drawing.text(self.x(at) + 10, self.y(lane) + 21, label, 12.5)

    def mark(self, at: int, words: str, color: str = RED) -> None:
        base = TOP + self.lanes * LANE + 8
        self.drawing.line(self.x(at), 30, self.x(at), base, color, 1.4, dashed=True)
        self.drawing.text(self.x(at), 22, words, 12.5, color, "middle", bold=True)

    def window(self, begin: int, end: int, words: str) -> None:
        x1, x2 = self.x(begin), self.x(end)
        self.drawing.parts.insert(
            0,
            f'<rect x="{x1:g}" y="30" width="{x2 - x1:g}" '
            f'height="{TOP - 22 + self.lanes * LANE:g}" fill="{AMBER}" opacity="0.7"/>',
        )
        self.drawing.text((x1 + x2) / 2, 22, words, 12.5, GREEN, "middle", bold=True)


def lifespans() -> str:
    """Three kinds of elements."""
    made = Timeline("Lifespans of two incidents and a call", 3)
    nine, twelve, now = minute("09:00"), minute("09:12"), minute("09:20")
    made.lane(0, "incident 17", Bar(nine, twelve, "severity 5"), Bar(twelve, now, "severity 2"))
    made.lane(1, "incident 18", Bar(minute("09:04"), now, "severity 4"))
    made.event(2, "call 90 (event)", minute("09:06"), "A8")
    made.mark(now, "now = 09:20")
    return made.drawing.svg()


def projection() -> str:
    """An interval clips."""
    made = Timeline("An interval projection clips lifespans", 2)
    five, ten = minute("09:05"), minute("09:10")
    made.window(five, ten, "?[09:05, 09:10]")
    nine, twelve, now = minute("09:00"), minute("09:12"), minute("09:20")
    superseded = Bar(nine, twelve, "", GREY, FAINT), Bar(twelve, now, "", GREY, FAINT)
    made.lane(0, "incident 17", *superseded, Bar(five, ten, "severity 5"))
    whole = Bar(minute("09:04"), now, "", GREY, FAINT)
    made.lane(1, "incident 18", whole, Bar(five, ten, "severity 4"))
    return made.drawing.svg()


def versions() -> str:
    """Versions count from 1."""
    made = Timeline("Versions of incident 17", 1)
    nine, twelve, twenty = minute("09:00"), minute("09:12"), minute("09:20")
    made.lane(
        0, "incident 17", Bar(nine, twelve, "#[1]  severity 5"), Bar(twelve, twenty, "#[last]")
    )
    made.mark(twenty, "now")
    return made.drawing.svg()


def late() -> str:
    """A late message becomes a version in the middle."""
    made = Timeline("A late message shortens the version before it", 2)
    nine, eight, twelve = minute("09:00"), minute("09:08"), minute("09:12")
    end = minute("09:20")
    made.lane(0, "before", Bar(nine, twelve, "severity 5"), Bar(twelve, end, "severity 2"))
    made.lane(
        1, "after", Bar(nine, eight, "severity 5"),
        Bar(eight, twelve, "4, late", AMBER, GREEN), Bar(twelve, end, "severity 2"),
    )  # fmt: skip
    made.mark(end, "now")
    return made.drawing.svg()


def planned() -> str:
    """States that are known before they begin."""
    made = Timeline("A planned closure and its planned end", 2)
    begin, end, now = minute("09:15"), minute("09:25"), minute("09:10")
    made.lane(0, "incident 18", Bar(minute("09:04"), now, "sev. 4"))
    made.lane(1, "closure 30", Bar(begin, end, "planned", AMBER, GREEN, True))
    made.mark(now, "now = 09:10")
    return made.drawing.svg()


def clock() -> str:
    """When each of three times is."""
    made = Timeline("Message time, valid time and arrival", 3)
    made.event(0, "valid time", minute("09:00"), "the accident happened: vtFrom")
    made.event(1, "message time", minute("09:03"), "the message was written: moves the clock")
    made.event(2, "arrival", minute("09:07"), "the message came in: decides nothing")
    return made.drawing.svg()


TIMELINES = {
    "time-lifespans": lifespans,
    "time-projection": projection,
    "time-versions": versions,
    "time-late": late,
    "time-planned": planned,
    "time-clock": clock,
}
