"""Perturbations of real reports: how long they take, whether every promise holds, and what they write.

DREAMBENCH_DATA=FOLDER python -m bench.perturb                  100 reports at five doses, every rule-based kind, timed
DREAMBENCH_DATA=FOLDER python -m bench.perturb check            every kind on every report: log, dose, seed, placebos
DREAMBENCH_DATA=FOLDER python -m bench.perturb read KIND [N] [SEED]   N edits (default 30) in context, half of them Chinese
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dreambench.config.locations import bundled
from dreambench.config.options import load_option
from dreambench.documents import Document, parse_document
from dreambench.language.text import guess_language
from dreambench.perturbations import Perturbation, Perturbed, arms, replay, revert
from dreambench.records import Report, Task

DOSES = [0.0, 0.25, 0.5, 0.75, 1.0]
REPORTS = 100
FILES = ("odr/gpt-5.jsonl", "odr/gpt-4.1.jsonl", "odr/claude4-sonnet.jsonl", "drb/claude-3-7-sonnet.jsonl")
TARGET = 60.0
AROUND = 90


def load(folder: Path, count: int | None = None) -> list[tuple[Task, Report]]:
    """The first reports of each file, as many of each; all of them without a count."""
    found = []
    for name in FILES:
        with (folder / name).open(encoding="utf-8") as lines:
            rows: list[dict[str, Any]] = [json.loads(line) for line in lines]
        rows = rows[: count // len(FILES)] if count else rows
        found += [(Task(str(row["id"]), row["prompt"], name), Report(str(row["id"]), name, row["article"])) for row in rows]
    return found


def kinds() -> list[str]:
    """Every kind but compositions, which repeat others."""
    return sorted(path.stem for path in (bundled("conf") / "perturbation").glob("*.yaml") if path.stem != "compose")


def made(reports: list[tuple[Task, Report]], **keys: Any) -> dict[str, list[Perturbation]]:
    """The arms of every kind with these keys; swapped claims are sentences of the reports themselves."""
    with tempfile.TemporaryDirectory() as scratch:
        nodes = {kind: {**load_option("perturbation", kind, "bench"), **keys} for kind in kinds()}
        nodes["swap_claims"]["path"] = str(_pairs(reports, Path(scratch)))
        return {kind: arms({kind: node}) for kind, node in nodes.items()}


def _pairs(reports: list[tuple[Task, Report]], scratch: Path) -> Path:
    """A claim of each report (its longest sentence in the middle) with a false variant, as `swap_claims` takes them."""
    lines = []
    for number, (_, report) in enumerate(reports):
        document = parse_document(report.text)
        words = [document.text[s.span.start : s.span.end] for s in document.sentences if document.in_body(s.span)]
        middle = words[len(words) // 3 : 2 * len(words) // 3] or words
        claim = max(middle, key=len, default="a")
        false = "事实恰恰相反。" if guess_language(report.text) == "zh" else "The opposite is the case."
        lines.append(json.dumps({"true": claim, "false": false, "source": f"https://example.org/{number}"}))
    path = scratch / "pairs.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


@dataclass
class Tally:
    """What one kind took and did."""

    seconds: float = 0.0
    edits: int = 0
    empty: int = 0
    changed: int = 0
    faults: list[str] = field(default_factory=list)


async def _work(kinds_made: dict[str, list[Perturbation]], reports: list[tuple[Task, Report]]) -> dict[str, Tally]:
    """Report by report, as a run does it, so that the kinds share a report's sentences."""
    tallies = {kind: Tally() for kind in ["(parsing)", *kinds_made]}
    for task, report in reports:
        started = time.perf_counter()
        document = parse_document(report.text)
        tallies["(parsing)"].seconds += time.perf_counter() - started
        for kind, kind_arms in kinds_made.items():
            started = time.perf_counter()
            logs = [(await arm.apply(task, report, document)).log for arm in kind_arms]
            tally = tallies[kind]
            tally.seconds += time.perf_counter() - started
            tally.edits += sum(len(log.edits) for log in logs)
            tally.empty += logs[0].eligible == 0
    return tallies


def timed(folder: Path) -> None:
    """Prints how long every kind takes."""
    reports = load(folder, REPORTS)
    tallies = asyncio.run(_work(made(reports, dose=DOSES), reports))
    print(f"{len(reports)} reports at doses {DOSES}")
    print(f"{'kind':<22}{'seconds':>9}{'ms a report and dose':>22}{'edits':>9}{'reports without a unit':>25}")
    for kind, tally in tallies.items():
        each = 1000 * tally.seconds / len(reports) / len(DOSES)
        print(f"{kind:<22}{tally.seconds:>9.2f}{each:>22.2f}{tally.edits:>9}{tally.empty:>25}")
    total = sum(tally.seconds for tally in tallies.values())
    print(f"{'all':<22}{total:>9.2f}   target: under {TARGET:.0f} s, {'met' if total < TARGET else 'missed'}")


