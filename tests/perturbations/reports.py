"""Reports for these tests: small ones of our own, and the real ones where they are given."""

from __future__ import annotations

import asyncio
import json
from functools import lru_cache
from itertools import zip_longest
from pathlib import Path
from typing import Any

from dreambench.config.options import load_option
from dreambench.documents import Document, parse_document
from dreambench.language.text import guess_language
from dreambench.perturbations import Perturbation, Perturbed, arms
from dreambench.records import Report, Task

REAL = ("odr/gpt-5.jsonl", "odr/gpt-4.1.jsonl", "odr/claude4-sonnet.jsonl", "drb/claude-3-7-sonnet.jsonl")

ENGLISH = """# Solar Heating in Northern Towns

## Introduction

This report looks at solar heating in northern towns. Solar heating is widely used in Denmark. However, many towns still burn
oil.

## Large Collector Fields

Collector fields in Denmark covered 1,200,000 square metres in 2019 [1]. The largest field is near Silkeborg and supplies 20%
of the
town's heat [2]. Costs fell from $310 to $240 per square metre between 2012 and 2018 [1][3].

- **Storage:** Pit storage keeps heat for 6 months and may reduce losses [2].
- **Yield:** Most fields deliver 450 kWh per square metre a year [3].

## Heat Pumps

Heat pumps increased the share of renewable heat in Sweden to 69% in 2020 [3]. In 2021, sales rose by 35 percent. Higher
demand is
associated with rising gas prices; installers were short of staff in most regions [1].

## District Networks

Old networks lose 30% of their heat, and new networks lose only 8% [2]. Engineers utilize sensors in order to find leaks [1].
The
networks are known as the backbone of heat supply in Finland [3].

## Conclusion

Solar heating remains important, and storage decides how far it can go [2].

## Sources

[1] Collector fields of the north: https://example.org/fields/2019/collector-fields-report
[2] Storage and networks: https://example.com/articles/48213
[3] Heat statistics - Nordic Energy: https://www.example.net/data/heat-statistics.html
"""

CHINESE = """# 北方城镇太阳能供暖研究

## 一、引言

本报告讨论北方城镇的太阳能供暖问题。太阳能供暖在丹麦得到广泛应用，但许多城镇仍然使用燃油。

## 二、大型集热场

2019年丹麦的集热场面积达到120万平方米，占全球总量的70%[1]。集热场的成本由每平方米310美元下降到240美元，主要得益于规模化生产[2]。
与此同时，储热设施的建设显著增加，多数城镇已经建成季节性储热池[3]。

- **储热**：地下储热池可以保存热量6个月，有助于减少热量损失[2]。
- **产量**：多数集热场每年每平方米产热450千瓦时[3]。

## 三、热泵应用

2020年热泵使瑞典可再生热能的比重提高到69%[3]。随着天然气价格上涨，热泵销量在2021年增长了35%；安装人员在多数地区明显短缺[1]。

## 四、区域管网

老旧管网的热损失高达30%，新建管网的热损失只有8%[2]。工程师对管网进行检测，从而及时发现泄漏点[1]。

## 五、结论

太阳能供暖依然重要，储热能力决定了它的发展空间[2]。

## 参考文献

[1] 北方集热场调查: https://example.org/fields/2019/12345.html
[2] 储热与管网: https://example.com/articles/48213
[3] 供热统计年鉴: https://www.example.net/data/heat-statistics.html
"""

SMALL = {"english": ENGLISH, "chinese": CHINESE}

FLAWS = (
    "factual_injection", "malformed_reasoning", "outdated_cutoff", "citation_swap", "citation_strip", "dead_links",
    "fabricated_sources", "omission", "contradiction", "prompt_injection",
)  # fmt: skip
PLACEBOS = (
    "reorder_sections", "rephrase", "heading_style", "citation_style", "whitespace_markup", "neutral_padding", "synonyms",
)  # fmt: skip


def arm(kind: str, **keys: Any) -> Perturbation:
    """The option `kind` with some keys set."""
    (made,) = arms({kind: {**load_option("perturbation", kind, "test"), **keys}})
    return made


def perturbed(perturbation: Perturbation, text: str, **given: Any) -> Perturbed:
    """One report changed; the task has no date."""
    task = given.pop("task", Task("t", "How is heat made?", "test"))
    report = Report(task.id, "agent", text)
    return asyncio.run(perturbation.apply(task, report, given.pop("document", None) or parse_document(text), **given))


@lru_cache(maxsize=2)
def _rows(folder: Path) -> dict[str, list[tuple[Task, Report]]]:
    """All real reports by language, the agents' in turn."""
    found: dict[str, list[tuple[Task, Report]]] = {"en": [], "zh": []}
    by_agent = [[json.loads(line) for line in (folder / name).open(encoding="utf-8")] for name in REAL]
    for rows in zip_longest(*by_agent):
        for name, row in zip(REAL, rows, strict=True):
            if row is not None:
                task = Task(str(row["id"]), row["prompt"], name)
                found[guess_language(row["article"])].append((task, Report(task.id, name, row["article"])))
    return found


@lru_cache(maxsize=96)
def _parsed(folder: Path, language: str, number: int) -> tuple[Task, Report, Document]:
    task, report = _rows(folder)[language][number]
    return task, report, parse_document(report.text)


def real_reports(folder: Path, each: int, part: int = 0) -> list[tuple[Task, Report, Document]]:
    """`each` real English and as many Chinese reports of all agents, parsed; every `part` has other ones."""
    return [
        _parsed(folder, language, (part * each + number) % len(rows))
        for language, rows in _rows(folder).items()
        for number in range(each)
    ]
