"""Reads DeepWeb-Bench's public shapes into matrix tasks, answers and released scores.

Hub: a folder with `cases.jsonl` and, where there, `model_results.jsonl`, `model_answers.jsonl`, `score_details.jsonl`
(in it or in `data/`). Site: a folder with `per_case/<case_id>.json` and, where there, `cases.json` (for the domains).
Typed cells in `cells.jsonl` (the fields of `ReferenceCell`, plus `case_id`) win over what the Markdown says.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from dreambench.datasets.files import rows, text
from dreambench.datasets.problems import Problems
from dreambench.datasets.rows import Row
from dreambench.metrics.deepweb.cells import headed_entities
from dreambench.metrics.deepweb.model import Dimension, Family, MatrixTask, ReferenceCell, ReleasedRun
from dreambench.metrics.deepweb.names import EntityNames
from dreambench.metrics.deepweb.reference import read_reference
from dreambench.metrics.deepweb.rules import read_rules

DEFAULT_DIMENSIONS = 8
_SEPARATED = re.compile(r"\s*[;；|\n]\s*|,\s+(?=[A-Z\u4e00-\u9fff0-9])")


@dataclass
class Answered:
    """One model's answer to one case, and where it was read."""

    case: str
    model: str
    text: str
    place: str


@dataclass
class Release:
    """All that was read. `released` holds the published scores by (case, model); a run may have one and no answer."""

    tasks: dict[str, MatrixTask] = field(default_factory=dict)
    places: dict[str, str] = field(default_factory=dict)
    answers: list[Answered] = field(default_factory=list)
    released: dict[tuple[str, str], ReleasedRun] = field(default_factory=dict)

    def sort(self) -> None:
        """Cases by number: as texts, 100_ comes before 10_."""
        ordered = sorted(self.tasks.values(), key=lambda task: (task.number, task.id))
        self.tasks = {task.id: task for task in ordered}


def read_release(folder: Path, problems: Problems) -> Release:
    """The release in `folder`, whichever of the two shapes it has."""
    release = Release()
    hub = next((place for place in (folder, folder / "data") if (place / "cases.jsonl").is_file()), None)
    site = next((place for place in (folder, folder / "data") if (place / "per_case").is_dir()), None)
    if hub is not None:
        _read_hub(hub, release, problems)
    elif site is not None:
        _read_site(site, release, problems)
    else:
        problems.add("dataset.path", None, f"{folder} is no release", ["a folder with cases.jsonl", "a folder with per_case/"])
    for place in (folder, folder / "data"):
        if (place / "cells.jsonl").is_file():
            _read_cells(place / "cells.jsonl", release, problems)
    release.sort()
    return release


def _read_hub(folder: Path, release: Release, problems: Problems) -> None:
    scores = _by_run(folder / "score_details.jsonl", problems)
    results = _by_run(folder / "model_results.jsonl", problems)
    for key in dict.fromkeys([*results, *scores]):
        release.released[key] = _released({**results.get(key, {}), **scores.get(key, {})})
    for row in rows(folder / "cases.jsonl", problems):
        case = row.identifier("case_id", problems)
        question = row.text("question_md", problems)
        if case is None or question is None:
            continue
        scored = next((run.tiers for (id_, _), run in release.released.items() if id_ == case and run.tiers), {})
        _add(
            release,
            row.values,
            case,
            question,
            row.label("reference_answer_md"),
            row.label("scoring_rubric_md"),
            scored,
            row.place,
        )
    if (folder / "model_answers.jsonl").is_file():
        read_answers(folder / "model_answers.jsonl", release, problems)


def read_answers(path: Path, release: Release, problems: Problems) -> None:
    """Adds the answers of a file in the shape of `model_answers.jsonl`; rows without a text are runs without an answer."""
    for row in rows(path, problems):
        case, model = row.identifier("case_id", problems), row.text("model", problems)
        answer = row.values.get("answer_md")
        if case is not None and model is not None and isinstance(answer, str) and answer.strip():
            release.answers.append(Answered(case, model, answer, row.place))


def _by_run(path: Path, problems: Problems) -> dict[tuple[str, str], dict[str, Any]]:
    if not path.is_file():
        return {}
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for row in rows(path, problems):
        case, model = row.identifier("case_id", problems), row.text("model", problems)
        if case is not None and model is not None:
            found[case, model] = dict(row.values)
    return found


