"""A study is checked before a run: its name, and what it reads beside the run."""

import pytest

from dreambench.config.studies import check_study
from dreambench.errors import InputError


def test_no_study_and_no_inputs_are_fine() -> None:
    check_study(None, {})


def test_a_wrong_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(InputError, match="did you mean backbone_sweep"):
        check_study("backbone_swep", {})


def test_inputs_that_nobody_reads_are_refused() -> None:
    with pytest.raises(InputError, match="no study is asked for"):
        check_study(None, {"sheets": ["a.csv"]})
    with pytest.raises(InputError, match="reads nothing but its run"):
        check_study("backbone_sweep", {"sheets": ["a.csv"]})
