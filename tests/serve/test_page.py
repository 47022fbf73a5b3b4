"""The page of running queries: what it holds, and what a browser shows of it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from lxml import html

from tests.edges.sources.roads import MESSAGES, QUERY, WHOLE, expected
from tests.edges.sources.servers import until
from tests.serve.browser import browser
from tests.serve.served import Growing, queries, served
from xstreamcast.live.page import page

pytest.importorskip("uvicorn", reason="the serve extra is not installed")

ROWS = "[...document.querySelectorAll('#answer tbody tr')]"


def shown(items: list[str]) -> list[str]:
    """Items as the rows of a table."""
    return [" ".join(re.findall(r"\d+", item)) for item in items]


def values(found: html.HtmlElement, path: str) -> list[str]:
    """The attributes that a path selects."""
    selected = found.xpath(path)
    assert isinstance(selected, list)
    return [str(one) for one in selected]


def test_the_page_needs_nothing_from_elsewhere() -> None:
    text, policy = page()
    found = html.fromstring(text)
    ids = set(values(found, "//@id"))
    assert {"queries", "answer", "text", "circuit", "inputs", "health"} <= ids
    assert set(re.findall(r'\bat\("(\w+)"\)', text)) <= ids
    assert values(found, "//@src | //link/@rel | //@href") == ["queries"]
    assert "://" not in re.sub(r"<!--.*?-->", "", text)
    assert "innerHTML" not in text  # items come from feeds
    assert policy.startswith("default-src 'none'; script-src 'sha256-")


def test_a_browser_shows_the_answer_and_its_changes(tmp_path: Path) -> None:
    feed = Growing(tmp_path, *MESSAGES[:26])
    texts = {"hot": QUERY, "many": 'count(stream("roads")//incident?[now])'}
    with served(*queries(tmp_path, **texts), *feed.words) as server, browser(tmp_path) as seen:
        server.until("hot", expected(MESSAGES[:26]))
        seen.open(f"{server.url}/")
        rows = f"{ROWS}.map(one => [...one.cells].map(cell => cell.textContent).join(' '))"

        def shows(items: list[str]) -> None:
            wanted = "|".join(shown(items))
            until(lambda: seen.value(f"{rows}.join('|')") == wanted, f"rows {wanted}")

        shows(expected(MESSAGES[:26]))
        assert seen.value("document.querySelectorAll('tr.new').length") == 0
        feed.say(*MESSAGES[26:])
        shows(expected())
        assert QUERY.split()[2] in seen.text("text")
        seen.value("document.getElementById('circuit').open = true")
        seen.until("document.getElementById('circuit').innerText.includes('emit')")
        seen.until("document.getElementById('inputs').innerText.includes('51')")
        seen.value("document.querySelectorAll('nav button')[1].click()")
        shows(["19"])
        assert seen.value("location.hash") == "#many"
        assert seen.mistakes == []


def test_a_browser_shows_a_query_that_failed(tmp_path: Path) -> None:
    feed = Growing(tmp_path, WHOLE)
    texts = {"hot": QUERY, "wrong": 'count(stream("roads")//incident) idiv 0'}
    words = ["-i", f"roads={feed.path}"]
    with served(*queries(tmp_path, **texts), *words) as server, browser(tmp_path) as seen:
        until(lambda: server.state("wrong")["state"] == "failed", "a failure")
        seen.open(f"{server.url}/#wrong")
        seen.until("document.getElementById('state').innerText.includes('division by zero')")
        seen.until("document.getElementById('health').innerText === 'failed'")
        assert "failed" in seen.text("queries")
