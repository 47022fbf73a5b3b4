"""Evaluations run on threads with large stacks that are used again."""

from __future__ import annotations

import os
import threading

import pytest

from xstreamcast.errors import Error
from xstreamcast.evaluate.deep import deep
from xstreamcast.model.query_limits import QueryLimits, limited


def names() -> list[str]:
    return [one.name for one in threading.enumerate() if one.name == "query"]


def test_one_thread_does_one_piece_of_work_after_another() -> None:
    first = deep(threading.get_ident)
    assert first != threading.get_ident()
    assert {deep(threading.get_ident) for _ in range(20)} == {first}
    assert deep(lambda: deep(threading.get_ident)) == first


def test_an_error_leaves_the_thread_usable() -> None:
    with pytest.raises(ZeroDivisionError):
        deep(lambda: 1 // 0)
    assert deep(lambda: 3) == 3


def test_a_thread_that_was_stopped_gets_no_more_work() -> None:
    def endless() -> None:
        while True:
            pass

    before = deep(threading.get_ident)
    with limited(QueryLimits(query_timeout=0.2)), pytest.raises(Error):
        deep(endless)
    assert deep(threading.get_ident) != before
    assert deep(lambda: 4) == 4


def test_several_at_a_time_do_not_wait_for_each_other() -> None:
    met = threading.Barrier(4, timeout=60)
    threads = [threading.Thread(target=deep, args=(met.wait,)) for _ in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert not met.broken
    deep(lambda: 1)
    assert len(names()) <= 5


@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
def test_a_forked_process_has_threads_of_its_own() -> None:
    deep(lambda: 1)
    child = os.fork()
    if child == 0:
        os._exit(deep(lambda: 7))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
