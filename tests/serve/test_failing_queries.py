"""Queries that fail while a server keeps them running."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.edges.sources.roads import QUERY, WHOLE, expected
from tests.edges.sources.servers import until
from tests.serve.served import COUNT, Growing, queries, served

pytest.importorskip("uvicorn", reason="the serve extra is not installed")


def test_a_query_that_fails_says_so_and_the_others_continue(tmp_path: Path) -> None:
    feed = Growing(tmp_path, WHOLE)
    wrong = 'for $i in stream("roads")//incident?[now] return 1 div (number($i/@n) - 7) idiv 0'
    half = """declare stream half := stream("roads")//incident ! (1 idiv 0);
        count(stream("half"))"""
    words = queries(tmp_path, hot=QUERY, wrong=wrong, half=half, many=COUNT)
    with served(*words, "-i", f"roads={feed.path}") as server:
        until(lambda: server.state("many")["state"] == "ended", "the end")
        assert server.items("hot") == expected()
        assert server.items("many") == ["19"]
        for name in ("wrong", "half"):
            assert server.state(name)["state"] == "failed"
            response = server.get(f"/queries/{name}")
            assert response.status_code == 500
            assert response.json()["error"]["code"] == "FOAR0001"
            assert "idiv" in server.get(f"/queries/{name}/text").text
        assert server.get("/queries/wrong/changes").status_code == 500
        health = server.get("/health")
        assert health.status_code == 503
        assert sorted(health.json()["failed"]) == ["half", "wrong"]


@pytest.mark.parametrize("others", [{}, {"many": COUNT}], ids=["alone", "of two"])
def test_a_query_that_fails_for_now_is_listed_with_its_error(
    tmp_path: Path, others: dict[str, str]
) -> None:
    feed = Growing(tmp_path, WHOLE)
    texts = {"one": f"10 idiv ({COUNT} - 18)", **others}
    gone = b'<remove id="1" tsid="2" validTime="2026-11-15T10:00:00"/>'
    with served(*queries(tmp_path, **texts), *feed.words) as server:
        server.until("one", ["10"])
        feed.say(gone)
        until(lambda: server.state("one")["state"] == "failing", "an error that may go away")
        assert server.state("one")["error"] == "FOAR0001: division by zero"
        assert server.items("one") == ["10"]
        assert server.get("/health").json()["failing"] == {"one": "FOAR0001: division by zero"}
        assert server.get("/health").status_code == 200
        if others:
            assert (server.state("many")["state"], server.items("many")) == ("running", ["18"])
        feed.say(gone.replace(b'id="1"', b'id="2"'))
        server.until("one", ["-10"])
        until(lambda: server.state("one")["state"] == "running", "no error any more")
        assert server.state("one")["error"] is None
