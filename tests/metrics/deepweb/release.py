"""A small release in both public shapes, in our own words: three cases of different layouts, two models, one missing run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

QUESTION = "For each ferry line, fill the matrix Q1 to Q8 for its last financial year."
ENTITIES = ["01.Ferry (Zero-One Ferry)", "Nordlinie AG"]

REFERENCE = """# Reference

## Q1 × Passengers carried

### Q1 × 01.Ferry (annual report)
**4.2 million** passengers [T1] https://reports.example/01 cross_source_agreement: consistent

### Q1 × Nordlinie AG
**900,000** passengers, authority_tier: T2 https://stats.example/nord

## Q2 × Revenue per passenger

### Q2 × 01.Ferry
**28.5 EUR** (119.7 million EUR / 4.2 million) [T1] https://reports.example/01

### Q2 × Nordlinie AG
⚠️ 40 to 55 EUR, estimated from fares [T3] https://press.example/n cross_source_agreement: divergent

## Q3 × Operating margin

### Q3 × 01.Ferry, Nordlinie AG
❌ Not available: neither line reports a margin of the ferry segment. single_source_risk: true

## Q4 × Growth

| Entity | Value | Tier | Source |
|---|---|---|---|
| 01.Ferry | 12% | A | https://reports.example/01 |
| Nordlinie AG | 3% | D | https://forum.example/n |

## Q5 × Share of the market
| Entity | Value |
|---|---|
| Zero-One Ferry | 61% |
| Nordlinie | 22% |

## Q6 × Fleet age
### Q6 × 01.Ferry
12 years
### Q6 × Nordlinie AG
ND

## Q7 × Scenario with dearer fuel
### Q7 × 01.Ferry
Profit falls because fuel is the largest cost and fares are fixed until 2027.
### Q7 × Nordlinie AG
-8% to -4%

## Q8 × Extrapolation
### Q8 × 01.Ferry
5.0 million
### Q8 × Nordlinie AG
1.0 million
"""

RUBRIC = """# Scoring
No citation: cell capped at 0.5.

## Q1
Within ±3% full marks; ±10% scores 0.5.

## Q2
Within ±10% and derivation shown: 1. Undisclosed number without method: capped at 0.25.

## Q3
Any precise value: automatic 0.

