"""Human agreement: do judges say what people say of the same items, and do people agree with each other?

Reads a finished run and the sheets that people filled (`sample`, `study_inputs.sheets`). Writes `agreement` (per metric,
judge and rater: accuracy and kappa for labels; difference, distance and rank correlation for scores), `strata` (the same
by stratum), `raters` (Krippendorff's alpha and pairwise kappa), `base_rates`, a figure and `findings.md`.

Units were drawn more densely in small strata; accuracy, kappa, differences and base rates are weighted by the size of a
stratum over its labelled units. A stratum without a label has no weight that could stand for it: it is left out and named.
With several raters `majority` is the label that most of them gave; ties are left out.

Without sheets a judge of the run (`stand_in`) fills one for the others: every table is then made, named after that judge, and
says nothing of people.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from dreambench.errors import ConfigError, Problem
from dreambench.labelling.labels import Key, join_labels, read_key, read_sheets
from dreambench.labelling.sampling import draw
from dreambench.labelling.sheet import write_sheets
from dreambench.reporting.finished import FinishedRun
from dreambench.reporting.rebuild import load_dataset, rebuild_metrics
from dreambench.stats.agreement import Kappa, cohens_kappa
from dreambench.stats.ranks import correlation
from dreambench.stats.raters import krippendorffs_alpha
from dreambench.stats.stratified import stratified_mean, stratum_weights
from dreambench.studies.findings import write_findings
from dreambench.studies.outputs import new_figure, write_figure, write_table

MAJORITY = "majority"
STAND_IN_UNITS = 200
AGREEMENT: dict[str, Any] = {
    **dict.fromkeys(("metric", "judge", "rater", "answer"), pl.String),
    "n": pl.Int64,
    **dict.fromkeys(("accuracy", "accuracy_low", "accuracy_high", "kappa", "kappa_low", "kappa_high", "by_chance"), pl.Float64),
    **dict.fromkeys(("difference", "difference_low", "difference_high", "distance", "spearman"), pl.Float64),
    "note": pl.String,
}


def check(inputs: Mapping[str, Any]) -> None:
    """Raises ConfigError, before anything is bought, where there are no sheets, nor a judge, or a named file is not there."""
    sheets, judges = (list(inputs.get(name) or []) for name in ("sheets", "judges"))
    if not sheets and (inputs.get("stand_in") not in judges or len(judges) < 2):
        what = "human_agreement compares judges with people and needs their labels"
        allowed = ["CSV files that raters saved from the sheet.html of python -m dreambench sample RUN --blind"]
        raise ConfigError(Problem("study_inputs.sheets", what, allowed, "study_inputs.sheets=[labels_1.csv,labels_2.csv]"))
    named = {f"study_inputs.sheets[{at}]": path for at, path in enumerate(sheets)}
    if inputs.get("key"):
        named["study_inputs.key"] = inputs["key"]
    if missing := [Problem(where, f"{path} is no file") for where, path in named.items() if not Path(path).is_file()]:
        raise ConfigError(*missing)


def make(run: FinishedRun) -> Sequence[Path]:
    """All files of the study. Raises ConfigError where the sample's key is not found, LabelError for bad sheets."""
    people = [Path(path) for path in run.inputs.get("sheets") or []]
    stand_in = None if people else str(run.inputs["stand_in"])
    key = read_key(sampled(run, stand_in) if stand_in else _key_path(run))
    labels = read_sheets(people or [filled(run, key, str(stand_in))], key)
    joined = join_labels(with_majority(labels, key), key, run.judgments.filter(pl.col("judge").ne_missing(stand_in)))
    if joined.is_empty():
        raise ConfigError(Problem("study_inputs.sheets", "no labelled unit was judged in this run: is the key of another run?"))
    agreement, rates = judge_agreement(joined, key)
    raters = rater_agreement(labels, key, seed=0)
    folder = run.output
    return [
        *write_table(agreement, folder, "agreement"),
        *write_table(by_stratum(joined, key), folder, "strata"),
        *write_table(raters, folder, "raters"),
        *write_table(rates, folder, "base_rates"),
        *_draw(agreement, folder),
        write_findings(
            run,
            "A judge in a person's place: no human agreement" if stand_in else "Human agreement",
            [*_stand_in_lines(stand_in), *_finding_lines(agreement, raters, rates, labels)],
        ),
    ]


