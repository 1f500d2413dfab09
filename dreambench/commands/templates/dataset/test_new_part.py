"""What is read of the example, and what is said of a file that is not as it should be."""

from pathlib import Path

import pytest

from dreambench.errors import DatasetError

from my_parts.new_part import NewPart

ANSWERS = Path(__file__).parent / "new_part_answers.jsonl"


def test_two_tasks_and_two_agents_are_read() -> None:
    data = NewPart(path=str(ANSWERS)).load()
    assert [task.id for task in data.tasks] == ["mile", "fathom"]
    assert len(data.reports) == 4 and set(data.agents) == {"first", "second"}


def test_a_missing_field_is_named_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_text('{"task": "mile", "prompt": "How long?", "model": "first", "anser": "Long."}\n', encoding="utf-8")
    with pytest.raises(DatasetError, match="has no field 'answer'; did you mean 'anser'") as caught:
        NewPart(path=str(path)).load()
    assert "answers.jsonl:1" in str(caught.value)
