"""pytest -p tests.processor_time --processor-times=FILE: what each test costs, as lines of JSON.

The processor time of the test and of the processes that it starts, also of those that continue (as
Spark does). It is the same to about a tenth however busy the machine is; durations are not.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--processor-times", metavar="FILE", help="what each test costs, as JSON")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    report = item.config.getoption("--processor-times")
    began = processor_seconds() if report else 0.0
    done = yield
    if report:
        line = json.dumps([item.nodeid, round(processor_seconds() - began, 3)])
        with open(report, "a", encoding="utf-8") as file:
            file.write(f"{line}\n")
    return done


def processor_seconds() -> float:
    """Of this process, and of those below it: ended or not."""
    ours = os.times()
    return sum(ours[:4]) + sum(_of_running_children())


def _of_running_children() -> Iterator[float]:
    below, seconds = defaultdict[int, list[int]](list), dict[int, float]()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        process = int(folder.name)
        below[int(fields[1])].append(process)
        seconds[process] = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    waiting = below[os.getpid()]
    for process in waiting:
        yield seconds[process]
        waiting += below[process]
