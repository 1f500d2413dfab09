"""A sample as sheets: a CSV, one HTML page that works offline, the reports as text files, and the key that stays with us.

Everything in a sheet but the questions is untrusted text. The page holds its data as JSON and shows it by `textContent`
only, loads nothing, and allows by its own policy no script but its own; cells of the CSV that a spreadsheet would take for
a formula get an apostrophe in front.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import json
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

from dreambench.errors import ConfigError, Problem
from dreambench.labelling.sampling import UNIT, Sample, Unit
from dreambench.runs.folder import write_text

COLUMNS = ("id", "rater", "label", "note", "answers", "query", "item", "excerpt", "evidence", "report")
HIDDEN = ("agent", "judge", "judge_label", "judge_value")
"""Columns that a blind sheet lacks."""
CANNOT_TELL = "cannot_tell"
"""An answer to everything: the unit is seen, and has no label."""
AROUND = 300
"""Characters of the report before and after an item in the CSV; the page has the whole report."""
KEY_FILE = "key.json"
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def write_sheets(sample: Sample, run: str, folder: Path, *, blind: bool) -> list[Path]:
    """Writes the files and returns their paths. Raises ConfigError where another sample lies in `folder`."""
    key = json.dumps(_key(sample, run), ensure_ascii=False, indent=1) + "\n"
    path = folder / KEY_FILE
    if path.is_file() and path.read_text(encoding="utf-8") != key:
        what = "holds the key of another sample, whose labels could not be read without it"
        raise ConfigError(Problem(str(folder), what, ["an empty folder"], "--out OTHER_FOLDER"))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "reports").mkdir(exist_ok=True)
    for report in {unit.report.id: unit.report for unit in sample.units}.values():
        write_text(folder / "reports" / f"{report.id}.md", report.text)
    write_text(path, key)
    write_text(folder / "sheet.csv", as_csv(sample, blind=blind))
    write_text(folder / "sheet.html", as_page(sample, blind=blind))
    return [folder / "sheet.html", folder / "sheet.csv", path]


def _key(sample: Sample, run: str) -> dict[str, Any]:
    """All that joins labels to judgments and weighs them; nothing that a rater should see."""
    return {
        "run": run,
        "judge": sample.judge,
        "by": list(sample.by),
        "seed": sample.seed,
        "strata": {name: {"population": size, "drawn": drawn} for name, (size, drawn) in sample.strata.items()},
        "units": [
            {
                "id": unit.id,
                **{column: unit.row[column] for column in UNIT},
                "task": unit.task.id,
                "agent": unit.report.agent,
                "stratum": unit.stratum,
                "probability": unit.probability,
                "answers": list(unit.answers),
            }
            for unit in sample.units
        ],
    }


def as_csv(sample: Sample, *, blind: bool) -> str:
    """The sheet as CSV, `rater`, `label` and `note` empty."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*COLUMNS, *(() if blind else HIDDEN)])
    for unit in sample.units:
        cells = [
            unit.id,
            "",
            "",
            "",
            " | ".join([*unit.answers, CANNOT_TELL]),
            unit.task.query,
            unit.text,
            _excerpt(unit),
            "\n".join(f"{one['url']} {one['quote']}".strip() for one in _evidence(unit, blind)),
            f"reports/{unit.report.id}.md",
        ]
        shown = () if blind else _hidden(unit).values()
        writer.writerow([_plain_cell(str(cell)) for cell in (*cells, *shown)])
    return out.getvalue()


def _plain_cell(text: str) -> str:
    return f"'{text}" if text.startswith(_FORMULA) else text


def _excerpt(unit: Unit) -> str:
    if unit.span is None:
        return ""
    start, end = unit.span
    return unit.report.text[max(0, start - AROUND) : end + AROUND]


def _evidence(unit: Unit, blind: bool) -> list[dict[str, str]]:
    """Pages with quoted words; of a blind sheet only the protocol's own words, since what a judge quotes tells its verdict."""
    quoted = not blind or unit.row["metric"] == "kic"
    found = {one["url"]: one["quote"] if quoted else "" for one in unit.row["evidence"] or []}
    return [{"url": url, "quote": quote} for url, quote in found.items()]


def _hidden(unit: Unit) -> dict[str, str]:
    value = unit.row["value"]
    label = str(unit.row["label"])
    shown = (unit.report.agent, str(unit.row["judge"]), label, "" if value is None else f"{value:g}")
    return dict(zip(HIDDEN, shown, strict=True))


def as_page(sample: Sample, *, blind: bool) -> str:
    """One HTML page with everything in it: keyboard-driven, saves its labels as CSV."""
    data = {
        "cannotTell": CANNOT_TELL,
        "reports": {unit.report.id: unit.report.text for unit in sample.units},
        "units": [_page_unit(unit, blind) for unit in sample.units],
    }
    folder = Path(__file__).parent
    style, script = ((folder / f"sheet.{ending}").read_text(encoding="utf-8") for ending in ("css", "js"))
    policy = f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; base-uri 'none'"
    page = (folder / "sheet.html").read_text(encoding="utf-8")
    parts = {"POLICY": escape(policy), "STYLE": style, "DATA": _json_for_html(data), "SCRIPT": script}
    for name, text in parts.items():
        before, _, after = page.partition(f"%%{name}%%")
        page = f"{before}{text}{after}"
    return page


def _page_unit(unit: Unit, blind: bool) -> dict[str, Any]:
    return {
        "id": unit.id,
        "query": unit.task.query,
        "text": unit.text,
        "answers": list(unit.answers),
        "score": unit.is_score,
        "report": unit.report.id,
        "span": _utf16_span(unit),
        "evidence": _evidence(unit, blind),
        **({} if blind else {"shown": _hidden(unit)}),
    }


def _utf16_span(unit: Unit) -> list[int] | None:
    """The span as JavaScript counts characters."""
    if unit.span is None:
        return None
    return [len(unit.report.text[:place].encode("utf-16-le", "surrogatepass")) // 2 for place in unit.span]


def _json_for_html(data: Mapping[str, Any]) -> str:
    """JSON that can stand inside a script element: no character of it can end the element or begin a comment."""
    text = json.dumps(data, ensure_ascii=True)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")
