"""URLs: where one ends in running text, when two are the same page, and who owns the domain.

Normalised URLs serve identity only; records keep the URL as the agent wrote it.
"""

from __future__ import annotations

import ipaddress
import re
from bisect import bisect_left
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, urlsplit

if TYPE_CHECKING:
    import tldextract

_CJK_STOPS = "，。；：、（）《》〈〉「」『』【】〔〕“”‘’！？…　"
URL = re.compile(r"(?:https?://|(?<![\w.@/-])www\.)[^\s<>\"`|\\" + _CJK_STOPS + r"\ue200-\ue202]{1,2048}", re.IGNORECASE)
_FLAT = r"[^()\s<>]{0,2000}"
_NESTED = rf"{_FLAT}(?:\({_FLAT}\){_FLAT}){{0,20}}"
_TARGET = re.compile(
    rf"\([ \t]{{0,3}}(?:<(?P<angle>[^<>\n]{{0,2000}})>|(?P<plain>{_FLAT}(?:\({_NESTED}\){_FLAT}){{0,20}}))"
    r"(?:[ \t][^()\n]{0,300}(?:\([^()\n]{0,100}\)[^()\n]{0,100})?)?\)"
)
_ROUND_SQUARE = re.compile(r"[()\[\]]")
_CLOSING = {"(": ")", "[": "]"}
_AUTHORITY = re.compile("://")
_WWW = re.compile("www[.]")
_SCHEME_BEFORE = re.compile(r"https?$", re.IGNORECASE)
_DOI = re.compile(r"\bdoi(?:\.org/|:\s?)(10\.\d{4,9}/[^\s<>\"`|\\" + _CJK_STOPS + r"]+)", re.IGNORECASE)
_ARXIV = re.compile(r"\barxiv:\s?(\d{4}\.\d{4,5}(?:v\d+)?)", re.IGNORECASE)
# Chinese may stand in a path after one of these; after a Latin letter it is the sentence going on.
_CJK_AFTER_LATIN = re.compile(r"(?<=[A-Za-z0-9)])[\u3400-\u9fff]")
_TRACKING = re.compile(
    r"(?:utm_\w+|mtm_\w+|pk_\w+|hsa_\w+|gclid|gclsrc|dclid|fbclid|msclkid|yclid|twclid|ttclid|igshid|igsh|mc_cid|mc_eid"
    r"|_ga|_gl|_hsenc|_hsmi|vero_id|wickedid|spm|srsltid|ref_src|ref_url|cmpid|s_cid|trk|trkinfo)$",
    re.IGNORECASE,
)
_BLANK = re.compile(r"[\s\x00-\x1f]")
_PERCENT = re.compile(r"%([0-9A-Fa-f]{2})")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_RESERVED_SUFFIXES = frozenset({"example", "test", "invalid", "localhost", "local", "internal", "lan", "home", "corp"})
# Platforms whose sub-domains belong to their authors but that the public suffix list does not name.
_AUTHOR_PLATFORMS = frozenset({"medium.com", "substack.com"})


def trim_url(raw: str) -> str:
    """The URL at the start of `raw`: without closing punctuation, unbalanced brackets and the prose that follows."""
    raw = _cut_unbalanced(raw)
    if not raw.isascii() and (found := _CJK_AFTER_LATIN.search(raw)):
        raw = raw[: found.start()]
    while True:
        shorter = raw.rstrip(".,;:!?'*_~")
        if shorter.endswith("&gt"):
            shorter = shorter[:-3]
        if shorter == raw:
            return raw
        raw = shorter


def _cut_unbalanced(raw: str) -> str:
    if ")" not in raw and "]" not in raw:
        return raw
    open_ = {")": 0, "]": 0}
    for match in _ROUND_SQUARE.finditer(raw):
        char = match.group()
        if char in _CLOSING:
            open_[_CLOSING[char]] += 1
        elif open_[char] == 0:
            return raw[: match.start()]
        else:
            open_[char] -= 1
    return raw


def link_target(text: str, start: int) -> tuple[str, int] | None:
    """(target, position after the closing parenthesis) of the `(...)` of a markdown link at `start`, or None.

    The target may hold balanced parentheses, two deep, and be followed by a title.
    """
    found = _TARGET.match(text, start)
    if found is None:
        return None
    return found["angle"] or found["plain"] or "", found.end()


def web_url(target: str) -> str | None:
    """The target as a web address (`www.` gets `https://`), or None when it is an anchor, a path or another scheme."""
    target = target.strip().strip("<>")
    lower = target[:8].lower()
    if lower.startswith(("http://", "https://")) and len(target) > len("https://"):
        return target
    if lower.startswith("www."):
        return "https://" + target
    if lower.startswith("doi.org/"):
        return "https://" + target
    return None


