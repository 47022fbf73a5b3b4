"""Client libraries that only some users need: imported when their source is read."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

from xstreamcast.errors import error

# What a module is needed for, and the extra that brings it.
_NEEDED: Final = {
    "httpx": ("an http source", "http"),
    "websockets.sync.client": ("a WebSocket", "ws"),
    "paho.mqtt.client": ("MQTT", "mqtt"),
    "confluent_kafka": ("Kafka", "kafka"),
    "zstandard": ("a .zst file", "zstd"),
    "uvicorn": ("cast to ws:// or sse", "serve"),
    "pandas": ("to_pandas", "spark"),
    "pyarrow": ("to_arrow", "table"),
    "starlette.applications": ("cast to ws:// or sse", "serve"),
}


def needed(module: str) -> Any:
    """The module, or the line that installs it."""
    try:
        return import_module(module)
    except ImportError:
        what, extra = _NEEDED[module]
        package = module.partition(".")[0]
        raise error(
            "XSCU0006", f"{what} needs the package {package}",
            hint=f"pip install 'xstreamcast[{extra}]'",
        ) from None  # fmt: skip
