"""The page of running queries: their answers as tables, which change as the answers do."""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256
from importlib.resources import files


def page() -> tuple[str, str]:
    """The page, and what a browser may do with it: run its own script, and talk to its server."""
    html = files("xstreamcast.live").joinpath("page.html").read_text("utf-8")
    script = re.search(r"<script>(.*?)</script>", html, re.S)
    assert script is not None
    digest = b64encode(sha256(script[1].encode()).digest()).decode()
    policy = (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    return html, policy
