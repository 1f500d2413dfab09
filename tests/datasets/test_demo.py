from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from dreambench.datasets.demo import BUNDLED, DemoDataset
from dreambench.errors import DatasetError

TASK = "id: wages\nquery: How did wages develop?\nas_of: 2025-03-31\ndomain: Economy\nlanguage: en\n"


def test_a_folder_with_the_layout_of_the_demo(write_text, tmp_path: Path):
    write_text("demo/tasks/wages.yaml", TASK)
    write_text("demo/tasks/rent.yaml", "id: rent\nquery: 房租如何变化？\n")
    write_text("demo/reports/good/wages.md", "They rose.")
    write_text("demo/reports/stale/wages.md", "They fell.")
    loader = DemoDataset(folder=str(tmp_path / "demo"))
    dataset = loader.load()
    assert loader.corpus == tmp_path / "demo" / "corpus"
    task = dataset.tasks[0]
    assert (task.id, task.as_of, task.domain, task.language, task.dataset) == (
        "wages",
        date(2025, 3, 31),
        "Economy",
        "en",
        "demo",
    )
    assert dataset.agents == ["good", "stale"]
    assert [finding.code for finding in dataset.findings] == ["unanswered_task"]
    assert [each.language for each in DemoDataset(folder=str(tmp_path / "demo"), tasks="all").load().tasks] == ["zh", "en"]


def test_the_demo_is_bundled_with_the_package():
    assert DemoDataset().root == BUNDLED
    assert BUNDLED.parent.name == "datasets"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("id: wages\nquery: [a\n", "wages.yaml:3: is not YAML: expected ',' or ']', but got '<stream end>' at column 1"),
        ("id: wages\nquery: a\nas_of: 2025-13-45\n", "wages.yaml: is not YAML: month must be in 1..12"),
        ("id: wages\nquery: a\x00b\n", "wages.yaml: is not YAML: unacceptable character #x0000: special characters"),
        ("- 1\n", "wages.yaml: the file: input should be a valid dictionary or instance of taskfile, got [1]"),
        ("id: wages\nqery: a\n", "wages.yaml: has no key 'query'"),
        ("id: wages\nquery: a\nas_of: soon\n", "wages.yaml: as_of: input should be a valid date or datetime"),
        ("id: rent\nquery: a\n", "wages.yaml: has the id 'rent', which is not the file's name"),
    ],
)
def test_a_task_file_that_cannot_be_used_says_why(write_text, tmp_path: Path, content: str, message: str):
    write_text("demo/tasks/wages.yaml", content)
    write_text("demo/reports/good/wages.md", "They rose.")
    with pytest.raises(DatasetError) as caught:
        DemoDataset(folder=str(tmp_path / "demo")).load()
    assert str(caught.value).startswith(f"{tmp_path}/demo/tasks/{message}")


def test_a_misspelt_key_of_a_task_names_the_nearest(write_text, tmp_path: Path):
    write_text("demo/tasks/wages.yaml", TASK.replace("as_of", "as_off"))
    write_text("demo/reports/good/wages.md", "They rose.")
    with pytest.raises(DatasetError) as caught:
        DemoDataset(folder=str(tmp_path / "demo")).load()
    assert str(caught.value) == (
        f"{tmp_path}/demo/tasks/wages.yaml: has no use for the key 'as_off'; did you mean 'as_of'?\n"
        "  allowed: id, query, as_of, domain, language"
    )
