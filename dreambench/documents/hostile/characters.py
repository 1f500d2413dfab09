"""Characters: those without a shape, look-alikes of Latin letters, and the tokens that models take for structure.

What has a use in a script is kept: joiners between letters of joining scripts and inside emoji, one variation selector
after a visible character, the tags of a subdivision flag.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

_SHAPELESS = (
    "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f"
    "\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff"
)
_FLAG = "\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f"
_JOINED = "\u0590-\u08ff\u0900-\u0dff\u0f00-\u109f\u1780-\u17af\u1800-\u180a\u2190-\u2bff\ufe0f\U0001f000-\U0001faff"
INVISIBLE = re.compile(
    f"(?P<keep>{_FLAG}|(?<=[{_JOINED}])[\u200c\u200d](?=[{_JOINED}])|(?<=[^\\s{_SHAPELESS}])[\ufe00-\ufe0f](?![{_SHAPELESS}])"
    f"|(?<=[{_JOINED}])\ufe0f\u200d(?=[{_JOINED}]))|[{_SHAPELESS}]+"
)
"""A run of shapeless characters; the group `keep` matches uses that are not hiding anything."""
_ANY = re.compile(f"[{_SHAPELESS}]")

_ALIKE = dict(
    zip(
        "аеорсхуіјѕһԁԛԝгтпкмвАВЕКМНОРСТХІЈЅΑΒΕΖΗΙΚΜΝΟΡΤΥΧαορνιτεκυɡıⅼո",
        "aeopcxyijshdqwrtnkmbABEKMHOPCTXIJSABEZHIKMNOPTYXaopvitekugiln",
        strict=True,
    )
)
_TOKEN = re.compile(
    r"<(?=[|｜])|<(?=/?(?:start_of_turn|end_of_turn|bos|eos|system|assistant|user|human|tool_\w+|function_\w+)>)"
    r"|\[(?=/?INST\])|<(?=</?SYS>>)|(?<=[|｜])>|<(?=/?[a-z_]{2,20} [0-9a-f]{4,64}>)",
    re.IGNORECASE,
)


def invisible_spans(text: str) -> list[tuple[int, int]]:
    """Runs of characters without a shape, those with an honest use left out."""
    if not _has_shapeless(text):
        return []
    return [match.span() for match in INVISIBLE.finditer(text) if match["keep"] is None]


def _has_shapeless(text: str) -> bool:
    return not _shapeless().isdisjoint(set(text))


@cache
def _shapeless() -> frozenset[str]:
    return frozenset(char for char in map(chr, (*range(0x10000), *range(0xE0000, 0xE1000))) if _ANY.match(char))


def strip_invisible(text: str) -> str:
    """`text` without characters that have no shape."""
    if not _has_shapeless(text):
        return text
    return INVISIBLE.sub(lambda match: match["keep"] or "", text)


def neutralise(text: str) -> str:
    """`text` as it may stand in a prompt: nothing invisible, and no bracket that opens a chat token or a fence look-alike.

    The bracket is replaced by one that looks alike (`‹`, `›`, `⟦`), so a person still reads the same.
    """
    text = strip_invisible(text)
    if "<" not in text and ">" not in text and "inst]" not in text.lower():  # most texts; the expression is slow on long ones
        return text
    return _TOKEN.sub(lambda match: {"<": "‹", ">": "›", "[": "⟦"}[match[0]], text)


def fold_alike(text: str) -> str:
    """`text` in lower case with look-alikes as Latin letters; every character keeps its offset."""
    if text.isascii():
        return text.lower()
    table = _alike_table()
    folded = text if table.keys().isdisjoint(set(text)) else text.translate({ord(char): to for char, to in table.items()})
    lowered = folded.lower()
    if len(lowered) != len(folded):
        lowered = "".join(low if len(low := char.lower()) == 1 else char for char in folded)
    return lowered


@cache
def _alike_table() -> dict[str, str]:
    """Cyrillic, Greek and Armenian twins, full-width letters, and the mathematical alphabets (by their compatibility form)."""
    table = dict(_ALIKE)
    wide = (*range(0xFF10, 0xFF1A), *range(0xFF21, 0xFF3B), *range(0xFF41, 0xFF5B))
    for code in (*wide, *range(0x1D400, 0x1D800), *range(0x249C, 0x24EA), *range(0x2102, 0x2139)):
        plain = unicodedata.normalize("NFKC", chr(code)).strip("()")
        if len(plain) == 1 and plain.isascii():
            table[chr(code)] = plain
    return table


def _selected(char: str) -> int | None:
    """The byte that a supplementary variation selector stands for where bytes are hidden in selectors."""
    return ord(char) - 0xE0100 + 16 if 0xE0100 <= ord(char) <= 0xE01EF else None


def shown(text: str, most: int = 160) -> str:
    """`text` on one line for people: shapeless characters as `<U+200B>`, tag characters as the letters they stand for."""
    tags = "".join(chr(ord(char) - 0xE0000) for char in text if 0xE0020 <= ord(char) <= 0xE007E)
    said = bytes(byte for char in text if (byte := _selected(char)) is not None).decode("utf-8", "replace")
    plain = _ANY.sub(lambda match: "" if ord(match[0]) >= 0xE0000 else f"<U+{ord(match[0]):04X}>", text)
    line = " ".join(plain.split()) + (f" <tags: {tags}>" if tags else "") + (f" <selectors: {said}>" if said else "")
    line = strip_invisible(line).strip() or f"<U+{ord(text[0]):04X}>"
    return line if len(line) <= most else line[: most - 1] + "…"
