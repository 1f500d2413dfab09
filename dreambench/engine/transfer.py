"""Answers between caches: one file holds a run's calls, one line each, so that it is scored again elsewhere without keys."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dreambench.engine.call import Reply
from dreambench.engine.store import open_text_cache
from dreambench.errors import InputError, Problem

FORMAT = "dreambench answers"
VERSION = 1


def cache_size(folder: Path) -> tuple[int, int]:
    """Answers in a cache, and bytes that its files take; zeros where there is no cache."""
    if not folder.is_dir():
        return 0, 0
    with open_text_cache(folder) as cache:
        answers = len(cache)
    return answers, sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def prune(folder: Path, before: float) -> int:
    """Forgets answers that were stored before `before` (seconds since 1970); returns how many."""
    if not folder.is_dir():
        return 0
    with open_text_cache(folder) as cache:
        rows = cache._sql("SELECT key FROM Cache WHERE store_time < ?", (before,)).fetchall()
        return sum(bool(cache.delete(key)) for (key,) in rows)


def export_answers(keys: Sequence[str], folders: Sequence[Path], file: Path) -> tuple[int, int]:
    """Writes the answers to `keys` (the first folder that has one); returns how many, and how many are in none."""
    caches = [open_text_cache(folder) for folder in folders if folder.is_dir()]
    found: dict[str, str] = {}
    for key in keys:
        for cache in caches:
            if (text := cache.get(key)) is not None:
                found.setdefault(key, text)
    for cache in caches:
        cache.close()
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w", encoding="utf-8") as out:
        out.write(json.dumps({"format": FORMAT, "version": VERSION, "answers": len(found)}) + "\n")
        for key, text in sorted(found.items()):
            out.write(json.dumps({"key": key, "reply": json.loads(text)}, ensure_ascii=True) + "\n")
    return len(found), len(keys) - len(found)


def import_answers(file: Path, folder: Path) -> tuple[int, int, int]:
    """Adds the answers of a file; returns how many were added, were there, and are there with another answer (kept).

    Raises InputError, with nothing added, for a file that is none or is cut short.
    """
    answers = _read(file)
    added = there = other = 0
    with open_text_cache(folder) as cache:
        for key, text in answers.items():
            known = cache.get(key)
            if known is None:
                cache.set(key, text)
                added += 1
            elif known == text:
                there += 1
            else:
                other += 1
    return added, there, other


def _read(file: Path) -> dict[str, str]:
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
        head: Any = json.loads(lines[0]) if lines else {}
    except (OSError, ValueError) as error:
        raise InputError(Problem(str(file), f"cannot be read: {error}", ["a file of cache export"])) from error
    if not isinstance(head, dict) or (head.get("format"), head.get("version")) != (FORMAT, VERSION):
        raise InputError(Problem(f"{file}:1", "is no export of answers", ["a file of cache export"]))
    answers = {}
    for number, line in enumerate(lines[1:], 2):
        try:
            record = json.loads(line)
            answers[str(record["key"])] = Reply.from_json(json.dumps(record["reply"])).to_json()
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(Problem(f"{file}:{number}", f"is no answer: {error}")) from error
    if len(answers) != head.get("answers"):
        what = f"holds {len(answers)} answers and promises {head.get('answers')}: it was cut short"
        raise InputError(Problem(str(file), what, type="export it again"))
    return answers
