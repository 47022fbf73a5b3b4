"""Our own entry in the benchmarks answers through the command, with its output captured."""

from bench.peers import ours
from bench.queries import Query


def test_the_command_answers_into_a_captured_output(tmp_path):
    document = tmp_path / "shop.xml"
    document.write_text("<shop><price>3</price><price>4</price></shop>", encoding="utf-8")
    assert ours(Query("total", "sum(//price)", "shop"), document).strip() == "7"
