"""HTML of the list and of a run's progress. Everything that comes from a run is escaped by the templates."""

from __future__ import annotations

import base64
import hashlib
import time
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from dreambench.reporting.live.board import RunStatus, State

if TYPE_CHECKING:
    from jinja2 import Environment

_TONES: dict[State, str] = {"complete": "good", "incomplete": "bad", "unfinished": "mid", "unreadable": "bad"}


@dataclass(frozen=True, slots=True)
class Page:
    """A page and the policy it is sent with: nothing is loaded from anywhere, and only its own script and style count."""

    html: str
    policy: str


def list_page(title: str, runs: list[RunStatus]) -> Page:
    """All runs; refreshes itself."""
    return _page("list.html.j2", refresh=True, title=title, runs=runs)


def progress_page(run: RunStatus) -> Page:
    """One run; refreshes itself while an attempt has not ended."""
    return _page("progress.html.j2", refresh=run.state == "unfinished", title=run.name, run=run)


def _page(template: str, *, refresh: bool, **context: Any) -> Page:
    style, script = _asset("view.css"), _asset("refresh.js") if refresh else ""
    html = _environment().get_template(template).render(style=style, script=script, **context)
    scripts = f"script-src '{_hash(script)}'; " if script else ""
    policy = (
        f"default-src 'none'; {scripts}style-src '{_hash(style)}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    return Page(html, policy)


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    made = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, loader=FunctionLoader(_asset)
    )
    made.filters.update(ago=_ago, count=_count, money=_money, tone=_TONES.__getitem__, path=lambda name: quote(name, safe=""))
    return made


@cache
def _asset(name: str) -> str:
    return (resources.files("dreambench.reporting.live") / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")


def _ago(moment: float) -> str:
    """`40 s ago`, `3 min ago`, `5 h ago`, `2 days ago`."""
    if not moment:
        return "unknown"
    seconds = max(0.0, time.time() - moment)
    for limit, size, unit in ((120, 1, "s"), (7200, 60, "min"), (172800, 3600, "h")):
        if seconds < limit:
            return f"{seconds / size:.0f} {unit} ago"
    return f"{seconds / 86400:.0f} days ago"


def _count(number: int | None) -> str:
    return "–" if number is None else f"{number:,}"


def _money(run: RunStatus) -> str:
    """Dollars; calls whose price nobody knows are said, not counted as free."""
    calls = "1 call" if run.unpriced_calls == 1 else f"{run.unpriced_calls:,} calls"
    unknown = f" and {calls} of unknown price" if run.unpriced_calls else ""
    return f"${run.money:.2f}{unknown}"
