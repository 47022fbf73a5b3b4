"""How much memory this process has in use, as the system counts it; and at most."""

from pathlib import Path

_STATUS = Path("/proc/self/status")


def resident() -> int:
    """Bytes of this process that are in memory."""
    return _told("VmRSS")


def peak() -> int:
    """The most that was in memory since the last reset."""
    return _told("VmHWM")


def reset_peak() -> None:
    """Count the peak anew."""
    Path("/proc/self/clear_refs").write_text("5")


def _told(what: str) -> int:
    for line in _STATUS.read_text().splitlines():
        if line.startswith(what):
            return int(line.split()[1]) * 1024
    raise OSError(f"the system does not tell {what}")