def sampled(run: FinishedRun, stand_in: str) -> Path:
    """The key of a blind sample of the run, by the labels of the first of its other judges."""
    judge = next(name for name in run.inputs["judges"] if name != stand_in)
    sample = draw(run, load_dataset(run), rebuild_metrics(run), n=STAND_IN_UNITS, by=["metric", "label"], judge=judge, seed=0)
    *_, key = write_sheets(sample, str(run.summary["run"]), run.output / "stand_in", blind=True)
    return key


def filled(run: FinishedRun, key: Key, stand_in: str) -> Path:
    """The sheet as the judge `stand_in` fills it: its label, or its score of 100, of each unit that it judged."""
    nobody = key.units.select("id", rater=pl.lit(stand_in), label=pl.lit(None, pl.String), note=pl.lit(""))
    said = join_labels(nobody, key, run.judgments.filter(pl.col("judge") == stand_in))
    score = (100 * pl.col("judge_value")).round(2).cast(pl.String)
    label = pl.when("score").then(score).otherwise("judge_label")
    path = run.output / "stand_in" / "filled_by_a_judge.csv"
    rows = said.select("id", rater=pl.lit(f"{stand_in} (a judge)"), label=label, note=pl.lit(""))
    rows.write_csv(path)
    return path


def _stand_in_lines(stand_in: str | None) -> list[str]:
    if stand_in is None:
        return []
    what = f"No person labelled anything here: the judge {stand_in} filled the sheet that people would fill."
    return [f"{what} The numbers say how far two judges agree and nothing of people.", ""]


def _key_path(run: FinishedRun) -> Path:
    """The named key, else the one beside this run or beside the same run under another name (without its study)."""
    if run.inputs.get("key"):
        return Path(run.inputs["key"])
    root = run.folder.root
    found = sorted(root.parent.glob(f"*-{run.summary['run']}/labels/key.json"))
    if not found:
        what = f"no labels/key.json lies in a folder of run {run.summary['run']}"
        raise ConfigError(Problem("study_inputs.key", what, ["the key.json that sample wrote"], "study_inputs.key=key.json"))
    return found[0]


def with_majority(labels: pl.DataFrame, key: Key) -> pl.DataFrame:
    """The labels and a row `majority` per unit that at least two raters labelled without a tie; scores have none."""
    rows = []
    scored = key.units.filter(pl.col("score"))["id"].to_list()
    for (unit,), part in labels.filter(~pl.col("id").is_in(scored)).drop_nulls("label").group_by("id", maintain_order=True):
        counted = Counter(part["label"].to_list()).most_common()
        if part.height > 1 and (len(counted) == 1 or counted[0][1] > counted[1][1]):
            rows.append({"id": unit, "rater": MAJORITY, "label": counted[0][0], "note": ""})
    return pl.concat([labels, pl.DataFrame(rows, schema=labels.schema)])


def judge_agreement(joined: pl.DataFrame, key: Key) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Rows of AGREEMENT, and the base rates (metric, judge, rater, label, judge_rate, human_rate)."""
    rows, rates = [], []
    for (metric, judge, rater), part in _groups(joined, "metric", "judge", "rater"):
        names = {"metric": metric, "judge": judge, "rater": rater}
        told = part.drop_nulls("label")
        if told.is_empty():
            continue
        for (score,), units in told.group_by("score", maintain_order=True):
            values, kappa = _scores(units, key) if score else _labels(units, key)
            rows.append({**dict.fromkeys(AGREEMENT), **names, "answer": "score" if score else "label", **values})
            if kappa is not None:
                shown = kappa.rates.rename({"a": "judge_rate", "b": "human_rate"})
                rates += [{**names, **rate} for rate in shown.iter_rows(named=True)]
    schema = {**dict.fromkeys(("metric", "judge", "rater", "label"), pl.String), "judge_rate": pl.Float64}
    return (
        _rounded(pl.DataFrame(rows, schema=AGREEMENT)),
        _rounded(pl.DataFrame(rates, schema={**schema, "human_rate": pl.Float64})),
    )


def _labels(units: pl.DataFrame, key: Key) -> tuple[dict[str, Any], Kappa]:
    """Accuracy and kappa of labels, weighted, clustered by task."""
    population, note = _population(units, key)
    weights = stratum_weights(units["stratum"], population)
    kappa = cohens_kappa(units["judge_label"], units["label"], clusters=units["task"], sample_weights=weights)
    same = units.with_columns(value=(pl.col("judge_label") == pl.col("label")).cast(pl.Float64))
    right = stratified_mean(same, population)
    notes = [note, f"accuracy: {right.reason}" if right.reason else "", f"kappa: {kappa.reason}" if kappa.reason else ""]
    values = {
        "n": units.height,
        "accuracy": right.value,
        "accuracy_low": _cut(right.low),
        "accuracy_high": _cut(right.high),
        "kappa": kappa.value,
        "kappa_low": kappa.low,
        "kappa_high": kappa.high,
        "by_chance": kappa.expected,
        "note": "; ".join(one for one in notes if one),
    }
    return values, kappa


def _scores(units: pl.DataFrame, key: Key) -> tuple[dict[str, Any], None]:
    """Judge minus human and its absolute value, weighted, in [0, 1]; Spearman's rho of the drawn units, unweighted."""
    population, note = _population(units, key)
    apart = units.with_columns(value=pl.col("judge_value") - pl.col("score_label"))
    mean = stratified_mean(apart, population)
    distance = stratified_mean(apart.with_columns(pl.col("value").abs()), population)
    rank = correlation(units["judge_value"], units["score_label"])
    notes = [note, f"difference: {mean.reason}" if mean.reason else "", f"spearman: {rank.reason}" if rank.reason else ""]
    values = {
        "n": units.height,
        "difference": mean.value,
        "difference_low": mean.low,
        "difference_high": mean.high,
        "distance": distance.value,
        "spearman": rank.effect,
        "note": "; ".join(one for one in notes if one),
    }
    return values, None


