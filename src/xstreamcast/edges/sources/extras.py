"""Client libraries that only some users need: imported when their source is read."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

from xstreamcast.errors import error

# What a module is needed for, and the extra that brings it, if one does so alone.
_NEEDED: Final = {
    "httpx": ("an http source", "http"),
    "websockets.sync.client": ("a WebSocket", "ws"),
    "paho.mqtt.client": ("MQTT", "mqtt"),
    "confluent_kafka": ("Kafka", "kafka"),
    "zstandard": ("a .zst file", "zstd"),
    "uvicorn": ("a web server for clients", "serve"),
    "pandas": ("to_pandas", ""),
    "pyarrow": ("to_arrow", "table"),
    "starlette.applications": ("a web server for clients", "serve"),
}


def needed(module: str) -> Any:
    """The module, or the line that installs it."""
    try:
        return import_module(module)
    except ImportError:
        what, extra = _NEEDED[module]
        package = module.partition(".")[0]
        install = f"'xstreamcast[{extra}]'" if extra else package
        raise error(
            "XSCU0006", f"{what} needs the package {package}", hint=f"pip install {install}"
        ) from None