def scan_urls(text: str) -> Iterator[tuple[int, int, str]]:
    """All http(s) and www addresses of a text as (start, end, url), in order; `www.` inside an address is not one."""
    until = 0
    for start in _address_starts(text):
        if start < until:
            continue
        found = URL.match(text, start)
        if found is None:
            continue
        raw = trim_url(found.group())
        until = start + max(len(raw), 1)
        url = web_url(raw)
        if url is not None:
            yield start, until, url


def _address_starts(text: str) -> list[int]:
    """Where addresses may begin. Searching the literals first is many times faster than one regex for both."""
    starts: list[int] = []
    for match in _AUTHORITY.finditer(text):
        scheme = _SCHEME_BEFORE.search(text, max(0, match.start() - 5), match.start())
        if scheme is not None:
            starts.append(scheme.start())
    if "www." in text:
        found = [match.start() for match in _WWW.finditer(text)]
        starts.extend(at for at in found if not (at and (text[at - 1].isalnum() or text[at - 1] in "_.@/-")))
        starts.sort()
    return starts


def find_identifier(text: str) -> tuple[int, int, str] | None:
    """(start, end, url) of a DOI or an arXiv number, which have one resolver each."""
    if ":" not in text and "doi.org" not in text:
        return None
    for pattern, resolver in ((_DOI, "https://doi.org/"), (_ARXIV, "https://arxiv.org/abs/")):
        found = pattern.search(text)
        if found:
            key = trim_url(found.group(1))
            return found.start(), found.start(1) + len(key), resolver + key
    return None


class UrlMap:
    """The addresses of a whole text, found once; `within` gives those that begin inside a stretch of it."""

    def __init__(self, text: str) -> None:
        self.found = list(scan_urls(text))
        self._starts = [start for start, _, _ in self.found]

    def within(self, start: int, end: int) -> list[tuple[int, int, str]]:
        """(start, end, url) of each address that begins at or after `start` and before `end`."""
        return self.found[bisect_left(self._starts, start) : bisect_left(self._starts, end)]


@lru_cache(maxsize=8192)
def normalize_url(url: str) -> str:
    """A key for "the same page": equal keys, same page.

    Folds http into https, host case, a leading `www.`, default ports, dots and slashes at the end, percent-encoding,
    tracking parameters and fragments (text fragments too; single-page routes `#/` and `#!` stay). Not for fetching.
    """
    url = url.strip()
    if _BLANK.search(url):
        return url
    try:
        parts = urlsplit(url if "://" in url else "https://" + url)
        port = parts.port
    except ValueError:
        return url
    if parts.scheme.lower() not in ("http", "https") or not parts.hostname:
        return url
    host = parts.hostname.rstrip(".").removeprefix("www.")
    if ":" in host:
        host = f"[{host}]"
    if port is not None and port not in (80, 443):
        host = f"{host}:{port}"
    return f"https://{host}{_path(parts)}{_query(parts)}{_fragment(parts)}"


def _path(parts: SplitResult) -> str:
    return _PERCENT.sub(_recode, parts.path).rstrip("/")


def _query(parts: SplitResult) -> str:
    kept = [pair for pair in parts.query.split("&") if pair and not _TRACKING.match(pair.split("=", 1)[0])]
    return "?" + _PERCENT.sub(_recode, "&".join(kept)) if kept else ""


def _fragment(parts: SplitResult) -> str:
    route = parts.fragment.split(":~:", 1)[0]
    return "#" + route if route.startswith(("/", "!")) else ""


def _recode(match: re.Match[str]) -> str:
    char = chr(int(match.group(1), 16))
    return char if char in _UNRESERVED else match.group().upper()


@lru_cache(maxsize=8192)
def registrable_domain(url: str) -> str | None:
    """The domain whose owner answers for a page: `bbc.co.uk`, `user.github.io`, `author.substack.com`.

    Takes a URL or a host. An IP address or a host without a dot is its own owner; under reserved suffixes
    (`.example`, `.test`, ...) it is the last two labels; an unknown or bare public suffix gives None.
    """
    try:
        host = urlsplit(url.strip() if "://" in url else "https://" + url.strip()).hostname
    except ValueError:
        return None
    if not host:
        return None
    host = host.rstrip(".").lower()
    if _is_address(host) or "." not in host:
        return host or None
    labels = host.split(".")
    if labels[-1] in _RESERVED_SUFFIXES:
        return ".".join(labels[-2:])
    return _owned_domain(host)


def _owned_domain(host: str) -> str | None:
    found = _extractor()(host)
    if not found.suffix:
        return None
    if not found.domain:
        return host if found.is_private else None
    domain = f"{found.domain}.{found.suffix}"
    if domain in _AUTHOR_PLATFORMS and found.subdomain not in ("", "www"):
        return f"{found.subdomain.rsplit('.', 1)[-1]}.{domain}"
    return domain


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


@cache
def _extractor() -> tldextract.TLDExtract:
    # Imported late (it is slow to load) and told to use its bundled list: the default downloads one.
    import tldextract

    return tldextract.TLDExtract(suffix_list_urls=(), cache_dir=None, include_psl_private_domains=True)
