from __future__ import annotations

import pytest

from dreambench.datasets.language import detect_language, language_code


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("What drives migration?", "en"),
        ("调研国内金融机构之间的投资借贷关系", "zh"),
        ("研究下Anthropic最新发布的Streamable HTTP的工程中的具体实现方案", "zh"),
        ("Explain the term 金融 as used by the central bank of the country", "en"),
        ("渡り鳥はどのように方角を知るのか", "ja"),
        ("철새는 어떻게 방향을 아는가", "ko"),
        ("", "en"),
        ("2025: 42 %", "en"),
    ],
)
def test_language_is_decided_by_the_share_of_cjk_letters(text: str, language: str):
    assert detect_language(text) == language


def test_labels_become_codes():
    assert [language_code(label) for label in ("zh-CN", "Chinese", "EN", "en_US", "", "de")] == [
        "zh",
        "zh",
        "en",
        "en",
        "",
        "de",
    ]
