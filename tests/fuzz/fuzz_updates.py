"""Update streams, mutated: as lines of JSON and as markup."""

from __future__ import annotations

import random
from pathlib import Path

from tests.edges.update_streams import events
from tests.fuzz.streams import check_answers, check_decoder
from tests.fuzz.target import Check, cut, spliced
from xstreamcast.edges.updates.lines import line
from xstreamcast.edges.updates.markup import CLOSE, OPEN, element

TEXTS = (
    'sS(0) sE(0,"r") sM(0,1) cD(1,"x") eM(0,1) sR(1,2) cD(2,"y") eR(1,2) eE(0,"r") eS(0)',
    'sS(0) sE(0,"r") sM(0,1) sE(1,"a") cD(1,"0") eE(1,"a") eM(0,1) eE(0,"r") '
    'sR(1,2) sE(2,"a") cD(2,"1") eE(2,"a") eR(1,2) sA(2,3) sE(3,"a") eE(3,"a") eA(2,3) eS(0)',
    'sS(0) sE(0,"r") sM(0,1) sE(1,"a") eE(1,"a") eM(0,1) hide(1) show(1) freeze(1) '
    'sB(1,4) sE(4,"a") eE(4,"a") eB(1,4) eE(0,"r") eS(0)',
)


def begin(folder: Path) -> Check:
    """Chunks make no difference; `run` and `watch` agree."""

    def check(chance: random.Random) -> None:
        said = events(chance.choice(TEXTS))
        if chance.random() < 0.5:
            data = spliced([line(one) for one in said], chance)
        else:
            data = OPEN + spliced([element(one) for one in said], chance)
            data += chance.choice((CLOSE, b""))
        check_decoder("updates", data, chance)
        if chance.random() < 0.5:
            path = folder / "updates"
            path.write_bytes(data)
            check_answers('stream("s")//a', path, data, iter(cut(data, chance)))

    return check