async def _applied(kind_arms: list[Perturbation], task: Task, report: Report, document: Document) -> list[Perturbed]:
    return [await arm.apply(task, report, document) for arm in kind_arms]


def _checked(kinds_made: dict[str, list[Perturbation]], reports: list[tuple[Task, Report]]) -> dict[str, Tally]:
    from tests.perturbations.reports import PLACEBOS
    from tests.perturbations.test_placebos import check as same_statements

    tallies = {kind: Tally() for kind in kinds_made}
    for number, (task, report) in enumerate(reports):
        document = parse_document(report.text)
        for kind, kind_arms in kinds_made.items():
            tally = tallies[kind]
            done = asyncio.run(_applied(kind_arms, task, report, document))
            tally.edits += sum(len(one.log.edits) for one in done)
            tally.empty += done[0].log.eligible == 0
            tally.changed += done[-1].log.changed
            faults = _faults(report, kind_arms, done)
            if (
                number % 10 == 0
                and asyncio.run(_applied(kind_arms[2:3], task, report, parse_document(report.text))) != done[2:3]
            ):
                faults.append("the same seed gives another text")
            if kind in PLACEBOS:
                try:
                    same_statements(kind, report.text, seed=0)
                except AssertionError as error:
                    faults.append(str(error).partition("\n")[0] or "says something else")
            tally.faults += [f"{report.agent} {report.id}: {fault}" for fault in faults]
    return tallies


def _faults(report: Report, kind_arms: list[Perturbation], done: list[Perturbed]) -> list[str]:
    """What is broken of: nothing outside the log, the dose within a unit, no change at dose 0, doses inside each other."""
    faults = []
    smaller: set[int] = set()
    for arm, one in zip(kind_arms, done, strict=True):
        log, units = one.log, {edit.unit for edit in one.log.edits}
        if replay(report.text, log) != one.report.text or revert(one.report.text, log) != report.text:
            faults.append(f"dose {arm.dose}: the log does not replay")
        if abs(log.changed - arm.dose * log.eligible) > 1 or log.changed != len(units):
            faults.append(f"dose {arm.dose}: {log.changed} of {log.eligible} units changed")
        if arm.dose == 0 and one.report.text != report.text:
            faults.append("dose 0 changes the text")
        if not smaller <= units:
            faults.append(f"dose {arm.dose}: units of the smaller dose are missing")
        smaller = units
    return faults


def checked(folder: Path) -> int:
    """Prints what held for every kind on all reports; 1 when something did not."""
    reports = load(folder)
    started = time.perf_counter()
    tallies = _checked(made(reports, dose=DOSES), reports)
    chinese = sum(guess_language(report.text) == "zh" for _, report in reports)
    print(f"{len(reports)} reports ({chinese} Chinese) at doses {DOSES}, {time.perf_counter() - started:.0f} s")
    print(f"{'kind':<22}{'units at dose 1':>17}{'edits':>9}{'without a unit':>16}{'faults':>8}")
    for kind, tally in tallies.items():
        print(f"{kind:<22}{tally.changed:>17}{tally.edits:>9}{tally.empty:>16}{len(tally.faults):>8}")
    for kind, tally in tallies.items():
        for fault in tally.faults[:10]:
            print(f"  {kind}: {fault}")
    return int(any(tally.faults for tally in tallies.values()))


def read(folder: Path, kind: str, count: int, seed: int) -> None:
    """Prints edits of a kind as an editor would read them, one of a report."""
    reports = load(folder)
    (arm,) = made(reports, dose=0.5, seed=seed)[kind]
    rng = random.Random(f"{kind} {seed}")
    rng.shuffle(reports)
    left = {"en": count - count // 2, "zh": count // 2}
    for task, report in reports:
        language = guess_language(report.text)
        if not left[language]:
            continue
        log = asyncio.run(arm.apply(task, report, parse_document(report.text))).log
        if not log.edits:
            continue
        left[language] -= 1
        unit = rng.choice(sorted({edit.unit for edit in log.edits}))
        print(f"{language} {report.agent} {report.id}")
        for edit in [edit for edit in log.edits if edit.unit == unit][:4]:
            before = report.text[max(0, edit.before_start - AROUND) : edit.before_start]
            after = report.text[edit.before_end : edit.before_end + AROUND // 2]
            print(f"  {edit.kind}: {before}[-{edit.before}-]{{+{edit.after}+}}{after}".replace("\n", "⏎"))


def main(arguments: list[str]) -> int:
    folder = os.environ.get("DREAMBENCH_DATA")
    if not folder:
        sys.exit("set DREAMBENCH_DATA to the folder with odr/ and drb/")
    what = arguments[0] if arguments else "time"
    if what == "check":
        return checked(Path(folder))
    if what == "read" and len(arguments) > 1 and arguments[1] in kinds():
        numbers = [int(given) for given in arguments[2:4]]
        read(Path(folder), arguments[1], *[*numbers, *[30, 0][len(numbers) :]])
    elif what == "time":
        timed(Path(folder))
    else:
        sys.exit(__doc__)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
