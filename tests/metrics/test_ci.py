"""Citation Integrity: the worked example, degenerate reports, several pages per claim, tools off, and the data set's CI."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml

from dreambench.config.locations import bundled
from dreambench.config.nodes import build
from dreambench.engine.cell import Cell
from dreambench.engine.journal import Journal
from dreambench.errors import ConfigError, ProviderError
from dreambench.judges.kinds import Context
from dreambench.judges.panel import PanelJudge
from dreambench.judges.rubric import Rubric
from dreambench.metrics.aggregation import dataset_scores, report_values
from dreambench.metrics.ci import CitationIntegrity
from dreambench.records import Judgment, Status
from dreambench.tools.results import Visit
from dreambench.tools.toolset import CorpusTools, NoTools
from tests.support import measuring
from tests.support.gateway import TestGateway
from tests.support.scripted_judge import ScriptedJudge
from tests.support.workflow import SHELF, Answers, corpus, page

NODE = yaml.safe_load((bundled("conf") / "metric" / "ci.yaml").read_text(encoding="utf-8"))
CITED = ["supported"] * 8 + ["partially_supported"] * 4 + ["neutral"] * 2 + ["contradicted"] * 2 + ["dead"] * 4
CLAIMS = [f"Bridge {number} opened in {1900 + number}." for number in range(40)]
SENTENCES = [
    f"{claim[:-1]} [here](https://s{number}.example/page)." if number < len(CITED) else claim
    for number, claim in enumerate(CLAIMS)
]
REPORT = "# Bridges\n\n" + "\n\n".join(SENTENCES) + "\n"
PAGES = [page(f"https://s{n}.example/page", f"Bridge {n} has a page.") for n, label in enumerate(CITED) if label != "dead"]
EXAMPLE = Answers(list(zip(CLAIMS, SENTENCES, strict=True)), dict(zip(CLAIMS, CITED, strict=False)))


def metric(tools: NoTools, **keys: Any) -> CitationIntegrity:
    made: CitationIntegrity = build("metric.ci", {**NODE, **keys}, name="ci", shelf=SHELF, tools=tools)
    return made


def judge(gateway: TestGateway, answers: Any) -> ScriptedJudge:
    return ScriptedJudge(name="j", gateway=gateway, script=answers)


def family(rows: list[Judgment], name: str) -> list[Judgment]:
    return [row for row in rows if row.family == name]


@pytest.fixture
def tools(gateway: TestGateway, tmp_path: Path) -> CorpusTools:
    return corpus(gateway, tmp_path, PAGES)


def test_the_worked_example(gateway: TestGateway, tools: CorpusTools) -> None:
    made = metric(tools)
    rows = measuring.judgments(made, REPORT, judge(gateway, EXAMPLE))
    found = measuring.values(made, rows)
    assert found["ca"] == pytest.approx(0.5)
    assert found["cf"] == pytest.approx(0.625)
    assert found["harmonic"] == found["per_task"] == pytest.approx(0.5556, abs=5e-5)
    assert found["cf_strict"] == pytest.approx(0.5)
    assert found["strict"] == pytest.approx(0.5)
    assert found["label_neutral"] == pytest.approx(2 / 20)
    assert {row.reason_code for row in family(rows, "claim") if row.label == "unverifiable"} == {"not_in_corpus"}
    assert [len(family(rows, name)) for name in ("attribution", "citation", "claim", "extraction")] == [40, 20, 20, 1]
    assert len({row.item for row in rows}) == len(rows)


def test_every_row_shows_its_sentence_and_its_page(gateway: TestGateway, tools: CorpusTools) -> None:
    rows = measuring.judgments(metric(tools), REPORT, judge(gateway, EXAMPLE))
    assert [REPORT[row.report_start : row.report_end] for row in family(rows, "attribution")] == SENTENCES
    assert [REPORT[row.report_start : row.report_end] for row in family(rows, "claim")] == SENTENCES[:20]
    supported, dead = family(rows, "claim")[0], family(rows, "claim")[-1]
    assert (supported.evidence[0].url, supported.evidence[0].quote) == ("https://s0.example/page", "Bridge 0 has a")
    assert len(supported.evidence[0].snapshot) == 64 and supported.evidence[0].published == "2024-05-01"
    assert "1 of 1 passages of 1 of 1 page: support: supported" in supported.rationale
    assert [evidence.url for evidence in dead.evidence] == ["https://s19.example/page"]


def test_pages_are_judged_claim_by_claim_but_opened_once(gateway: TestGateway, tmp_path: Path) -> None:
    claims = CLAIMS[:3]
    text = " ".join(
        f"{claim[:-1]} [a](https://one.example/p{fragment})." for claim, fragment in zip(claims, ("", "#x", "/"), strict=True)
    )
    opened = Counted(corpus(gateway, tmp_path, [page("https://one.example/p", "Bridges have pages of their own.")]))
    script = Answers([(claim, claim[:-1]) for claim in claims], dict.fromkeys(claims, "supported"))
    rows = measuring.judgments(metric(opened), text, judge(gateway, script))
    assert len(family(rows, "claim")) == script.times("support") == 3
    assert opened.visits == ["https://one.example/p"]


class Counted(NoTools):
    """Passes on to `inner` and notes what was opened; pages in `failing` raise."""

    def __init__(self, inner: NoTools, failing: str = "") -> None:
        self.inner = inner
        self.failing = failing
        self.visits: list[str] = []

    @property
    def tools(self) -> Any:
        return self.inner.tools

    async def page_visit(self, url: str, as_of: date | None) -> Visit:
        self.visits.append(url)
        if url == self.failing:
            raise ProviderError("slow", code="timeout")
        return await self.inner.page_visit(url, as_of)


FIVE = [f"https://{name}.example/" for name in ("one", "two", "three", "four", "five")]
FIVE_TEXT = "Bridge 0 opened in 1900 " + "".join(f"[{n}]({url})" for n, url in enumerate(FIVE)) + ".\n"


def five(*labels: str) -> Answers:
    return Answers([(CLAIMS[0], CLAIMS[0][:-1])], {(CLAIMS[0], url): label for url, label in zip(FIVE, labels, strict=False)})


def test_of_five_pages_the_best_label_counts_and_all_are_kept(gateway: TestGateway, tmp_path: Path) -> None:
    tools = corpus(gateway, tmp_path, [page(url, f"Page at {url} about bridges.") for url in FIVE[:4]])
    script = five("neutral", "contradicted", "partially_supported", "neutral")
    rows = measuring.judgments(metric(tools), FIVE_TEXT, judge(gateway, script))
    (row,) = family(rows, "claim")
    assert (row.label, row.value) == ("partially_supported", 0.5)
    assert [pair.label for pair in family(rows, "citation")] == [
        "neutral", "contradicted", "partially_supported", "neutral", "unverifiable",
    ]  # fmt: skip
    assert row.evidence[0].url == FIVE[2] and {evidence.url for evidence in row.evidence} == set(FIVE)
    assert row.rationale.startswith("best of 5 pages: ")
    assert sum(pair.cost or 0 for pair in rows) == pytest.approx(0.01 * 5), "extraction and four pages"


@pytest.mark.parametrize(
    ("first", "status", "label"),
    [("supported", Status.SCORED, "supported"), ("contradicted", Status.TOOL_ERROR, "")],
)
def test_trouble_with_one_page_leaves_a_claim_open_unless_it_is_supported(
    gateway: TestGateway, tmp_path: Path, first: str, status: Status, label: str
) -> None:
    tools = Counted(corpus(gateway, tmp_path, [page(url, f"Page at {url}.") for url in FIVE]), failing=FIVE[1])
    made = metric(tools)
    rows = measuring.judgments(made, FIVE_TEXT, judge(gateway, five(first, *["neutral"] * 4)))
    (row,) = family(rows, "claim")
    assert (row.status, row.label) == (status, label)
    assert measuring.values(made, rows)["cf"] == (1.0 if label else None)
    journal, cell = Journal(tmp_path / "journal.jsonl"), Cell("c", "ci", "j", "t", "r", 0, {})
    journal.write_cell(cell, rows)
    assert not journal.is_done(cell), "the page that could not be reached is owed"
    journal.close()


def test_without_citations_cf_and_ci_are_zero(gateway: TestGateway, tools: CorpusTools) -> None:
    made = metric(tools)
    rows = measuring.judgments(made, "\n\n".join(CLAIMS[:3]), judge(gateway, Answers([(c, c) for c in CLAIMS[:3]], {})))
    found = measuring.values(made, rows)
    assert [found[name] for name in ("ca", "cf", "harmonic", "per_task", "cf_strict", "strict")] == [0.0] * 6
    assert "label_supported" not in found, "nothing is cited that could be supported"


def test_a_marker_that_leads_nowhere_is_no_citation(gateway: TestGateway, tools: CorpusTools) -> None:
    text = "Bridge 0 opened in 1900 [7]. Bridge 1 opened in 1901 [1].\n\n## Sources\n\n[1] https://s1.example/page\n"
    script = Answers([(claim, claim[:-1]) for claim in CLAIMS[:2]], dict.fromkeys(CLAIMS[:2], "supported"))
    rows = measuring.judgments(metric(tools), text, judge(gateway, script))
    assert [row.label for row in family(rows, "attribution")] == ["uncited", "cited"]


def test_all_pages_dead_gives_no_cf_and_zero_in_strict(gateway: TestGateway, tmp_path: Path) -> None:
    made = metric(corpus(gateway, tmp_path, [page("https://else.example", "x")]))
    script = Answers(EXAMPLE.claims[:4], {})
    rows = measuring.judgments(made, REPORT, judge(gateway, script))
    found = measuring.values(made, rows)
    assert (found["ca"], found["cf"], found["harmonic"], found["per_task"]) == (1.0, None, None, None)
    assert (found["cf_strict"], found["strict"]) == (0.0, 0.0)
    assert script.times("support") == 0


def test_a_page_that_the_judge_cannot_use_is_unverifiable(gateway: TestGateway, tools: CorpusTools) -> None:
    script = Answers(EXAMPLE.claims[:1], {})
    (row,) = family(measuring.judgments(metric(tools), REPORT, judge(gateway, script)), "claim")
    assert (row.label, row.value, row.reason_code, row.status) == ("unverifiable", None, "unusable", Status.SCORED)


def test_a_report_without_claims_is_not_applicable(gateway: TestGateway, tools: CorpusTools) -> None:
    made = metric(tools)
    rows = measuring.judgments(made, REPORT, judge(gateway, Answers([], {})))
    assert set(measuring.values(made, rows).values()) == {None}
    assert [row.reason_code for row in rows] == ["no_claims", ""]


def test_without_tools_attribution_is_measured_and_nothing_else(gateway: TestGateway) -> None:
    made = metric(NoTools())
    script = Answers(EXAMPLE.claims, {})
    rows = measuring.judgments(made, REPORT, judge(gateway, script))
    found = measuring.values(made, rows)
    assert found["ca"] == 0.5
    assert (found["cf"], found["harmonic"], found["cf_strict"]) == (None, None, None)
    (row,) = family(rows, "claim")
    assert (row.status, row.reason_code) == (Status.NOT_APPLICABLE, "no_tools")
    assert [rubric.name for rubric in made.rubrics()] == ["extract"]
    table = report_values(measuring.item_table(made, rows), [made])
    assert table.filter(pl.col("variant") == "cf")["why"].to_list() == ["no_tools"]
    assert table.filter(pl.col("primary"))["variant"].to_list() == ["ca"], "what was measured leads the tables"
    assert made.rubric_variant == "default+attribution"


def test_one_claim_said_twice_is_one_claim_cited_where_either_is(gateway: TestGateway, tools: CorpusTools) -> None:
    text = "# A\n\nBridge 1 opened in 1901.\n\n# B\n\nThe Bridge 1 opened in 1901 [here](https://s1.example/page).\n"
    given = [(CLAIMS[1], "Bridge 1 opened in 1901."), (f"The {CLAIMS[1]}", "The Bridge 1 opened in 1901")]
    for part_chars in (12000, 40):
        script = Answers(given, {CLAIMS[1]: "supported", f"The {CLAIMS[1]}": "supported"})
        rows = measuring.judgments(metric(tools, part_chars=part_chars, overlap_chars=0), text, judge(gateway, script))
        (attribution,) = family(rows, "attribution")
        assert attribution.label == "cited"
        assert text[attribution.report_start : attribution.report_end] == "Bridge 1 opened in 1901."
        assert family(rows, "claim")[0].label == "supported"
        assert "left out: 1 repeated" in rows[-1].rationale


def test_sentences_can_be_claims_without_asking_anybody(gateway: TestGateway, tools: CorpusTools) -> None:
    text = (
        "# Bridges\n\nThis report is about bridges. The Aar Bridge was opened in 1932 and carries 40,000 cars "
        "[here](https://s1.example/page). It is beautiful. The Rhine Bridge was 503 metres long in 1990 [1].\n\n"
        "## Sources\n\n[1] https://s2.example/page\n"
    )
    seen: list[str] = []

    def script(rubric: Rubric, context: Context, repeat: int) -> dict[str, Any]:
        seen.append(context.claim)  # type: ignore[attr-defined]
        return {"reason": "r", "passage": "", "quote": "", "label": "neutral"}

    made = metric(tools, extraction="sentences")
    rows = measuring.judgments(made, text, judge(gateway, script))
    assert sorted(seen) == [
        "The Aar Bridge was opened in 1932 and carries 40,000 cars here.",
        "The Rhine Bridge was 503 metres long in 1990.",
    ]
    assert measuring.values(made, rows)["ca"] == 1.0
    assert made.rubric_variant == "default+sentences"
    assert [rubric.name for rubric in made.rubrics()] == ["support"]


def test_a_panel_votes_on_each_page(gateway: TestGateway, tools: CorpusTools) -> None:
    def voting(label: str) -> Answers:
        return Answers(EXAMPLE.claims[:1], {CLAIMS[0]: label})

    labels = {"a": "supported", "b": "contradicted", "c": "supported"}
    members = [ScriptedJudge(name=name, gateway=gateway, script=voting(label)) for name, label in labels.items()]
    panel = PanelJudge(name="panel", gateway=gateway, members=members, reduce="majority")
    rows = measuring.judgments(metric(tools), REPORT, panel)
    (row,) = family(rows, "claim")
    assert (row.label, row.value) == ("supported", 1.0)
    assert 'votes: a "supported", b "contradicted", c "supported"' in row.rationale
    assert family(rows, "citation")[0].cost == pytest.approx(0.03)


def table(made: CitationIntegrity, **tasks: list[Judgment]) -> pl.DataFrame:
    return pl.concat(
        [measuring.item_table(made, rows).with_columns(task=pl.lit(t), report=pl.lit(t)) for t, rows in tasks.items()]
    )


def rows_of(cited: int, claims: int, labels: list[str]) -> list[Judgment]:
    """Rows as `measure` makes them, for a report with these counts."""
    attribution = [Judgment(f"a{n}", "attribution", "", float(n < cited)) for n in range(claims)]
    values = {"supported": 1.0, "partially_supported": 0.5, "unverifiable": None}
    return attribution + [Judgment(f"c{n}", "claim", label, values.get(label, 0.0)) for n, label in enumerate(labels)]


def scores(made: CitationIntegrity, items: pl.DataFrame) -> dict[tuple[str, str], dict[str, Any]]:
    found = dataset_scores(report_values(items, [made]), seed=0)
    return {(row["variant"], row["aggregation"]): row for row in found.iter_rows(named=True)}


def test_the_data_sets_ci_is_the_harmonic_mean_of_two_means(tools: CorpusTools) -> None:
    made = metric(tools)
    items = table(
        made,
        one=rows_of(2, 4, ["supported", "supported"]),  # CA .5, CF 1, CI .6667
        two=rows_of(1, 10, ["partially_supported"]),  # CA .1, CF .5, CI .1667
        three=rows_of(0, 5, ["no_cited_claim"]),  # CA 0, CF 0, CI 0
    )
    found = scores(made, items)
    assert found["ca", "macro"]["value"] == pytest.approx(0.2)
    assert found["cf", "macro"]["value"] == pytest.approx(0.5)
    assert found["harmonic", "macro"]["value"] == pytest.approx(2 * 0.2 * 0.5 / 0.7)
    assert found["per_task", "macro"]["value"] == pytest.approx((2 / 3 + 1 / 6) / 3)
    assert found["ca", "micro"]["value"] == pytest.approx(3 / 19)
    assert found["cf", "micro"]["value"] == pytest.approx(2.5 / 4)
    row = found["harmonic", "macro"]
    assert row["primary"] and row["n_tasks"] == 3 and row["interval"] == "t, linearised"
    assert 0 <= row["low"] < row["value"] < row["high"] <= 1
    assert ("harmonic", "micro") not in found


def test_a_task_without_cf_counts_in_ca_alone(tools: CorpusTools) -> None:
    made = metric(tools)
    items = table(made, one=rows_of(2, 4, ["supported", "neutral"]), two=rows_of(4, 4, ["unverifiable"] * 4))
    found = scores(made, items)
    assert found["ca", "macro"]["value"] == pytest.approx(0.75)
    assert found["cf", "macro"]["value"] == pytest.approx(0.5)
    assert found["harmonic", "macro"]["value"] == pytest.approx(0.6)
    assert found["cf", "macro"]["n_excluded"] == 1


def test_reports_without_any_citation_have_a_ci_of_zero(tools: CorpusTools) -> None:
    made = metric(tools)
    items = table(made, one=rows_of(0, 4, ["no_cited_claim"]), two=rows_of(0, 9, ["no_cited_claim"]))
    assert scores(made, items)["harmonic", "macro"]["value"] == 0.0


def test_labels_need_values_and_their_order_is_part_of_the_identity(tools: CorpusTools) -> None:
    with pytest.raises(ConfigError, match=r"metric\.ci\.values\.neutral: is missing"):
        metric(tools, values={"supported": 1, "partially_supported": 0.5, "contradicted": 0, "unverifiable": None})
    other = {name: NODE["values"][name] for name in reversed(NODE["values"])}
    assert metric(tools, values=other).identity() != metric(tools).identity()
    assert metric(tools, limit=3).identity() != metric(tools).identity()
    assert metric(NoTools()).identity() != metric(tools).identity()
