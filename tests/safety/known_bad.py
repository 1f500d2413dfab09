"""Versions of our dependencies that must never be installed: malicious releases, and holes that reach what we do with them.

One line per finding, kept by hand from public advisories; `test_requirements` holds it against the locks. Ranges are PEP 440.
"""

from __future__ import annotations

KNOWN_BAD: dict[str, dict[str, str]] = {
    "litellm": {
        "==1.82.7": "malicious release (March 2026): steals credentials",
        "==1.82.8": "malicious release (March 2026): steals credentials at every start of Python, without an import",
    },
    "jinja2": {
        "<3.1.5": "CVE-2024-56326: a template leaves the sandbox through str.format",
        "<3.1.6": "CVE-2025-27516: a template leaves the sandbox through the attr filter",
    },
    "pyyaml": {"<5.4": "CVE-2020-14343: full_load runs code"},
    "h11": {"<0.16": "CVE-2025-43859: malformed chunked bodies are accepted"},
    "requests": {"<2.32.4": "CVE-2024-47081: a crafted address gets credentials of another host"},
    "urllib3": {"<2.5": "CVE-2025-50181: redirects are followed though they were turned off"},
    "aiohttp": {"<3.10.11": "CVE-2024-52304: request smuggling"},
    "certifi": {"<2024.7.4": "CVE-2024-39689: roots that are no longer trusted"},
    "idna": {"<3.7": "CVE-2024-3651: a crafted name takes very long"},
    "pillow": {"<10.3": "CVE-2024-28219: buffer overflow"},
    "python-multipart": {"<0.0.18": "CVE-2024-53981: a crafted body takes very long"},
    "starlette": {"<0.47.2": "CVE-2025-54121: large forms stop the event loop"},
    "tqdm": {"<4.66.3": "CVE-2024-34062: arguments are evaluated"},
}
