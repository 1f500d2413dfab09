"""Arms from config nodes: axes, compositions, identities, and mistakes said with what to type."""

from __future__ import annotations

from typing import Any

import pytest

from dreambench.config.options import load_option
from dreambench.documents import parse_document
from dreambench.errors import ConfigError
from dreambench.perturbations import arms, replay, revert
from tests.perturbations.reports import ENGLISH, FLAWS, PLACEBOS, SMALL, arm, perturbed


def node(kind: str, **keys: Any) -> dict[str, Any]:
    return {**load_option("perturbation", kind, "test"), **keys}


def test_dose_and_seed_are_axes_of_an_arm() -> None:
    made = arms({"omission": node("omission", dose=[0.0, 0.5], seed=[1, 2])})
    assert [(arm.name, arm.dose, arm.seed) for arm in made] == [
        ("omission[0.0,1]", 0.0, 1),
        ("omission[0.0,2]", 0.0, 2),
        ("omission[0.5,1]", 0.5, 1),
        ("omission[0.5,2]", 0.5, 2),
    ]


@pytest.mark.parametrize("kind", [*FLAWS, *PLACEBOS])
def test_an_identity_names_all_that_changes_the_text(kind: str) -> None:
    base = arm(kind).identity()
    assert base["perturbation"] == kind
    assert arm(kind, dose=0.5).identity() != base
    assert arm(kind, seed=1).identity() != base
    assert arm(kind, author="llm").identity()["rubric"]


def test_settings_are_part_of_the_identity() -> None:
    assert arm("factual_injection", sorts=["dates"]).identity() != arm("factual_injection").identity()
    assert arm("prompt_injection", style="hidden").identity() != arm("prompt_injection").identity()


@pytest.mark.parametrize("language", SMALL)
def test_a_composition_is_one_arm_with_one_log(language: str) -> None:
    text = SMALL[language]
    for seed in range(4):
        steps = ["factual_injection", "citation_style", "reorder_sections", "synonyms"]
        made = arm("compose", steps=steps, dose=0.5, seed=seed)
        done = perturbed(made, text)
        assert [log.kind for log in done.log.steps] == steps
        assert replay(text, done.log) == done.report.text
        assert revert(done.report.text, done.log) == text
        assert done.log.eligible == sum(log.eligible for log in done.log.steps)
        assert done.log.role == "flaw"


def test_a_composition_does_its_steps_in_order() -> None:
    swapped = arm("compose", steps=["citation_style", "citation_strip"])
    assert parse_document(perturbed(swapped, ENGLISH).report.text).citations == ()
    assert perturbed(arm("compose", steps=["synonyms", "rephrase"]), ENGLISH).log.role == "placebo"


def test_a_composition_of_dose_zero_is_the_report_itself() -> None:
    done = perturbed(arm("compose", steps=["omission", "synonyms"], dose=0.0), ENGLISH)
    assert done.report.text == ENGLISH
    assert done.log.edits == ()


def test_keys_of_single_steps() -> None:
    nodes = {"compose": node("compose", steps=["omission", "synonyms"], dose=0.5, keys={"synonyms": {"dose": 0.25}})}
    (made,) = arms(nodes)
    assert [step["dose"] for step in made.identity()["steps"]] == [0.5, 0.25]
    own = {"omission": node("omission", dose=0.75), "compose": node("compose", steps=["omission"], dose=None)}
    assert arms(own)[1].identity()["steps"][0]["dose"] == 0.75


@pytest.mark.parametrize(
    ("nodes", "said"),
    [
        ({"omission": node("omission", dose=1.5)}, "perturbation.omission.dose: 1.5 is out of range"),
        ({"omission": node("omission", seed=-1)}, "perturbation.omission.seed: -1 is negative"),
        ({"omission": node("omission", author="me")}, "perturbation.omission.author"),
        ({"factual_injection": node("factual_injection", sorts=[])}, "sorts: is empty"),
        ({"factual_injection": node("factual_injection", sorts=["colours"])}, "perturbation.factual_injection.sorts"),
        ({"malformed_reasoning": node("malformed_reasoning", flaws=[])}, "flaws: is empty"),
        ({"compose": node("compose", steps=["omisson"])}, "did you mean omission"),
        ({"compose": node("compose", steps=[])}, "names no step"),
        ({"compose": node("compose", steps=["compose"])}, "a composition itself"),
        ({"compose": node("compose", steps=["omission"], keys={"synonyms": {}})}, "no step of this composition"),
        (
            {"compose": node("compose", steps=["omission"], dose=None), "omission": node("omission", dose=[0.5])},
            "list of values",
        ),
        ({"swap_claims": node("swap_claims", path="nowhere.jsonl")}, "is no file"),
    ],
)
def test_mistakes_are_said_with_their_place(nodes: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        arms(nodes)
    assert said in str(caught.value)


def test_all_mistakes_are_said_at_once() -> None:
    with pytest.raises(ConfigError) as caught:
        arms({"omission": node("omission", dose=2), "synonyms": node("synonyms", dose=-1)})
    assert len(caught.value.problems) == 2