def _population(units: pl.DataFrame, key: Key) -> tuple[dict[Any, float], str]:
    """Sizes of the strata that these units cover, and which strata of their metric they do not."""
    covered = set(units["stratum"])
    of_metric = set(key.units.filter(pl.col("metric") == units["metric"][0])["stratum"])
    missing = sorted(of_metric - covered)
    note = f"says nothing of strata without a label: {', '.join(missing)}" if missing else ""
    return {name: float(key.population[name]) for name in covered}, note


def by_stratum(joined: pl.DataFrame, key: Key) -> pl.DataFrame:
    """Per judge, rater and stratum: how often both say the same, of units where a label was asked for."""
    told = joined.filter(~pl.col("score")).drop_nulls("label")
    rows = []
    for (judge, rater, stratum), part in _groups(told, "judge", "rater", "stratum"):
        kappa = cohens_kappa(part["judge_label"], part["label"], clusters=part["task"])
        rows.append(
            {
                "judge": judge,
                "rater": rater,
                "stratum": stratum,
                "population": key.population[str(stratum)],
                "n": part.height,
                "agreement": kappa.observed,
                "kappa": kappa.value,
                "note": kappa.reason or "",
            }
        )
    names = dict.fromkeys(("judge", "rater", "stratum"), pl.String)
    numbers = {"population": pl.Int64, "n": pl.Int64, "agreement": pl.Float64, "kappa": pl.Float64}
    return _rounded(pl.DataFrame(rows, schema={**names, **numbers, "note": pl.String}))


def rater_agreement(labels: pl.DataFrame, key: Key, *, seed: int) -> pl.DataFrame:
    """Per metric: Krippendorff's alpha over all raters (unweighted), and weighted kappa for every pair of them."""
    joined = labels.join(key.units.select("id", "metric", "task", "stratum", "score"), on="id")
    rows = []
    for (metric, score), part in _groups(joined, "metric", "score"):
        raters = part["rater"].unique().sort().to_list()
        wide = part.pivot(on="rater", index=["id", "task", "stratum"], values="label").sort("id")
        scale = "interval" if score else "nominal"
        units = [[_read(label, bool(score)) for label in row] for row in wide.select(raters).iter_rows()]
        alpha = krippendorffs_alpha(units, seed=seed, scale=scale, clusters=wide["task"])
        rows.append(_rater_row(metric, "all", f"alpha, {scale}", alpha.value, alpha.low, alpha.high, alpha.n, alpha.reason))
        for a, b in itertools.combinations(raters, 2) if not score else ():
            both = wide.drop_nulls([a, b])
            weights = stratum_weights(both["stratum"], {name: key.population[name] for name in set(both["stratum"])})
            kappa = cohens_kappa(both[a], both[b], clusters=both["task"], sample_weights=weights)
            rows.append(
                _rater_row(metric, f"{a} / {b}", "kappa, weighted", kappa.value, kappa.low, kappa.high, kappa.n, kappa.reason)
            )
    schema = dict.fromkeys(("metric", "raters", "coefficient"), pl.String) | dict.fromkeys(("value", "low", "high"), pl.Float64)
    return _rounded(pl.DataFrame(rows, schema={**schema, "n": pl.Int64, "note": pl.String}))


