"""What imitates the machine's own form: chat-template tokens, message headers, fences, answers as JSON, encoded orders."""

from __future__ import annotations

import base64
import binascii
import html
import json
import re
from collections.abc import Callable, Iterable, Iterator

from dreambench.documents.hostile.braces import closing_braces
from dreambench.documents.hostile.features import Features
from dreambench.documents.hostile.model import Found, Kind

_TOKEN = re.compile(
    r"<[|｜]/?[a-z0-9_▁ ]{2,40}[|｜]>|\[/?INST\]|<</?SYS>>|</?(?:start_of_turn|end_of_turn|bos|eos)>"
    r"|<(?P<tag>/?)(?:system|assistant|system_prompt|system-reminder|instructions)>",
    re.IGNORECASE,
)
_TRAFFIC = re.compile(r"begin_|end_", re.IGNORECASE)  # wrappers of search agents, which `wrappers` reads
_CLOSES = re.compile(r"end|eot|eos|/|<\|(?:return|eom)", re.IGNORECASE)
_FENCE = re.compile(
    r"</?(?P<what>[a-z][a-z_]{1,20}) [0-9a-f]{4,64}>"
    r"|</(?:report|page|passage|result|claim|question|item|source)>"
    r"|(?<![^\n])[ \t>]*+<(?P<opens>report|page|passage|result|claim|question|item|source)>(?=[ \t\r]*+(?:\n|$))",
    re.IGNORECASE,
)
_BOUNDARY = re.compile(
    r"\n[ \t]*+(?P<mark>[-=#*_~<\[]{2,}+)[ \t]*+(?:end|begin|start)(?:ing)?(?: of)?(?: the)? (?:report|document|article|input|"
    r"submission|untrusted \w+|user input|data|text|content)s?\b[^\n]*",
    re.IGNORECASE,
)
_KEY = re.compile(
    r"[\"'](?:(?:overall|final|total)_?)?(?P<key>scores?|verdict|rating|grade|label|answer|authority|judge?ment|tool|name)[\"']\s*:",
    re.I,
)
_COMPANY = re.compile(
    r"[\"'](?:reason(?:ing)?|rationale|explanation|justification|thought|quote|confidence|arguments)[\"']\s*:", re.I
)
_BLOB = re.compile(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{40,}={0,2}|(?<![0-9A-Fa-f])(?:[0-9A-Fa-f]{2} ?){30,}")
_ENTITIES = re.compile(r"(?:&#x?[0-9a-f]{1,6};[ ]?){6,}", re.I)
_PERCENT = re.compile(r"(?<![\w+.,!-])(?:[\w+.,!-]*+%[0-9A-Fa-f]{2}){4,}+[\w+.,!-]*+")
_SPACED = re.compile(r"(?<!\w)(?:[^\W\d_](?:[ .\-·*]| {2,3})){9,}[^\W\d_](?!\w)")
_SQUEEZED = re.compile(
    r"(?:ignore|disregard|forget)(?:all|any|the|your|previous|prior|above)*+(?:instructions?|rubrics?|prompts?|rules)"
    r"|(?:give|assign|award|score|rate|grade)(?:this|the|it|report|with|as(?!core)|an|a|perfect|highest|max(?:imum|imal)?)*+"
    r"(?:marks?|score|10|ten|full)"
)
_DATA = re.compile(r"(?:!?\[[^\]\n]{0,80}\]\()?data:[a-z]+/[a-z0-9.+-]+[^\s,)\"'>]{0,80},[^\s)\"'>]{8,}\)?", re.I)
_UNSHOWN = (
    (
        re.compile(r"\]\([^\s)]*+(?:(?P<link>\s++(?:\"[^\"\n]{8,}+\"|'[^'\n]{8,}+'))\s*+(?P<link_ends>\)))?"),
        ('")', "')", '" ', "' ", '"\n', "'\n"),
    ),
    (
        re.compile(r"!\[(?:(?P<alt>[^\]\n]{8,}+)(?:\](?:\([^)\n]*+(?P<alt_ends>\))?)?)?|[^\]\n]*+)"),
        ("![",),
    ),
    (re.compile(r"^ {0,3}\[[^\]\n]++\]:[ \t]*+\S++[ \t]++[\"'(](?P<title>[^\n]{8,})[\"')][ \t]*$", re.MULTILINE), ("]:",)),
    (
        re.compile(
            r"\b(?:alt|title|aria-label|content|placeholder|summary|data-\w+)\s*=\s*"
            r"(?:\"(?P<double>[^\"<>]{8,}+)\"|'(?P<single>[^'<>]{8,}+)')",
            re.IGNORECASE,
        ),
        ("<",),
    ),
)
_TOKEN_SIGNS = (
    *("<|", "<｜", "[inst", "[/inst", "<<sys", "<</sys", "_turn>", "<bos>", "<eos>"),
    *("<system", "</system", "<assistant", "</assistant", "<instructions", "</instr"),
)
_SPACED_SIGN = re.compile(r" [^\W\d_] [^\W\d_] [^\W\d_] [^\W\d_] ")
_PIECE = re.compile(r"\S++")
_HEX_PAIR = re.compile(r"[0-9a-f]{2}$")
_LONGEST = 4_000
Orders = Callable[[str], bool]
"""Whether a text holds a sentence that a strong rule finds."""


def find_structure(features: Features, orders: Orders) -> list[Found]:
    """All hits of this module's rules."""
    text = features.text
    found = [*_fences(text), *_encoded(features, orders)]
    if any(sign in features.folded for sign in _TOKEN_SIGNS):
        found += _tokens(text)
    if '":' in text or "':" in text or '" :' in text:
        found += _verdicts(text)
    for pattern, signs in _UNSHOWN:
        if any(sign in text for sign in signs):
            found += _unshown(text, pattern, orders)
    return found


def _tokens(text: str) -> Iterator[Found]:
    """From a token to the last one of its group; one that opens a message takes the rest of its paragraph along."""
    until, start, opens = -1, -1, False
    groups: list[tuple[int, int, bool]] = []
    for match in _TOKEN.finditer(text):
        if _TRAFFIC.search(match[0]) or text[match.start() - 1 : match.start()] == text[match.end() : match.end() + 1] == "`":
            continue
        if start >= 0 and match.start() - until > _LONGEST:
            groups.append((start, until, opens))
            start = -1
        start = match.start() if start < 0 else start
        until, opens = match.end(), not _CLOSES.search(match[0])
    if start >= 0:
        groups.append((start, until, opens))
    for begin, end, is_open in groups:
        stop = text.find("\n\n", end) if is_open else end
        yield Found(begin, len(text) if stop < 0 else stop, Kind.CONTROL, "chat tokens")


def _fences(text: str) -> Iterator[Found]:
    if "<" in text:
        first, last = len(text) - len(text.lstrip()), len(text.rstrip())
        for match in _FENCE.finditer(text):
            if match["what"] or (
                match.start() > first or not _wraps_all(text, match["opens"]) if match["opens"] else match.end() < last
            ):
                yield Found(*match.span(), Kind.CONTROL, "fence")
    for match in _BOUNDARY.finditer(f"\n{text}"):
        if set(match["mark"]) - set("#*_") or len(match["mark"]) > 6:
            yield Found(match.start(), match.end() - 1, Kind.CONTROL, "fence")


def _wraps_all(text: str, name: str) -> bool:
    """Whether the closing tag ends a text that begins with the opening one: a wrapper around the whole answer."""
    return text[-_LONGEST:].rstrip().lower().endswith(f"</{name.lower()}>")


def _verdicts(text: str) -> Iterator[Found]:
    """JSON objects that have the keys of a judge's answer, or of a tool call."""
    until, ends = -1, closing_braces(text)
    for match in _KEY.finditer(text):
        if match.start() < until:
            continue
        start = text.rfind("{", max(0, match.start() - 600, until), match.start())
        if start < 0 or (end := ends.get(start, -1)) < match.end() or end - start > _LONGEST:
            continue
        body = text[start:end]
        if _is_answer(body, match["key"].lower()):
            yield Found(start, end, Kind.VERDICT, "answer as JSON")
            until = end


def _is_answer(body: str, key: str) -> bool:
    if _COMPANY.search(body):
        return key not in ("name", "tool") or "arguments" in body
    try:
        record = json.loads(body)
    except (ValueError, RecursionError):  # brackets can be nested deeper than the parser goes
        return False
    return key not in ("name", "tool", "label", "answer") and isinstance(record, dict) and len(record) <= 2


def _encoded(features: Features, orders: Orders) -> Iterator[Found]:
    for start, end, said in _codes(features):
        if said and (orders(said) or _SQUEEZED.search(said)):
            yield Found(start, end, Kind.ENCODED, "decodes to an order", said)


def _codes(features: Features) -> Iterator[tuple[int, int, str]]:
    """Stretches that can be read another way, with what they say then."""
    text = features.text
    whole = ((0, len(text)),)
    for pattern, decode, sign in _IN_PIECES:
        wanted = frozenset(piece for piece in features.long_pieces if sign(piece))
        if wanted:
            places = (match.span() for match in _PIECE.finditer(features.folded) if match[0] in wanted)
            yield from _decoded(pattern, decode, text, places)
    if "&#" in text:
        yield from _decoded(_ENTITIES, html.unescape, text, whole)
    if _SPACED_SIGN.search(text):
        yield from _decoded(_SPACED, _unspaced, text, whole)
    if sum(bool(_HEX_PAIR.match(piece)) for piece in features.pieces) > 9:
        yield from _decoded(_BLOB, _blob, text, whole)


def _decoded(
    pattern: re.Pattern[str], decode: Callable[[str], str], text: str, places: Iterable[tuple[int, int]]
) -> Iterator[tuple[int, int, str]]:
    for start, end in places:
        for match in pattern.finditer(text, start, end):
            yield match.start(), match.end(), decode(match[0])


def _blob(code: str) -> str:
    packed = code.replace(" ", "")
    try:
        if re.fullmatch(r"(?:[0-9A-Fa-f]{2})+", packed):
            return _readable(bytes.fromhex(packed))
        if len(code) < 200 and (code.islower() or code.isupper() or code.isdigit()):
            return ""
        return _readable(
            base64.b64decode(
                code.rstrip("=") + "=" * (-len(code.rstrip("=")) % 4), altchars=b"-_" if set("-_") & set(code) else None
            )
        )
    except (binascii.Error, ValueError):
        return ""


def _readable(data: bytes) -> str:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return ""
    return text if text.isprintable() or all(char.isprintable() or char.isspace() for char in text) else ""


def _unspaced(code: str) -> str:
    """Letters without the gaps between them, in lower case."""
    return re.sub(r"[ .\-·*]+", "", code).lower()


def _percent(code: str) -> str:
    from urllib.parse import unquote_plus

    return unquote_plus(code)


def _data(code: str) -> str:
    head, _, body = code.partition(",")
    body = body.rstrip(")")
    return _blob(body) if ";base64" in head.lower() else _percent(body)


_BLOB_SIGN = re.compile(r"[a-z0-9+/_-]{40}")
_IN_PIECES: tuple[tuple[re.Pattern[str], Callable[[str], str], Callable[[str], object]], ...] = (
    (_BLOB, _blob, _BLOB_SIGN.search),
    (_PERCENT, _percent, lambda piece: piece.count("%") >= 4),
    (_SPACED, _unspaced, lambda piece: "/" not in piece and _SPACED.search(piece)),
    (_DATA, _data, lambda piece: "data:" in piece),
)


def _unshown(text: str, pattern: re.Pattern[str], orders: Orders) -> Iterator[Found]:
    """Titles of links, texts in place of pictures, attributes: words that are not shown, where they hold an order."""
    for match in pattern.finditer(text):
        name = str(match.lastgroup).removesuffix("_ends")
        ends = match.groupdict().get(f"{name}_ends", "")
        if match.lastgroup and ends is not None and orders(match[name]):
            place = match.span() if name == "alt" else match.span(name)
            yield Found(*place, Kind.HIDDEN, "title or alternative text")
