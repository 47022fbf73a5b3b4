"""What a play took, in words and as data."""

from __future__ import annotations

from typing import Any

from bench.linear_road.driver import Played
from bench.linear_road.generator import Scale
from bench.linear_road.validator import Verdict


def summary(played: Played, scale: Scale, speed: float | None) -> str:
    """A few lines for the terminal."""
    how = "as fast as it was taken" if speed is None else f"at {speed:g} ×"
    if played.prepared:
        how = f"{played.prepared} minutes as fast as they were taken, then {how}"
    worked = max(played.processor - played.before, 0.01)
    lines = [
        f"L = {scale.halves / 2:g}, {scale.duration} s of input, {how}: {played.tuples:,} tuples,"
        f" {len(played.outputs):,} answers in {played.elapsed:.0f} s",
        f"processor time of watch: {worked:.1f} s, {played.tuples / worked:,.0f} tuples/s;"
        f" {played.before:.1f} s before the first tuple",
    ]
    if played.by_kind.get("JVM"):
        kinds = ", ".join(f"{kind} {used:.1f} s" for kind, used in played.by_kind.items())
        lines.append(f"all of it by process: {kinds}")
    if played.samples:
        most = max(one.resident for one in played.samples)
        lines.append(f"resident memory: {most / 2**20:,.0f} MiB at most")
    lines.append(f"ready in {played.restart:.1f} s")
    if speed is not None and played.timed:
        delays = sorted(one.delay for one in played.timed)
        median, late = delays[len(delays) // 2], delays[len(delays) * 99 // 100]
        lines.append(
            f"response time: median {median:.2f} s, 99 % {late:.2f} s, longest {delays[-1]:.2f} s"
        )
    return "\n".join(lines)


def to_json(
    played: Played, scale: Scale, speed: float | None, verdict: Verdict | None = None
) -> dict[str, Any]:
    """Delays and memory by second of the input."""
    return {
        "scale": scale.halves / 2, "seed": scale.seed, "duration": scale.duration, "speed": speed,
        "tuples": played.tuples, "answers": len(played.outputs), "elapsed": played.elapsed,
        "processor": played.processor, "before": played.before, "byKind": played.by_kind,
        "verdict": said(verdict),
        "prepared": played.prepared, "restart": played.restart,
        "delays": sorted(played.by_second.items()),
        "samples": [
            [one.elapsed, one.second, one.resident, one.processor] for one in played.samples
        ],
    }  # fmt: skip


def said(verdict: Verdict | None) -> str:
    """A verdict in a few words."""
    if verdict is None:
        return "not checked"
    return (
        "yes" if verdict.valid else ", ".join(f"{n} {what}" for what, n in verdict.faults.items())
    )
