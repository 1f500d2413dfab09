"""Names by alias, cells in every layout, typed references, rules of rubrics."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreambench.metrics.deepweb.cells import find_cells, headed_entities
from dreambench.metrics.deepweb.importer import read_dimensions, read_entities
from dreambench.metrics.deepweb.model import AnswerType, Band, Dimension, Family, Source
from dreambench.metrics.deepweb.names import EntityNames
from dreambench.metrics.deepweb.reference import read_reference
from dreambench.metrics.deepweb.rules import read_rule, read_rules
from dreambench.metrics.deepweb.said import take_apart
from tests.metrics.deepweb.release import ENTITIES, REFERENCE, RUBRIC

LABS = [
    "OpenAI",
    "Google DeepMind",
    "Meta AI",
    "Mistral AI",
    "01.AI (Zero-One AI)",
    "青江汽车（Qingjiang）",
    "Johnson & Johnson",
]
TWO = (Dimension(id="Q1", name="Revenue"), Dimension(id="Q2", name="Margin"))


@pytest.mark.parametrize(
    ("name", "entity"),
    [
        ("01.AI", LABS[4]),
        ("Zero-One AI", LABS[4]),
        ("**01.AI** ", LABS[4]),
        ("Google", LABS[1]),
        ("DeepMind (Google)", LABS[1]),
        ("Google search share", None),
        ("meta ai", LABS[2]),
        ("Mistrall AI", LABS[3]),
        ("青江汽车", LABS[5]),
        ("Qingjiang", LABS[5]),
        ("AI", None),
        ("Anthropic", None),
        ("", None),
    ],
)
def test_a_name_means_one_entity_or_none(name: str, entity: str | None) -> None:
    assert EntityNames(LABS).find(name) == entity


def test_merged_headings_name_several() -> None:
    names = EntityNames(LABS)
    assert names.find_all("OpenAI, Meta AI and Mistral AI") == ["OpenAI", "Meta AI", "Mistral AI"]
    assert names.find_all("OpenAI、青江汽车") == ["OpenAI", LABS[5]]
    assert names.find_all("Johnson & Johnson") == ["Johnson & Johnson"]
    assert EntityNames(["Bank North", "Bank South"]).find("Bank") is None


LAYOUTS = {
    "a heading per cell": "### Q1 × A Co\n5\n### Q1 x B Co (2025)\n6\n### Q2: A Co\n7\n### Q2 – B Co\n8",
    "sections and bullets": "## Q1 Revenue\n- **A Co**: 5\n- B Co - 6\n\n## Q2\n* A Co：7\n* B Co: 8",
    "sections and tables": "## Q1\n| Firm | V |\n|---|---|\n| A Co | 5 |\n| B Co | 6 |\n\n"
    "## Q2\n| V | Firm |\n|---|---|\n| 7 | A Co |\n| 8 | B Co |",
    "entities first": "# A Co\n## Q1\n5\n## Q2\n7\n# B Co\n## Q1\n6\n## Q2\n8",
    "entities with bullets": "# A Co\n- Q1: 5\n- Q2: 7\n# B Co\n- Q1: 6\n- Q2: 8",
    "one table": "| Firm | Q1 | Q2 |\n|---|---|---|\n| A Co | 5 | 7 |\n| B Co | 6 | 8 |",
    "by dimension names": "| Firm | Revenue | Margin |\n|---|---|---|\n| A Co | 5 | 7 |\n| B Co | 6 | 8 |",
    "turned table": "| | A Co | B Co |\n|---|---|---|\n| Q1 | 5 | 6 |\n| Q2 | 7 | 8 |",
    "a row per cell": "| D | Firm | V |\n|---|---|---|\n| Q1 | A Co | 5 |\n"
    "| Q1 | B Co | 6 |\n| Q2 | A Co | 7 |\n| Q2 | B Co | 8 |",
    "json": '```json\n{"Q1": {"A Co": "5", "B Co": "6"}, "Q2": {"A Co": "7", "B Co": 8}}\n```',
    "json rows": '```json\n[{"dimension": "Q1", "entity": "A Co", "answer": 5},'
    ' {"dimension": "Q1", "entity": "B Co", "answer": 6},'
    ' {"dimension": "Q2", "entity": "A Co", "answer": 7}, {"dimension": "Q2", "entity": "B Co", "answer": 8}]\n```',
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_cells_are_found_in_every_layout(layout: str) -> None:
    text = LAYOUTS[layout]
    found = find_cells(text, TWO, ["A Co", "B Co"])
    values = {key: take_apart(cell.text).value.split(":")[-1].strip() for key, cell in found.items()}
    assert values == {("Q1", "A Co"): "5", ("Q1", "B Co"): "6", ("Q2", "A Co"): "7", ("Q2", "B Co"): "8"}
    assert all(0 <= cell.start < cell.end <= len(text) for cell in found.values())
    if layout == "a heading per cell":
        assert {text[cell.start : cell.end] for cell in found.values()} == {"5", "6", "7", "8"}


def test_one_heading_for_several_entities_gives_each_its_cell() -> None:
    found = find_cells("### Q1 × A Co, B Co\nNot available.\n", TWO, ["A Co", "B Co"])
    assert {key: cell.text for key, cell in found.items()} == {
        ("Q1", "A Co"): "Not available.",
        ("Q1", "B Co"): "Not available.",
    }


def test_quarters_are_no_dimensions() -> None:
    text = "### Q1 × A Co\n- Q2 2024: 5\n- 2024 Q2: 6\n- Q2 FY24: 7\n\n"
    text += "| Firm | Q1 2024 | Q2 2024 |\n|---|---|---|\n| A Co | 1 | 2 |\n"
    assert set(find_cells(text, TWO, ["A Co", "B Co"])) == {("Q1", "A Co")}
    bullets = "### Q1 × A Co\n5\n- Q2: not another cell\n"
    assert set(find_cells(bullets, TWO, ["A Co", "B Co"])) == {("Q1", "A Co")}


def test_a_label_in_bold_stays_in_its_cell() -> None:
    found = find_cells("### Q1 × A Co\n**Derivation**\n4 + 1 = 5\n", TWO, ["A Co", "B Co"])
    assert found["Q1", "A Co"].text == "**Derivation**\n4 + 1 = 5"


@given(st.text(max_size=300))
def test_no_text_breaks_the_reader(text: str) -> None:
    for cell in find_cells(f"## Q1 × A Co\n{text}\n| A Co | Q1 |\n|---|---|\n{text}", TWO, ["A Co", "B Co"]).values():
        assert cell.start <= cell.end


def test_a_reference_is_typed() -> None:
    dimensions, entities = read_dimensions(8, {}), read_entities(ENTITIES, {})
    cells = {cell.key: cell for cell in read_reference(REFERENCE, dimensions, entities)}
    one, two = entities
    assert len(cells) == 16
    first = cells["Q1", one]
    assert (first.type, first.answer, first.agreement) == (AnswerType.PRECISE, "4.2 million", "consistent")
    assert first.sources == (Source(url="https://reports.example/01", tier="T1"),)
    assert cells["Q1", two].sources == (Source(url="https://stats.example/nord", tier="T2"),)
    assert (cells["Q2", one].answer, cells["Q2", one].derivation) == ("28.5 EUR", "119.7 million EUR / 4.2 million")
    estimated = cells["Q2", two]
    assert (estimated.type, estimated.agreement, estimated.estimated) == (AnswerType.RANGE, "divergent", True)
    absent = cells["Q3", two]
    assert (absent.type, absent.unverifiable, absent.single_source_risk) == (AnswerType.NOT_AVAILABLE, True, True)
    assert cells["Q4", one].sources == (Source(url="https://reports.example/01", tier="T1"),), "A in a column of tiers is T1"
    assert cells["Q5", two].answer == "22%"
    assert cells["Q6", two].type is AnswerType.NOT_AVAILABLE
    assert cells["Q7", two].type is AnswerType.RANGE


def test_a_rubric_gives_bands_and_modifiers() -> None:
    dimensions, entities = read_dimensions(8, {}), read_entities(ENTITIES, {})
    rules = read_rules(RUBRIC, dimensions, entities)
    one = entities[0]
    assert (rules["Q1", one].full, rules["Q1", one].half) == (Band(relative=0.03), Band(relative=0.1))
    kinds = {name: [(m.action, m.when, m.amount) for m in rules[name, one].modifiers] for name in ("Q2", "Q3", "Q4", "Q5")}
    general = ("cap", "no_citation", 0.5)
    assert kinds == {
        "Q2": [general, ("cap", "no_method", 0.25)],
        "Q3": [general, ("zero", "precise_value", 0.0)],
        "Q4": [general, ("deduct", "other", 0.25)],
        "Q5": [general],
    }
    assert rules["Q4", one].full == Band(points=0.5)


def test_more_forms_of_rules() -> None:
    assert read_rule("±$200M full; 24k-25k disclosed").full == Band(absolute="$200M")
    assert read_rule("24k-25k disclosed").accepted == ("24k-25k",)
    assert read_rule("Three elements, 1/3 each").parts == 3
    assert read_rule("误差不超过5%").full == Band(relative=0.05)
    assert [(m.action, m.when, m.amount) for m in read_rule("无引用：最高0.5").modifiers] == [("cap", "no_citation", 0.5)]
    usual = "Blank cells score 0; a wrong value: automatic 0; right magnitude at most 0.5; tolerance +/-0.5pp; within ±2.5pp"
    assert read_rule(usual).modifiers == ()
    assert [(m.action, m.when) for m in read_rule("Missing the required table: automatic 0").modifiers] == [("zero", "other")]


@pytest.mark.parametrize(
    ("value", "ids", "names"),
    [
        (3, ["Q1", "Q2", "Q3"], ["", "", ""]),
        (["Q1: Revenue", "Margin"], ["Q1", "Q2"], ["Revenue", "Margin"]),
        ('["Revenue"]', ["Q1"], ["Revenue"]),
        ({"Q1": "Revenue"}, ["Q1"], ["Revenue"]),
        ([{"id": "D1", "title": "Revenue"}], ["D1"], ["Revenue"]),
        (None, [f"Q{n}" for n in range(1, 9)], [""] * 8),
    ],
)
def test_dimensions_come_in_many_shapes(value: object, ids: list[str], names: list[str]) -> None:
    found = read_dimensions(value, {})
    assert ([one.id for one in found], [one.name for one in found]) == (ids, names)


def test_a_dimension_may_say_its_family() -> None:
    (found,) = read_dimensions([{"name": "Scenario", "family": "Reasoning"}], {})
    assert found.family is Family.REASONING


def test_entities_are_taken_from_scores_or_headings_where_the_list_is_empty() -> None:
    assert read_entities("A Co; B Co", {}) == ("A Co", "B Co")
    assert read_entities([], {"Q1": {"Blue": 1.0, "Aare Lake": 0}, "Q2": {"Blue Lake": 1}}) == ("Blue Lake", "Aare Lake")
    assert headed_entities("## Q1 × Revenue\n### Q1 × A Co\n5\n### Q1 × B Co, C Co\n6\n", TWO) == ["A Co", "B Co", "C Co"]
