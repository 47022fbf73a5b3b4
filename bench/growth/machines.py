"""Machines over time: a load with versions, heartbeats as events, jobs with a beginning and an end.

A quarter of the fragments are machines, which stand in holes of the root; each has two versions of
its load and one heartbeat. Heartbeats are of the minute before now, but for a few machines, which
fall silent one a second: so each tick finds a timer due, and only one, however many there are.
"""

from datetime import datetime, timedelta

from bench.growth.streams import SPARE, Stream, Unit, filler, hole, holes, removal, scattered
from bench.growth.streams import structure as described

NAME = "m"
BEGIN = datetime(2026, 1, 1, 12)
MACHINE, LOAD, BEAT = 2, 3, 4


def instant(seconds: float) -> str:
    """An instant so long after noon, before it if negative."""
    return (BEGIN + timedelta(seconds=seconds)).isoformat()


def _quarter(n: int) -> int:
    return max(10, n // 4)


def _machine(i: int, version: int, n: int) -> bytes:
    places = hole(f"l{i}", LOAD) + hole(f"b{i}", BEAT)
    payload = f'<machine id="m{i}" room="r{(i + version) % 20}">{places}</machine>'
    return filler(f"m{i}", MACHINE, payload, instant(-4000))


def _first_load(i: int, version: int, n: int) -> bytes:
    """What a machine reported an hour before noon."""
    return _report(i, 5 if version else 20 + scattered(i, 50, 1), -3600)


def _load(i: int, version: int, n: int) -> bytes:
    """What it reported half an hour later; or a further report, after all others."""
    if i >= _quarter(n):
        return _report(_heard(i, n), 90 + i % 7, 62 + i - _quarter(n))
    return _report(i, 95 if version else 10 + scattered(i, 60), -1800)


def _report(i: int, load: int, second: float) -> bytes:
    return filler(f"l{i}", LOAD, f"<load>{load}</load>", instant(second))


def _heard(i: int, n: int) -> int:
    """A machine among the last ones, which are not corrected and do not fall silent."""
    return _quarter(n) - 1 - i % (_quarter(n) // 3)


def _beat_second(i: int, n: int) -> float:
    return i - 237.5 if i < min(SPARE, _quarter(n) // 3) else scattered(i, 60)


def _beat(i: int, version: int, n: int) -> bytes:
    """A heartbeat; corrected, another number in it at the same instant."""
    if i >= _quarter(n):  # one more, of a machine that has sent one
        return _sent(_heard(i, n), 7, 62 + i - _quarter(n))
    return _sent(i, 1 + i % 3 + 10 * version, _beat_second(i, n))


def _taken_back(i: int, version: int, n: int) -> bytes:
    """A heartbeat that was none; or a new one."""
    if version and i < _quarter(n):
        return removal(f"b{i}", BEAT, instant(_beat_second(i, n)))
    return _beat(i, 0, n)


def _sent(i: int, number: int, second: float) -> bytes:
    return filler(f"b{i}", BEAT, f'<beat number="{number}"/>', instant(second))


def _root(n: int) -> bytes:
    reach = range(MACHINES.reach(n))
    return filler("0", 1, f"<hall>{holes('m', MACHINE, reach)}</hall>", instant(-4000))


MACHINES = Unit(NAME, _quarter, _machine)
FIRST_LOADS = Unit(NAME, _quarter, _first_load)
LOADS = Unit(NAME, _quarter, _load)
BEATS = Unit(NAME, _quarter, _beat)
TAKEN_BACK = Unit(NAME, _quarter, _taken_back)
HALL = (
    Stream(
        NAME,
        described(
            '<tag id="1" name="hall" type="snapshot">'
            '<tag id="2" name="machine" type="snapshot" filler="true">'
            '<tag id="3" name="load" type="temporal"/><tag id="4" name="beat" type="event"/>'
            "</tag></tag>"
        ),
        _root,
        (MACHINES, FIRST_LOADS, LOADS, BEATS),
    ),
)


# -- jobs and alarms: lifespans that overlap their neighbours only ------------------------------

JOB, ALARM = 2, 3
APART = 100  # seconds from the beginning of a job to that of the next


def _half(n: int) -> int:
    return max(10, n // 2)


def _job(i: int, version: int, n: int) -> bytes:
    """It lasts for 150 seconds, so that it overlaps the next; corrected, it has another name."""
    begin = i * APART
    payload = f'<job name="j{i}{"x" * version}" line="{i % 10}"/>'
    line = filler(f"j{i}", JOB, payload, instant(begin))
    return line if version else line + removal(f"j{i}", JOB, instant(begin + 150))


def _alarm(i: int, version: int, n: int) -> bytes:
    """It lasts for 20 seconds within a job; corrected, it is graver; a new one comes late."""
    late = i >= _half(n)
    begin = (i - _half(n) + _half(n) // 4 if late else i) * APART + (90 if late else 60)
    payload = f'<alarm name="a{i}" grade="{1 + version + (i % 7 == 0)}"/>'
    line = filler(f"a{i}", ALARM, payload, instant(begin))
    return line if version and not late else line + removal(f"a{i}", ALARM, instant(begin + 20))


def _works(n: int) -> bytes:
    jobs = holes("j", JOB, range(JOBS.reach(n)))
    alarms = holes("a", ALARM, range(ALARMS.reach(n)))
    return filler("0", 1, f"<works>{jobs}{alarms}</works>", instant(-4000))


JOBS = Unit("w", _half, _job)
ALARMS = Unit("w", _half, _alarm)
WORKS = (
    Stream(
        "w",
        described(
            '<tag id="1" name="works" type="snapshot"><tag id="2" name="job" type="temporal"/>'
            '<tag id="3" name="alarm" type="temporal"/></tag>'
        ),
        _works,
        (JOBS, ALARMS),
    ),
)
