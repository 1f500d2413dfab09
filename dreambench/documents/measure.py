"""Words and language of a text, by rules that hold for English and Chinese alike."""

from __future__ import annotations

import re

_CJK_RANGES = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u3040-\u30ff\uac00-\ud7af\U00020000-\U0003134f"
_CJK = re.compile(f"[{_CJK_RANGES}]+")
_NO_LETTERS = bytes(code for code in range(128) if not chr(code).isalpha())
_WORD = re.compile(f"[{_CJK_RANGES}]|[^\\W_{_CJK_RANGES}]+(?:['’.,-][^\\W_{_CJK_RANGES}]+)*")
_URL = re.compile(r"(?:https?://|www\.)[^\s<>\"()\[\]，。；、）】》]+")
CHINESE_SHARE = 0.2


def count_words(text: str) -> int:
    """Runs of letters and digits, inner `'`, `-`, `.` and `,` included, plus single Chinese, Japanese, Korean characters."""
    return len(_WORD.findall(text))


def strip_urls(text: str) -> str:
    """The text with each http(s) or www address replaced by a space."""
    return _URL.sub(" ", text)


def detect_language(text: str) -> str:
    """`zh` when Chinese characters make up at least a fifth of all letters (URLs left out), else `en`."""
    chinese = 0 if text.isascii() else sum(map(len, _CJK.findall(text)))
    if chinese == 0:
        return "en"
    latin = _count_latin(text)
    if chinese < CHINESE_SHARE * (chinese + latin) and chinese * 20 > latin:
        latin = _count_latin(strip_urls(text))
    return "zh" if chinese >= CHINESE_SHARE * (chinese + latin) else "en"


def _count_latin(text: str) -> int:
    return len(text.encode("ascii", "ignore").translate(None, _NO_LETTERS))