def _read_site(folder: Path, release: Release, problems: Problems) -> None:
    listed = {str(case.get("case_id")): case for case in _json(folder / "cases.json", problems) or [] if isinstance(case, dict)}
    for path in sorted((folder / "per_case").glob("*.json")):
        case = _json(path, problems)
        if not isinstance(case, dict) or not isinstance(case.get("question"), str):
            problems.add(
                path,
                None,
                "is no case: it needs the texts case_id and question",
                ["case_id, question, reference, rubric, models"],
            )
            continue
        name = str(case.get("case_id") or path.stem)
        values = {**listed.get(name, {}), **{key: value for key, value in case.items() if value not in (None, "", [])}}
        models = [model for model in case.get("models") or [] if isinstance(model, dict)]
        runs = {str(model.get("slug") or model.get("name")): _released(model) for model in models}
        scored = next((run.tiers for run in runs.values() if run.tiers), {})
        _add(
            release,
            values,
            name,
            case["question"],
            str(case.get("reference") or ""),
            str(case.get("rubric") or ""),
            scored,
            str(path),
        )
        for (slug, run), model in zip(runs.items(), models, strict=True):
            release.released[name, slug] = run
            if isinstance(model.get("answer"), str) and model["answer"].strip():
                release.answers.append(Answered(name, slug, model["answer"], str(path)))


def _json(path: Path, problems: Problems) -> Any:
    content = text(path, problems) if path.is_file() else None
    if content is None:
        return None
    try:
        return json.loads(content)
    except ValueError as error:
        problems.add(path, None, f"is not JSON: {error}")
        return None


def _add(
    release: Release,
    values: Mapping[str, Any],
    case: str,
    question: str,
    reference: str,
    rubric: str,
    scored: Mapping[str, Mapping[str, Any]],
    place: str,
) -> None:
    dimensions = read_dimensions(values.get("dimensions"), scored)
    entities = read_entities(values.get("entities"), scored) or tuple(headed_entities(reference, dimensions))
    rules = read_rules(rubric, dimensions, entities)
    number = values.get("case_number")
    leading = re.match(r"\d+", case)
    release.tasks[case] = MatrixTask(
        id=case,
        number=int(number) if isinstance(number, int | float) else int(leading[0]) if leading else 0,
        title=str(values.get("title") or ""),
        domain=str(values.get("domain") or ""),
        question=question,
        entities=entities,
        dimensions=dimensions,
        cells=read_reference(reference, dimensions, entities, rules),
        reference_md=reference,
        rubric_md=rubric,
    )
    release.places[case] = place


def read_dimensions(value: Any, scored: Mapping[str, Any]) -> tuple[Dimension, ...]:
    """Dimensions from a list of names or objects, a count, a JSON text of these, or the score keys; else Q1 to Q8."""
    value = _parsed(value)
    if isinstance(value, int) and value > 0:
        return tuple(Dimension(id=f"Q{number}") for number in range(1, value + 1))
    if isinstance(value, dict):
        value = [{"id": key, **(each if isinstance(each, dict) else {"name": str(each)})} for key, each in value.items()]
    if isinstance(value, list) and value:
        return tuple(_dimension(each, number) for number, each in enumerate(value, 1))
    ids = sorted(scored, key=lambda name: (len(name), name))
    return tuple(Dimension(id=name) for name in ids or [f"Q{number}" for number in range(1, DEFAULT_DIMENSIONS + 1)])


def _dimension(value: Any, number: int) -> Dimension:
    if isinstance(value, dict):
        given = str(value.get("id") or value.get("key") or f"Q{number}")
        name = str(value.get("name") or value.get("title") or value.get("label") or "")
        family = str(value.get("family") or value.get("capability") or "").lower()
        known = {each.value for each in Family}
        return Dimension(id=given, name=name, family=Family(family) if family in known else None)
    code = re.match(r"\s*([QD]\d{1,2})\s*[:：.\-–—]*\s*", str(value))
    return Dimension(id=code[1] if code else f"Q{number}", name=str(value)[code.end() if code else 0 :].strip())


