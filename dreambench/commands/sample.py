"""sample RUN [--n 200] [--by metric,label] [--blind] [--judge NAME] [--seed 0] [--out FOLDER]: a sheet for people to label.

Draws judged items of a finished run, evenly over strata, and writes sheet.html (one page, works offline, driven by keys,
saves CSV), sheet.csv, the reports, and key.json: chances of being drawn and what joins labels to judgments. Keep the key
from raters. --blind hides agent, judge and the judge's label. Labels come back through +experiment=human_agreement.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dreambench.commands.exits import Exit
from dreambench.commands.verbs import VerbParser, print_json, say
from dreambench.errors import ConfigError, Problem, nearest


def sample(arguments: Sequence[str]) -> int:
    """Draws the sample and writes its sheets. Raises InputError."""
    parser = VerbParser("sample", __doc__)
    parser.add_argument("run", metavar="RUN", help="a run's folder, its name below outputs/, or the start of its id")
    parser.add_argument("--n", type=int, default=200, help="units to draw (default 200)")
    parser.add_argument("--by", default="metric,label", help="columns of the strata (default metric,label)")
    parser.add_argument("--blind", action="store_true", help="hide agent, judge and the judge's label from raters")
    parser.add_argument("--judge", help="whose rows are stratified; needed where a run has several judges")
    parser.add_argument("--seed", type=int, default=0, help="of the draw (default 0)")
    parser.add_argument("--out", metavar="FOLDER", help="where the sheets go (default RUN/labels)")
    parser.add_argument("--json", action="store_true", help="print strata and files as JSON")
    given = parser.parse_intermixed_args(list(arguments))
    if given.n < 1:
        raise ConfigError(Problem(f"--n {given.n}", "is no number of units", ["1 or more"], "--n 200"))
    from dreambench.labelling.sampling import STRATA, draw
    from dreambench.labelling.sheet import write_sheets
    from dreambench.reporting.finished import open_run
    from dreambench.reporting.rebuild import load_dataset, rebuild_metrics

    by = _columns(given.by, STRATA)
    run = open_run(given.run)
    dataset = load_dataset(run)
    drawn = draw(run, dataset, rebuild_metrics(run), n=given.n, by=by, judge=given.judge, seed=given.seed)
    folder = Path(given.out) if given.out else run.folder.root / "labels"
    written = write_sheets(drawn, str(run.summary["run"]), folder, blind=given.blind)
    if given.json:
        strata = {name: {"population": size, "drawn": n} for name, (size, n) in drawn.strata.items()}
        print_json({"strata": strata, "left_out": drawn.left_out, "files": [str(path) for path in written]})
        return Exit.DONE
    say(*(f"{name}: {n} of {size} drawn" for name, (size, n) in drawn.strata.items()))
    say(*(f"left out, people cannot be shown what was asked: {name}: {n}" for name, n in drawn.left_out.items()))
    say(f"{len(drawn.units)} units; strata by {', '.join(by)} of judge {drawn.judge}")
    html, table, key = written
    say(f"for raters: {html} (or {table} with {folder / 'reports'})", f"for you, not for raters: {key}")
    return Exit.DONE


def _columns(text: str, known: Sequence[str]) -> list[str]:
    columns = list(dict.fromkeys(column.strip() for column in text.split(",") if column.strip()))
    for column in columns:
        if column not in known:
            near = nearest(column, known)
            what = f"there are no strata by {column}" + (f"; did you mean {near}?" if near else "")
            raise ConfigError(Problem("--by", what, known, f"--by {near}" if near else None))
    return columns
