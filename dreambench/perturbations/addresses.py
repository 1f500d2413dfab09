"""Addresses that lead nowhere, and sources that do not exist, made from the words of the report."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from random import Random
from urllib.parse import urlsplit

from dreambench.documents import normalize_url
from dreambench.perturbations.wording import fill, templates

_WORDS = re.compile(r"[A-Za-z]{3,}")
_IDLE = frozenset(
    (
        "the and for with from that this into its are was how what why who where when"
        " most like during under over beyond between towards their which these those more some such than into about"
        " www http https html htm php pdf com org net"
    ).split()
)
_DIGITS = re.compile(r"(?<![%\d])(?<!%[0-9A-Fa-f])\d{2,}")
_TRIES = 40


def dead(url: str, words: Sequence[str], taken: Collection[str], rng: Random) -> str:
    """`url` as it looks after its page has moved: the same site, a path that differs a little; none of `taken`."""
    head, path, tail = _parts(url)
    for number in range(_TRIES):
        new = _moved(path, words, rng) if number < _TRIES // 2 else f"{path.rstrip('/')}/{rng.randrange(1000, 99999)}"
        made = head + new + (tail if rng.random() < 0.5 or not tail.startswith("#") else "")
        if normalize_url(made) not in taken and made != url:
            return made
    return f"{head}{path.rstrip('/')}/{rng.randrange(10**6, 10**7)}{tail}"


def _parts(url: str) -> tuple[str, str, str]:
    split = urlsplit(url if "//" in url[:9] else f"//{url}")
    at = url.find(split.netloc) + len(split.netloc)
    rest = url[at:]
    cut = min((rest.find(mark) for mark in "?#" if mark in rest), default=len(rest))
    return url[:at], rest[:cut], rest[cut:]


def _moved(path: str, words: Sequence[str], rng: Random) -> str:
    segments = path.split("/")
    digits = [at for at, part in enumerate(segments) if _DIGITS.search(part) and not re.fullmatch(r"10\.\d{4,9}", part)]
    last = max((at for at, part in enumerate(segments) if part), default=0)
    slugs = [at for at, part in enumerate(segments) if len(_slug_words(part)) >= 3]
    ways = ["digits"] * (2 if digits else 0) + ["slug"] * (2 if slugs else 0) + ["folder"] * (last > 1)
    way = rng.choice(ways or ["new"])
    if way == "digits":
        at = rng.choice(digits)
        segments[at] = _DIGITS.sub(lambda match: _other_digits(match[0], rng), segments[at], count=1)
    elif way == "slug":
        at = rng.choice(slugs)
        segments[at] = _other_slug(segments[at], rng)
    elif way == "folder":
        at = rng.randrange(1, last)
        folders = [folder for folder in _FOLDERS if folder not in segments]
        segments[at : at + 1] = [] if rng.random() < 0.5 and last > 2 else [segments[at], rng.choice(folders)]
    else:
        segments = ["", *[part for part in segments if part], slug(words, rng)]
    return "/".join(segments)


_FOLDERS = ("archive", "old", "v1", "news", "content", "pages", "docs", "en", "main", "library", "item", "view")


_SLUG_WORD = re.compile(r"(?<![^-_])[A-Za-z]{3,}(?![^-_.])")


def _slug_words(segment: str) -> list[re.Match[str]]:
    """The words of a path segment such as `history-of-jazz-piano.html`: no numbers, initials or identifiers."""
    return [match for match in _SLUG_WORD.finditer(segment) if match[0].lower() not in _IDLE]


def _other_slug(segment: str, rng: Random) -> str:
    """Without one of its words, or with two that change places."""
    words = _slug_words(segment)
    if rng.random() < 0.5 and len(words) > 3:
        gone = rng.choice(words[1:])
        return segment[: gone.start() - 1] + segment[gone.end() :]
    one, two = sorted(rng.sample(words, 2), key=lambda match: match.start())
    return segment[: one.start()] + two[0] + segment[one.end() : two.start()] + one[0] + segment[two.end() :]


def _other_digits(digits: str, rng: Random) -> str:
    """Other digits; a year, month or day stays one."""
    if re.fullmatch(r"(?:19|20)\d\d", digits):
        return str(rng.choice([year for year in range(2008, 2025) if year != int(digits)]))
    if dated := re.fullmatch(r"((?:19|20)\d\d)(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])?", digits):
        number = rng.choice([n for n in range(1, 13 if dated[3] is None else 29) if n != int(digits[-2:])])
        return f"{digits[:-2]}{number:02d}"
    if len(digits) == 2:
        return f"{rng.choice([n for n in range(1, 13) if n != int(digits)]):02d}"
    places = list(digits)
    for at in rng.sample(range(1, len(places)), min(2, len(places) - 1)):
        places[at] = rng.choice([digit for digit in "0123456789" if digit != places[at]])
    return "".join(places)


def slug(words: Sequence[str], rng: Random) -> str:
    """A path segment of two to five of `words`."""
    latin = [word.lower() for word in words if _WORDS.fullmatch(word) and word.lower() not in _IDLE]
    if len(latin) < 2:
        return f"{rng.choice(('article', 'detail', 'report', 'view', 'content', 'info'))}-{rng.randrange(10**4, 10**7)}"
    start = rng.randrange(max(1, len(latin) - 4))
    return "-".join(dict.fromkeys(latin[start : start + rng.randrange(2, 6)]))


def latin_words(text: str) -> list[str]:
    """The Latin words of a text, in order."""
    return [word for word in _WORDS.findall(text) if word.lower() not in _IDLE]


def invented(topic: str, words: Sequence[str], chinese: bool, taken: Collection[str], rng: Random) -> tuple[str, str]:
    """Title and address of a source that does not exist, on a site that does not exist, about `topic`."""
    title = fill(rng.choice(list(templates("sources", chinese, "titles"))), rng, topic=topic, Topic=headline(topic))
    listed = [word.lower() for word in words if _WORDS.fullmatch(word) and 3 < len(word) < 12 and word.lower() not in _IDLE]
    for _ in range(_TRIES):
        pair = rng.sample(listed, 2) if len(set(listed)) > 2 else [rng.choice(_SITE_WORDS), rng.choice(_SITE_WORDS)]
        host = fill(rng.choice(list(templates("sources", chinese, "hosts"))), rng, one=pair[0], two=pair[1])
        path = fill(
            rng.choice(list(templates("sources", chinese, "paths"))), rng,
            slug=slug(words, rng), year=str(rng.randrange(2014, 2025)), number=str(rng.randrange(1200, 98000)),
        )  # fmt: skip
        url = f"https://{host}/{path}"
        if pair[0] != pair[1] and normalize_url(url) not in taken:
            break
    return re.sub(r"(?<=[a-z]) (The|A|An) (?=\S)", lambda match: match[0].lower(), title), url


_SITE_WORDS = ("policy", "data", "insight", "market", "applied", "global", "open", "modern", "regional", "academic", "social")


def headline(topic: str) -> str:
    """A topic in title case, as journals print it; Chinese and words with capitals of their own stay."""
    small = {"and", "of", "in", "the", "for", "to", "on", "a", "an", "with", "by"}
    parts = topic.split(" ")
    return " ".join(
        part if not part.islower() or (part in small and at) else part[:1].upper() + part[1:] for at, part in enumerate(parts)
    )