def _rater_row(metric: object, raters: str, coefficient: str, *values: Any) -> dict[str, Any]:
    names = ("metric", "raters", "coefficient", "value", "low", "high", "n", "note")
    return dict(zip(names, (metric, raters, coefficient, *values), strict=True))


def _read(label: str | None, score: bool) -> str | float | None:
    return None if label is None else float(label) if score else label


def _groups(table: pl.DataFrame, *by: str) -> Iterable[tuple[tuple[object, ...], pl.DataFrame]]:
    return table.sort(*by, "id").group_by(*by, maintain_order=True)


def _cut(share: float | None) -> float | None:
    return None if share is None else min(1.0, max(0.0, share))


def _rounded(table: pl.DataFrame) -> pl.DataFrame:
    return table.with_columns(pl.col(pl.Float64).round(4))


def _draw(agreement: pl.DataFrame, folder: Path) -> list[Path]:
    """Accuracy with its interval and kappa, per metric, judge and rater; metrics with scores have no place in it."""
    rows = agreement.filter(pl.col("answer") == "label").sort("metric", "judge", "rater", descending=True)
    names = [f"{row['metric']} · {row['judge']} / {row['rater']}" for row in rows.iter_rows(named=True)]
    figure = new_figure(1, 1, width=7.0, height=1.4 + 0.35 * max(rows.height, 1))
    axes = figure.axes[0]
    for at, row in enumerate(rows.iter_rows(named=True)):
        low, high = (row["accuracy"] if row[side] is None else row[side] for side in ("accuracy_low", "accuracy_high"))
        errors = [[100 * max(0.0, row["accuracy"] - low)], [100 * max(0.0, high - row["accuracy"])]]
        said = "accuracy" if at == 0 else None
        axes.errorbar([100 * row["accuracy"]], [at], xerr=errors, fmt="o", color="C0", capsize=2, label=said)
        if row["kappa"] is not None:
            axes.plot([100 * row["kappa"]], [at], "D", color="C1", markersize=5, label="kappa x100" if at == 0 else None)
    axes.set_yticks(range(len(names)), names)
    axes.set_xlabel("x100, 95 % interval of accuracy, weighted by strata")
    axes.grid(axis="x", linewidth=0.4)
    if names:
        axes.legend(fontsize="small", loc="best")
    return write_figure(figure, folder, "human_agreement")


def _finding_lines(agreement: pl.DataFrame, raters: pl.DataFrame, rates: pl.DataFrame, labels: pl.DataFrame) -> list[str]:
    """Plain sentences made from the tables."""
    people = labels["rater"].unique().sort().to_list()
    lead = f"{labels['id'].n_unique()} units, raters: {', '.join(people)}; "
    return [
        f"{lead}{labels['label'].null_count()} times a rater could not tell.",
        "",
        *(_agreement_line(row, rates) for row in agreement.iter_rows(named=True)),
        "",
        *(_rater_line(row) for row in raters.iter_rows(named=True)),
    ]


def _agreement_line(row: Mapping[str, Any], rates: pl.DataFrame) -> str:
    who = f"- {row['metric']}: {row['judge']} and {row['rater']}"
    note = f" ({row['note']})" if row["note"] else ""
    if row["answer"] == "score":
        side = "higher" if row["difference"] >= 0 else "lower"
        return (
            f"{who} are {100 * row['distance']:.1f} of 100 points apart, the judge {100 * abs(row['difference']):.1f} {side} "
            f"on average, over {row['n']} units{note}."
        )
    here = rates.filter(
        pl.col("metric") == row["metric"], pl.col("judge") == row["judge"], pl.col("rater") == row["rater"]
    ).sort("human_rate", "label", descending=[True, False])
    most = here.row(0, named=True)
    kappa = "undefined" if row["kappa"] is None else f"{row['kappa']:.2f}"
    return (
        f"{who} say the same in {100 * row['accuracy']:.1f} % of units (kappa {kappa}; always saying {most['label']} would be "
        f"right in {100 * most['human_rate']:.1f} %), over {row['n']} units{note}."
    )


def _rater_line(row: Mapping[str, Any]) -> str:
    value = "undefined" if row["value"] is None else f"{row['value']:.2f}"
    note = f" ({row['note']})" if row["note"] else ""
    return f"- {row['metric']}, raters {row['raters']}: {row['coefficient']} {value} over {row['n']} units{note}."
