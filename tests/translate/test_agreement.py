"""The three translations give one answer, for every history and query."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings

import xstreamcast as xsc
from tests.conftest import examples
from tests.oracle import STRATEGIES, answer
from tests.streams_strategies import Case, cases

pytest.importorskip("saxonche")


@settings(
    max_examples=examples(30, 2000),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(cases())
def test_the_three_translations_agree(case: Case) -> None:
    for query in case.queries:
        caq, qac, plus = (answer(query, {"s": case.wire}, strategy=one) for one in STRATEGIES)
        assert qac == caq, query
        assert plus == caq, query


EMBEDDED = b"""<stream:fragments xmlns:stream="urn:xstreamcast:stream"><stream:structure>
<tag type="snapshot" id="1" name="accounts"><tag type="temporal" id="2" name="account">
<tag type="event" id="5" name="transaction"><tag type="snapshot" id="8" name="amount"/></tag>
</tag></tag></stream:structure>
<stream:filler id="0" tsid="1" validTime="2003-01-01"><accounts><stream:hole id="1" tsid="2"/>
</accounts></stream:filler><stream:filler id="1" tsid="2" validTime="2003-01-01"><account>
<transaction><amount>5</amount></transaction></account></stream:filler></stream:fragments>"""


def test_an_event_that_is_embedded_is_found_or_told() -> None:
    """As seed 000's structure, printed with its fragments, has it."""
    query = 'stream("s")//transaction/amount/string()'
    assert answer(query, {"s": EMBEDDED}, strategy="caq") == ["5"]
    for strategy in ("qac", "qac+"):
        assert list(xsc.query(query).run(s=EMBEDDED, strategy=strategy).lines()) == ["5"]
        with pytest.raises(Exception, match="transaction is embedded in its parent"):
            answer(query, {"s": EMBEDDED}, strategy=strategy)
