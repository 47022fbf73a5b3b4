import hashlib
import io
import tracemalloc
from xml.parsers import expat

import pytest

import bench
from bench.generate import KINDS, batches, write

kinds = pytest.mark.parametrize("kind", KINDS)


def document(kind, factor=0.01, seed=1) -> bytes:
    sink = io.BytesIO()
    write(kind, factor, seed, sink)
    return sink.getvalue()


@kinds
def test_the_same_seed_gives_the_same_bytes_and_another_seed_others(kind):
    assert document(kind, seed=3) == document(kind, seed=3)
    assert document(kind, seed=3) != document(kind, seed=4)


# Documents of one generator version are the same everywhere; a change of any raises that version.
DIGESTS = {
    "auction": "128a49677aac7d3e",
    "bibliography": "d6e51f8d7fc0fd2d",
    "map": "020f886eff48cd37",
}


@kinds
def test_a_document_is_the_one_that_this_generator_version_makes(kind):
    assert hashlib.sha256(document(kind)).hexdigest()[:16] == DIGESTS[kind]


@kinds
@pytest.mark.parametrize("factor", [0.00001, 0.01])
def test_documents_are_well_formed_at_any_size(kind, factor):
    expat.ParserCreate().Parse(document(kind, factor), True)


@kinds
def test_factor_one_would_be_a_hundred_megabytes(kind):
    assert len(document(kind, 0.05)) == pytest.approx(5e6, rel=0.1)


@kinds
def test_memory_does_not_grow_with_the_document(kind):
    def peak(factor):
        tracemalloc.start()
        for _ in batches(KINDS[kind](factor, 1)):
            pass
        highest = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return highest

    document(kind)  # the pools of words are made once and stay
    assert peak(0.02) < peak(0.01) * 1.1 + 100_000


def test_data_is_made_once_and_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("XSC_BENCH_DATA", str(tmp_path))

    first = bench.data("map", 0.001, 7)
    stamp = first.stat().st_mtime_ns
    again = bench.data("map", 0.001, 7)

    assert first == again
    assert again.stat().st_mtime_ns == stamp
    assert again.read_bytes() == document("map", 0.001, 7)
    assert [path.name for path in tmp_path.iterdir()] == [first.name]
