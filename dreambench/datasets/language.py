"""The language of a task, where its source does not say: decided by the share of CJK characters."""

from __future__ import annotations

import re

HAN_SHARE = 0.2
"""Share of Han characters among all letters from which a text counts as Chinese."""

_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f]")
_KANA = re.compile(r"[\u3040-\u30ff]")
_HANGUL = re.compile(r"[\uac00-\ud7af]")
_NAMES = {"chinese": "zh", "中文": "zh", "english": "en", "japanese": "ja", "korean": "ko", "cn": "zh"}


def detect_language(text: str) -> str:
    """`zh`, `ja`, `ko` or, for everything else, `en`."""
    letters = sum(character.isalpha() for character in text)
    if not letters:
        return "en"
    if len(_KANA.findall(text)) / letters > HAN_SHARE / 2:
        return "ja"
    if len(_HANGUL.findall(text)) / letters > HAN_SHARE:
        return "ko"
    return "zh" if len(_HAN.findall(text)) / letters > HAN_SHARE else "en"


def language_code(label: str) -> str:
    """The two-letter code of a label as data sets write it: `zh-CN`, `Chinese`, `EN`."""
    folded = label.strip().casefold()
    return _NAMES.get(folded, re.split(r"[-_]", folded)[0])
