"""robots.txt as RFC 9309 reads it: the group of our product token, else `*`; the longest matching rule, allow on a tie.

The standard library's parser takes the first matching rule and knows no `*` and `$`, which most files use.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import quote, urlsplit

LONGEST = 500 * 1024
"""Bytes of a robots.txt that are read, the RFC's least."""
_LINE = re.compile(r"\s*([A-Za-z-]+)\s*:\s*([^#]*)")


@dataclass
class _Group:
    agents: list[str] = field(default_factory=list)
    rules: list[tuple[str, bool]] = field(default_factory=list)
    delay: float = 0.0


@dataclass(frozen=True, slots=True)
class Robots:
    """The rules for one program on one site. `delay` is the Crawl-delay in seconds, 0 when none is asked for."""

    rules: tuple[tuple[str, bool], ...] = ()
    delay: float = 0.0

    @classmethod
    def parse(cls, text: str, product: str) -> Robots:
        """The rules of `text` for `product` (compared without case); groups of the same name count together."""
        groups = _groups(text[:LONGEST])
        name = product.lower()
        chosen = [group for group in groups if name in group.agents] or [group for group in groups if "*" in group.agents]
        rules = tuple(rule for group in chosen for rule in group.rules)
        return cls(rules, max((group.delay for group in chosen), default=0.0))

    def allows(self, url: str) -> bool:
        """Whether the URL may be read; everything may that no rule speaks of, and robots.txt itself."""
        parts = urlsplit(url)
        path = _encoded(parts.path or "/") + (f"?{_encoded(parts.query)}" if parts.query else "")
        if path == "/robots.txt":
            return True
        matching = [(len(pattern), allowed) for pattern, allowed in self.rules if _matches(pattern, path)]
        return max(matching)[1] if matching else True


DISALLOWED = Robots(rules=(("/", False),))


def _groups(text: str) -> list[_Group]:
    groups: list[_Group] = []
    in_rules = True
    for line in text.lstrip("\ufeff").splitlines():
        found = _LINE.match(line)
        if not found:
            continue
        key, value = found.group(1).lower(), found.group(2).strip()
        if key == "user-agent":
            if in_rules:
                groups.append(_Group())
                in_rules = False
            groups[-1].agents.append(value.partition("/")[0].strip().lower())
        elif groups and key in ("allow", "disallow"):
            in_rules = True
            if value:
                groups[-1].rules.append((_encoded(value), key == "allow"))
        elif groups and key == "crawl-delay":
            in_rules = True
            groups[-1].delay = float(value) if re.fullmatch(r"\d{1,4}(\.\d+)?", value) else 0.0
    return groups


def _encoded(text: str) -> str:
    """One spelling for patterns and paths: non-ASCII percent-encoded, the rest as it is."""
    return quote(text, safe="/%?=&$*:@!+,;~'()[]#-._")


def _matches(pattern: str, path: str) -> bool:
    """Whether `path` begins with `pattern`, where `*` is anything and a final `$` is the end; linear in both."""
    anchored = pattern.endswith("$")
    first, *others = pattern.removesuffix("$").split("*")
    if not path.startswith(first):
        return False
    if anchored and not others:
        return path == first
    at = len(first)
    last = others.pop() if anchored and others else None
    for part in others:
        found = path.find(part, at)
        if found < 0:
            return False
        at = found + len(part)
    return last is None or (path.endswith(last) and len(path) - len(last) >= at)
