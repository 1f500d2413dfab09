"""compare RUN_A RUN_B ... [--allow KINDS] [--items N] [--json]: what changed between finished runs.

RUN is a run's folder, its name below outputs/, or the start of its id. Every further run is compared with the first:
paired differences of primary scores by task with intervals, config keys, reports and query texts that differ, and items whose
label flipped.
Runs whose protocols, judges, metric definitions or scoring version differ are refused unless --allow names it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dreambench.commands.exits import Exit
from dreambench.commands.verbs import VerbParser, print_json, print_table, say
from dreambench.errors import ConfigError, Problem, nearest

if TYPE_CHECKING:
    import polars as pl

    from dreambench.reporting.comparison import Comparison


def compare(arguments: Sequence[str]) -> int:
    """Compares the first run with each of the others. Raises ConfigError for runs that cannot be compared."""
    parser = VerbParser("compare", __doc__)
    parser.add_argument("runs", metavar="RUN", nargs="+", help="two runs or more; the first is what the others differ from")
    parser.add_argument("--allow", metavar="KINDS", default="", help="differences to accept: protocol,judge,scoring,metric")
    parser.add_argument("--items", metavar="N", type=int, default=20, help="changed items to show (default 20; JSON has all)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables; differences are second minus first")
    given = parser.parse_intermixed_args(list(arguments))
    if len(given.runs) < 2:
        raise ConfigError(
            Problem("compare", "needs two runs or more", type="python -m dreambench compare RUN_A RUN_B (list them: ls runs)")
        )
    from dreambench.reporting import comparison
    from dreambench.reporting.finished import open_run

    allow = _kinds(given.allow, comparison.KINDS)
    first, *others = [open_run(where) for where in given.runs]
    results = [comparison.compare(first, other, allow) for other in others]
    if given.json:
        print_json([_plain(result) for result in results])
        return Exit.DONE
    for result in results:
        _show(result, given.items)
    return Exit.DONE


def _kinds(text: str, known: Sequence[str]) -> list[str]:
    kinds = [kind.strip() for kind in text.split(",") if kind.strip()]
    for kind in kinds:
        if kind not in known:
            near = nearest(kind, known)
            what = f"{kind} is no kind of difference" + (f"; did you mean {near}?" if near else "")
            raise ConfigError(Problem("--allow", what, known, f"--allow {near}" if near else None))
    return kinds


def _show(result: Comparison, most: int) -> None:
    from dreambench.reporting.tables import LEGEND

    say(f"first:  {result.first.folder.root}", f"second: {result.second.folder.root}")
    for kind, lines in result.allowed.items():
        say(f"allowed although {kind} differs: {'; '.join(lines)}")
    say(str(result.reports), *([result.reports.queries_said] if result.reports.queries else []))
    print_table(_score_table(result.scores), "primary scores by task, second minus first (shares x100)")
    say(
        "95 % intervals of the mean difference over tasks; p of the paired t test, adjusted by Holm over the rows",
        f"n: {LEGEND}",
    )
    say(*result.notes)
    if result.config:
        say("config:", *(f"  {one['key']}: {one['first']} -> {one['second']}" for one in result.config))
    else:
        say("config: no key that can change a number differs")
    print_table(result.counts, "items by item hash")
    flips = result.items.filter("flipped")
    if flips.height:
        columns = ["metric", "judge", "agent", "task", "item", "label_first", "label_second"]
        more = f" (the first {most} of {flips.height})" if flips.height > most else ""
        print_table(flips.select(columns).head(most), f"flipped items{more}")
    say(*result.unmatched)


def _score_table(scores: pl.DataFrame) -> pl.DataFrame:
    """The score table as people read it."""
    import polars as pl

    from dreambench.reporting.tables import few_mark, format_interval, format_value

    rows: list[dict[str, Any]] = []
    for row in scores.iter_rows(named=True):
        arm = (
            "" if row["perturbation"] == "clean" else f" · {row['perturbation']} {row['dose']} seed {row['perturbation_seed']}"
        )
        unit = row["unit"]
        change = format_value(row["difference"], unit) + format_interval(row, unit)
        rubric = f" [{row['rubric']}]" if row["rubric"] not in ("", "default") else ""
        rows.append(
            {
                "metric": f"{row['metric']} {row['variant']}{rubric}",
                "judge": row["judge"],
                "agent": row["agent"] + (arm if row["perturbation"] != "clean" else ""),
                "first": format_value(row["first"], unit),
                "second": format_value(row["second"], unit),
                "difference": change,
                "p adj.": None if row["p_adjusted"] is None else f"{row['p_adjusted']:.3g}",
                "n": f"{row['n_tasks']}{few_mark(row['n_tasks'])}",
                "note": row["reason"],
            }
        )
    return pl.DataFrame(rows, schema=None if rows else ["metric", "judge", "agent", "first", "second", "difference"])


def _plain(result: Comparison) -> dict[str, Any]:
    """The comparison as JSON has it; shares are in [0, 1]."""
    return {
        "first": {"run": result.first.summary["run"], "path": str(result.first.folder.root)},
        "second": {"run": result.second.summary["run"], "path": str(result.second.folder.root)},
        "allowed": result.allowed,
        "config": result.config,
        "reports": {
            "compared": None if result.reports.unknown else result.reports.compared,
            "differ": None if result.reports.unknown else result.reports.differ.to_dicts(),
            "other_queries": None if result.reports.unknown else list(result.reports.queries),
        },
        "scores": result.scores.to_dicts(),
        "item_counts": result.counts.to_dicts(),
        "items": result.items.to_dicts(),
        "unmatched": result.unmatched,
        "notes": result.notes,
    }
