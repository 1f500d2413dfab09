"""report RUN [--json]: the tables of a finished run again, aggregated anew from its judgments.

Thresholds of the run are checked as the run checks them (exit code 100); a run with owed cells is marked and ends with 2.
"""

from __future__ import annotations

from collections.abc import Sequence

from dreambench.commands.exits import Exit
from dreambench.commands.verbs import VerbParser, console, print_json, say


def report(arguments: Sequence[str]) -> int:
    """Prints the tables. Raises ConfigError for what is no finished run, InputError where its metrics are gone."""
    parser = VerbParser("report", __doc__)
    parser.add_argument("run", metavar="RUN", help="a run's folder, its name below outputs/, or the start of its id")
    parser.add_json()
    given = parser.parse_args(list(arguments))
    from dreambench.metrics.aggregation import dataset_scores, report_values
    from dreambench.reporting.finished import open_run
    from dreambench.reporting.rebuild import rebuild_metrics, stored_config
    from dreambench.reporting.tables import print_run
    from dreambench.runs.thresholds import check_thresholds, thresholds_of

    run = open_run(given.run)
    config = stored_config(run)
    metrics = rebuild_metrics(run)
    values = report_values(run.judgments, list(metrics.values()))
    scores = dataset_scores(values, seed=config.seed)
    complete = bool(run.summary["complete"])
    checked = check_thresholds(scores, metrics, thresholds_of(config.metric)) if complete else []
    notes = [f"{name}: {judge['note']}" for name, judge in run.summary["judges"].items() if judge["note"]]
    if not complete:
        notes.insert(0, f"INCOMPLETE: {run.summary['cells']['owed']} cells are owed, the tables cover the others only")
    if not scores.equals(run.scores, null_equal=True):
        notes.append("these scores differ from those that the run stored: metrics or scoring have changed since")
    if given.json:
        print_json({"run": run.summary["run"], "complete": complete, "scores": scores.to_dicts(), "notes": notes})
    else:
        print_run(console(), scores, values, [*notes, *run.summary["findings"]])
        say(*(f"threshold {'reached' if one.passed else 'FAILED'}: {one}" for one in checked))
    if not complete:
        return Exit.INCOMPLETE
    return Exit.DONE if all(one.passed for one in checked) else Exit.BELOW_THRESHOLD
