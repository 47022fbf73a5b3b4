"""Ten weeks of segments, as weekdays and hours: what travel times are predicted from.

The benchmark describes a row for each minute of each day. Here a minute is like its hour, and a
day like its weekday in other weeks, so that the means over ten weeks are these numbers themselves.
"""

from __future__ import annotations

from collections.abc import Iterator

from bench.linear_road import layout as f
from bench.linear_road.draws import Draws, Ints
from bench.linear_road.generator import Scale

HOURS, DAYS = 24, 7
Past = dict[tuple[int, int, int, int], tuple[list[int], list[int]]]  # velocities, cars by hour


def past(scale: Scale) -> Past:
    """By expressway, direction, weekday and segment."""
    out: Past = {}
    for xway in range((scale.halves + 1) // 2):
        draws = Draws(scale.seed, f"past of {xway}")
        for direction in (0, 1):
            for day in range(1, DAYS + 1):
                for segment in range(f.SEGMENTS):
                    out[xway, direction, day, segment] = _hours(draws)
    return out


def _hours(draws: Draws) -> tuple[list[int], list[int]]:
    """The more cars, the slower."""
    cars: Ints = draws.between(5, 90, HOURS)
    velocity = 70 - cars // 2 + draws.between(-5, 5, HOURS)
    return velocity.tolist(), cars.tolist()


def history_xml(scale: Scale) -> bytes:
    """An element for each weekday of a direction, with the hours of its segments."""
    lines, known = ["<past>"], ""
    for (xway, direction, day, segment), (velocity, cars) in past(scale).items():
        key = f"{xway}.{direction}.{day}"
        if key != known:
            lines += ["</day>"] * bool(known) + [f'<day key="{key}">']
            known = key
        lines += [f'<segment n="{segment}">', *_elements(velocity, cars), "</segment>"]
    return "\n".join([*lines, "</day>", "</past>\n"]).encode()


def _elements(velocity: list[int], cars: list[int]) -> Iterator[str]:
    for one, many in zip(velocity, cars, strict=True):
        yield f'<hour lav="{one}" cars="{many}"/>'
