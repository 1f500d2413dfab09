"""SAFE's arithmetic and files.

With S supported and N not supported facts: P = S / (S + N), R = min(S / K, 1), F1@K = 2PR / (P + R), 0 where S = 0; facts that
are beside the question are ignored. S = 10, N = 8, K = 100 gives .16949 (arXiv 2403.18802). Where only a sample of sentences
was checked, each row weighs (sentences / sentences checked), so that S and N are estimates for the whole report.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import polars as pl

from dreambench.datasets.files import check_exists, text
from dreambench.datasets.problems import Problems
from dreambench.datasets.rows import Row
from dreambench.metrics.gold import Gold, read_gold
from dreambench.metrics.metric import Unit, Variant
from dreambench.records import Judgment, item_id

FACT = "fact"
SUPPORTED, NOT_SUPPORTED, IRRELEVANT = "supported", "not_supported", "irrelevant"
VALUES: Mapping[str, float | None] = {SUPPORTED: 1.0, NOT_SUPPORTED: 0.0, IRRELEVANT: None}
HUMAN = {"S": SUPPORTED, "NS": NOT_SUPPORTED, "IR": IRRELEVANT}
ANNOTATIONS = {"supported": SUPPORTED, "not supported": NOT_SUPPORTED, "irrelevant": IRRELEVANT}


@dataclass(frozen=True, slots=True)
class Fact:
    """A labelled fact of a file; `key` is its place in the answer."""

    key: str
    text: str
    label: str


def f1_at_k(supported: float, not_supported: float, k: float) -> float:
    """F1@K in [0, 1] from counts; 0 where nothing is supported."""
    if supported <= 0:
        return 0.0
    precision, recall = supported / (supported + not_supported), min(supported / k, 1.0)
    return 2 * precision * recall / (precision + recall)


def fact_variants(ks: Sequence[int]) -> list[Variant]:
    """F1 at each K, the first leading; precision, and the numbers of facts by label."""
    weights = {label: pl.col("weight").filter(pl.col("label") == label).sum() for label in VALUES}
    s, n, one = weights[SUPPORTED], weights[NOT_SUPPORTED], pl.lit(1.0)
    precision, only = s / (s + n), pl.col("family") == FACT

    def f1(k: int) -> pl.Expr:
        recall = pl.min_horizontal(s / k, one)
        return pl.when(s > 0).then(2 * precision * recall / (precision + recall)).otherwise(0.0)

    return [
        *(Variant(f"f1@{k}", f1(k), one, complete=True, only=only) for k in ks),
        Variant("precision", s, s + n, micro=True, only=only),
        *(Variant(label, weights[label], one, unit=Unit.COUNT, complete=True, only=only) for label in VALUES),
    ]


def fact_row(task_id: str, fact: Fact) -> Judgment:
    """The row of a fact whose label was saved."""
    item = item_id(task_id, f"{fact.key} {fact.text}")
    return Judgment(item, FACT, fact.label, VALUES[fact.label], rationale=fact.text)


def read_labels(path: Path, key: str) -> Gold[Fact]:
    """Labelled facts of FActScore's JSON lines, or of the JSON file that SAFE's own evaluator writes. Raises DatasetError.

    A record of FActScore without annotations (the model had declined) says nothing, and its report is a missing run.
    """
    problems = Problems()
    check_exists(path, key, problems)
    problems.check()
    if path.suffix.lower() == ".json":
        return _read_safe(path)
    return read_gold(path, key, _human, id_field="topic", query_field="input")


def _human(row: Row, problems: Problems) -> Iterator[Fact]:
    for at, sentence in enumerate(row.values.get("annotations") or []):
        facts = sentence.get("human-atomic-facts") if isinstance(sentence, dict) else None
        for place, fact in enumerate(facts or []):
            label = HUMAN.get(str(fact.get("label"))) if isinstance(fact, dict) else None
            if label is None:
                problems.add(row.path, row.line, f"annotations[{at}]: fact {place} has no label", sorted(HUMAN))
            else:
                yield Fact(f"{at}.{place}", str(fact.get("text") or "").strip(), label)


def _read_safe(path: Path) -> Gold[Fact]:
    problems = Problems()
    found: Gold[Fact] = Gold(path, sha256(path.read_bytes()).hexdigest())
    content = text(path, problems)
    try:
        value: Any = json.loads(content) if content is not None else {}
    except json.JSONDecodeError as error:
        problems.add(path, error.lineno, f"is not JSON: {error.msg} at column {error.colno}")
        value = {"per_prompt_data": []}
    listed = value.get("per_prompt_data") if isinstance(value, dict) else None
    if not isinstance(listed, list):
        problems.add(path, None, "has no list 'per_prompt_data'")
    for number, entry in enumerate(listed or []):
        data = entry.get("side1_posthoc_eval_data") if isinstance(entry, dict) else None
        checked = data.get("checked_statements") if isinstance(data, dict) else None
        if not isinstance(checked, list):
            problems.add(path, None, f"per_prompt_data[{number}] has no side1_posthoc_eval_data.checked_statements")
            continue
        facts = {}
        for place, statement in enumerate(checked):
            label = ANNOTATIONS.get(str(statement.get("annotation")).strip().lower())
            if label is None:
                what = f"per_prompt_data[{number}]: statement {place} has the annotation {statement.get('annotation')!r}"
                problems.add(path, None, what, sorted(ANNOTATIONS))
                continue
            said = statement.get("self_contained_atomic_fact") or statement.get("atomic_fact") or ""
            facts[str(place)] = Fact(str(place), str(said), label)
        found.by_query[str(entry.get("prompt") or "").strip()] = facts
    problems.check()
    return found