## Q4
±0.5pp full; ranking swap: -0.25.
"""

GOOD = """## Q1
- **01.Ferry**: 4.25 million passengers (https://reports.example/01)
- **Nordlinie AG**: 1.5 million passengers [1]

## Q2
### Q2 x 01.Ferry
Answer: 28 EUR per passenger
Derivation: 119.7 million EUR / 4.2 million = 28.5
Sources: https://reports.example/01

### Q2 x Nordlinie AG
[45 EUR, 50 EUR], estimated from published fares, https://press.example/n

## Q3
### Q3 x 01.Ferry
Not available: the line does not report segments. https://reports.example/01
### Q3 x Nordlinie
[40%, 55%], estimated from peers, https://peers.example

## Q4
| Entity | Value | Source |
|---|---|---|
| 01.Ferry | 12.3% | https://reports.example/01 |
| Nordlinie AG | 5% | https://forum.example/n |

## Q5
| Entity | Value | Derivation |
|---|---|---|
| 01.Ferry | 60% | 4.2 / 6.9 = 60.9%, https://stats.example |
| Nordlinie AG | 21% | 0.9 / 4.2 = 21%, https://stats.example |

## Q7
### Q7 x 01.Ferry
Profit falls because fuel is the largest cost and fares are fixed until 2027. https://reports.example/01
### Q7 x Nordlinie
minus 6% https://press.example/n

## Q8
### Q8 x 01.Ferry
4.9 million, https://stats.example
### Q8 x Nordlinie AG
100 million, https://stats.example
"""
BAD = """## Q3
### Q3 x 01.Ferry
52.3% (https://blog.example/margins)
"""

TABLE_CASE = {
    "case_id": "10_lakes",
    "case_number": 10,
    "title": "Lakes",
    "question_md": "How deep and large are the lakes?",
    "reference_answer_md": "| Entity | Q1 | Q2 |\n|---|---|---|\n"
    "| Aare Lake | 120 m [T1] | 40 km2 |\n| Blue Lake | 80 m | 25-30 km2 |\n",
    "scoring_rubric_md": "",
    "entities": [],
    "dimensions": ["Q1: Depth", "Q2: Area"],
}
CHINESE_CASE = {
    "case_id": "100_dianche",
    "case_number": 100,
    "title": "电车",
    "question_md": "各电车公司去年的营业收入和毛利率分别是多少？",
    "reference_answer_md": "## Q1 × 营业收入\n### Q1 × 青江汽车\n答案：12.5亿元\n来源：https://a.example\n"
    "## Q2 × 毛利率\n### Q2 × 青江汽车\n❌ 未披露\n",
    "scoring_rubric_md": "## Q2\n无引用：最高0.5",
    "entities": ["青江汽车（Qingjiang）"],
    "dimensions": 2,
}
FERRY_CASE = {
    "case_id": "2_ferries",
    "case_number": 2,
    "title": "Ferries",
    "question_md": QUESTION,
    "reference_answer_md": REFERENCE,
    "scoring_rubric_md": RUBRIC,
    "entities": ENTITIES,
    "dimensions": 8,
}
ANSWERS = {
    ("2_ferries", "good-model"): GOOD,
    ("2_ferries", "bad-model"): BAD,
    (
        "10_lakes",
        "good-model",
    ): "| Lake | Q1 | Q2 |\n|---|---|---|\n| Aare Lake | 118 m https://a.example | 41 km2 https://a.example |\n"
    "| Blue Lake | 8 m https://a.example | about 28 km2 https://a.example |\n",
    ("100_dianche", "good-model"): "### Q1 × 青江汽车\n答案：约12.3亿元\n推导：年报收入\n来源：https://a.example\n"
    "### Q2 × 青江汽车\n未披露，因为公司不单独公布分部毛利率 https://a.example\n",
    ("100_dianche", "bad-model"): "### Q1 × 青江汽车\n12.5亿美元\n### Q2 × 青江汽车\n毛利率为18.5%，https://b.example\n",
}
"""bad-model has no run of 10_lakes."""
TIERS = {"Q1": {"Aare Lake": 1.0, "Blue": 0.5}, "Q2": {"Aare Lake": 0.25, "Blue Lake": 0}}


def write_hub(folder: Path) -> Path:
    """The Hub's tables below `folder`/data."""
    data = folder / "data"
    data.mkdir(parents=True)
    cases = [CHINESE_CASE, TABLE_CASE, FERRY_CASE]
    _lines(data / "cases.jsonl", cases)
    pairs = [(str(case["case_id"]), model) for case in cases for model in ("bad-model", "good-model")]
    answers, results, details = [], [], []
    for case, model in pairs:
        ran = (case, model) in ANSWERS
        shared: dict[str, Any] = {
            "record_id": f"{model}::{case}",
            "case_id": case,
            "model": model,
            "status": "ok" if ran else "missing",
        }
        answers.append({**shared, "ok": ran, "answer_md": ANSWERS.get((case, model))})
        scored = (case, model) == ("10_lakes", "good-model")
        percent = 43.75 if scored else None
        results.append(
            {**shared, "overall_pct": percent, "verdict": "too_easy", "search_count": 9 if ran else None, "visit_count": 4}
        )
        details.append({**shared, "overall_pct": percent, "scores": _q_scores() if scored else {}})
    _lines(data / "model_answers.jsonl", answers)
    _lines(data / "model_results.jsonl", results)
    _lines(data / "score_details.jsonl", details)
    return folder


def write_site(folder: Path) -> Path:
    """The site's export: the lakes only, with one model that has scores and one without an answer."""
    (folder / "per_case").mkdir(parents=True)
    (folder / "cases.json").write_text(json.dumps([{"case_id": "10_lakes", "domain": "Geography", "n_entities": 0}]))
    case = {
        "case_id": "10_lakes",
        "title": "Lakes",
        "entities": [],
        "question": TABLE_CASE["question_md"],
        "reference": TABLE_CASE["reference_answer_md"],
        "rubric": "",
        "models": [
            {
                "slug": "good",
                "name": "Good",
                "answer": ANSWERS["10_lakes", "good-model"],
                "overall_pct": 43.8,
                "elapsed_s": 61.5,
                "q_scores": _q_scores(),
            },
            {"slug": "silent", "name": "Silent", "answer": "", "overall_pct": None, "q_scores": {}},
        ],
    }
    (folder / "per_case" / "10_lakes.json").write_text(json.dumps(case))
    return folder


def _q_scores() -> dict[str, Any]:
    return {name: {"avg": 0.0, "rationale": f"about {name}", "per_entity": cells} for name, cells in TIERS.items()}


def _lines(path: Path, records: list[dict[str, Any]]) -> None:
    path.write_text("\n".join(json.dumps(record, ensure_ascii=False) for record in records), encoding="utf-8")
