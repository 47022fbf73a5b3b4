"""The functions that scripts of the corpus define in XQuery for Saxon, in Python for us."""

from __future__ import annotations

import math


def register() -> None:
    """Make them known, each time: others define functions of these names, too."""
    from xstreamcast.functions.user import function

    @function("triangulate($a as xs:double, $b as xs:double) as xs:string")
    def triangulate(a: float, b: float) -> str:
        p, q = math.tan(math.radians(a)), math.tan(math.radians(b))
        x = -10 * q / (p - q)
        return f"{round(x)} {round(x * p)}"

    @function("distance($a as xs:string, $b as xs:string) as xs:double")
    def distance(a: str, b: str) -> float:
        return math.dist([float(x) for x in a.split()], [float(x) for x in b.split()])