def read_entities(value: Any, scored: Mapping[str, Mapping[str, Any]]) -> tuple[str, ...]:
    """Entities from a list of names or objects or one text of them; an empty list is filled from the score keys."""
    value = _parsed(value)
    if isinstance(value, str):
        value = [part for part in _SEPARATED.split(value) if part.strip()]
    names = [str(each.get("name") or each.get("id") or "") if isinstance(each, dict) else str(each) for each in value or []]
    found = tuple(dict.fromkeys(name.strip() for name in names if name.strip()))
    return found or _distinct(dict.fromkeys(name for cells in scored.values() for name in cells))


def _distinct(names: Iterable[str]) -> tuple[str, ...]:
    """Score keys with other spellings of one entity taken together, under the longest."""
    found: list[str] = []
    for name in names:
        same = EntityNames(found).find(name)
        if same is None:
            found.append(name)
        elif len(name) > len(same):
            found[found.index(same)] = name
    return tuple(found)


def _parsed(value: Any) -> Any:
    if isinstance(value, str) and value.strip()[:1] in ("[", "{"):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return int(value) if isinstance(value, str) and value.strip().isdigit() else value


def _released(values: Mapping[str, Any]) -> ReleasedRun:
    scores = values.get("q_scores") or values.get("scores") or {}
    scores = scores.get("q_scores", scores) if isinstance(scores, dict) else {}
    cells = {
        name: q["per_entity"] for name, q in scores.items() if isinstance(q, dict) and isinstance(q.get("per_entity"), dict)
    }
    return ReleasedRun(
        status=str(values.get("status") or ""),
        overall_pct=_number(values.get("overall_pct")),
        verdict=str(values.get("verdict") or ""),
        searches=_whole(values.get("search_count")),
        visits=_whole(values.get("visit_count")),
        seconds=_number(values.get("elapsed_s")),
        tiers={name: {entity: _number(tier) for entity, tier in each.items()} for name, each in cells.items()},
        rationales={name: str(q.get("rationale") or "") for name, q in scores.items() if isinstance(q, dict)},
    )


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _whole(value: Any) -> int | None:
    found = _number(value)
    return None if found is None else int(found)


def _read_cells(path: Path, release: Release, problems: Problems) -> None:
    typed: dict[str, list[ReferenceCell]] = {}
    for row in rows(path, problems):
        case = row.identifier("case_id", problems)
        task = release.tasks.get(case or "")
        if task is None:
            problems.add(path, row.line, f"belongs to the case {case!r}, which is not there", list(release.tasks)[:5])
        elif cell := _typed(row, task, problems):
            typed.setdefault(task.id, []).append(cell)
    for case, cells in typed.items():
        task = release.tasks[case]
        merged = {**task.by_key(), **{cell.key: cell for cell in cells}}
        release.tasks[case] = task.model_copy(update={"cells": tuple(merged[key] for key in task.cell_keys() if key in merged)})


def _typed(row: Row, task: MatrixTask, problems: Problems) -> ReferenceCell | None:
    values = {key: value for key, value in row.values.items() if key != "case_id"}
    entity = EntityNames(task.entities).find(str(values.get("entity", "")))
    if entity is None or values.get("dimension") not in {dimension.id for dimension in task.dimensions}:
        problems.add(row.path, row.line, "is no cell of its case's matrix", [dimension.id for dimension in task.dimensions])
        return None
    before = task.by_key().get((str(values["dimension"]), entity))
    try:
        return ReferenceCell.model_validate({"rule": before.rule if before else {}, **values, "entity": entity})
    except ValidationError as error:
        for item in error.errors(include_url=False):
            place = ".".join(str(part) for part in item["loc"])
            problems.add(
                row.path, row.line, f"{place}: {item['msg'].lower()}, got {item['input']!r}", list(ReferenceCell.model_fields)
            )
        return None


def released_tiers(task: MatrixTask, run: ReleasedRun) -> dict[tuple[str, str], float | None]:
    """The published tier of each cell of the matrix, entity keys matched by alias; cells without one are not there."""
    names = EntityNames(task.entities)
    ids = {dimension.id for dimension in task.dimensions}
    return {
        (dimension, entity): tier
        for dimension, cells in run.tiers.items()
        if dimension in ids
        for name, tier in cells.items()
        if (entity := names.find(name))
    }


def unmatched(task: MatrixTask, runs: Sequence[ReleasedRun]) -> Iterator[str]:
    """Entity names of published scores that mean no entity of the case."""
    names = EntityNames(task.entities)
    seen = dict.fromkeys(name for run in runs for cells in run.tiers.values() for name in cells)
    yield from (name for name in seen if names.find(name) is None)
