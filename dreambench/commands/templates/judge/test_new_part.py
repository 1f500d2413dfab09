"""The judge by the same configuration and engine as a run: it is asked the rubrics of Writing Quality."""

from pathlib import Path

import pytest

from dreambench import evaluate
from dreambench.errors import InputError

CONF = Path(__file__).parent / "conf"
REPORT = "Ten words make a tenth of a hundred, as counted."


def test_a_tenth_of_the_words_is_a_tenth_of_the_scale() -> None:
    overrides = ["judge=[new_part]", "judge.new_part.words=100", "metric=[wq]"]
    assert evaluate(REPORT, "How many?", overrides, config_dirs=[CONF]).score("wq") == pytest.approx(0.1)


def test_what_it_cannot_answer_is_refused_before_the_run() -> None:
    with pytest.raises(InputError, match="it answers no questions of kind"):
        evaluate(REPORT, "How many?", ["judge=[new_part]", "metric=[da]"], config_dirs=[CONF])
