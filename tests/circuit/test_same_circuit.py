"""A program is planned the same in every process: else a snapshot would be of another circuit."""

from __future__ import annotations

import os
import subprocess
import sys

QUERIES = (
    """let $totals := map:merge(for $o in stream("s")//order group by $r := string($o/@region)
      return map:entry($r, sum($o/amount/xs:decimal(.))))
    for $r in map:keys($totals) order by $r return <r name="{ $r }">{ $totals($r) }</r>""",
    """declare function local:f($x) { for $y in $x let $z := $y/@a where $z > 1 return ($y, $z) };
    (local:f(stream("s")//order), local:f(stream("s")//order[@b]))""",
)
SCRIPT = """
import sys
from xstreamcast.algebra.analysis.cut import DepthCut
from xstreamcast.api import compiled
from xstreamcast.circuit.compile import circuit_of
from xstreamcast.operators.snapshot.circuit import circuit_fingerprint
for text in sys.argv[1:]:
    print(circuit_fingerprint(circuit_of(compiled(text), {"s": DepthCut(1)})))
"""


def test_hashes_of_names_do_not_matter():
    found = {planned(str(seed)) for seed in range(1, 5)}
    assert len(found) == 1


def planned(seed: str) -> str:
    given = {**os.environ, "PYTHONHASHSEED": seed}
    command = [sys.executable, "-c", SCRIPT, *QUERIES]
    return subprocess.run(command, env=given, capture_output=True, text=True, check=True).stdout
