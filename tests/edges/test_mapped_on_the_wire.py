"""What shipped mappings make of their examples, written as fragments and read again: the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import xstreamcast as xsc
from xstreamcast.edges.mapping.decoder import MappingDecoder
from xstreamcast.edges.mapping.finding import named_mapping, shipped
from xstreamcast.edges.mapping.messages import Message
from xstreamcast.edges.wire.encoder import batch_lines, heartbeat_line, structure_line
from xstreamcast.model.fragment import FragmentBatch, Heartbeat, NewStructure

EXAMPLES = Path(__file__).parents[2] / "examples"
QUERIES = ('stream("s")', 'stream("s")/*/*?[now]')


def written(mapping: str, messages: list[Message]) -> bytes:
    """The fragments of messages as they travel between processes."""
    decoder, out = MappingDecoder("s", named_mapping(mapping)), list[bytes]()
    decoder.arrived = 0
    for found in decoder.files((one.place, [one.data]) for one in messages):
        for one in found:
            match one:
                case NewStructure():
                    out.append(structure_line(one.structure))
                case FragmentBatch():
                    out += batch_lines(one, decoder.ids)
                case Heartbeat():
                    out.append(heartbeat_line(one.instant, True))
                case _:
                    raise AssertionError(one)
    return b"".join(out)


@pytest.mark.parametrize("mapping", shipped())
def test_fragments_of_a_mapping_survive_the_wire(mapping: str, tmp_path: Path) -> None:
    folder = EXAMPLES / mapping / "data"
    files = sorted(folder.iterdir())
    wire = tmp_path / "s.stream"
    wire.write_bytes(written(mapping, [Message(one.read_bytes(), str(one)) for one in files]))
    for text in QUERIES:
        refused = list[Any]()
        read = list(xsc.query(text).run(s=wire, keep=refused.append).lines())
        assert refused == []
        assert read == list(xsc.query(text).run(s=Path(f"{mapping}:{folder}")).lines())
        assert read
