"""The metric by the same configuration and engine as a run."""

from pathlib import Path

from dreambench import evaluate

CONF = Path(__file__).parent / "conf"


def test_two_of_four_sentences_hold_a_figure() -> None:
    report = "It opened in 1894. It is long. It has 4 spans. Nobody knows why."
    result = evaluate(report, "How old is the bridge?", ["metric=[new_part]"], config_dirs=[CONF])
    assert result.score("new_part") == 0.5
    assert result.judgments["label"].to_list().count("figure") == 2


def test_an_empty_report_has_no_value() -> None:
    assert evaluate("# Title", "How old?", ["metric=[new_part]"], config_dirs=[CONF]).score("new_part") is None
