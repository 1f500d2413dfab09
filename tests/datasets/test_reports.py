from __future__ import annotations

from pathlib import Path

import pytest

from dreambench.datasets.reports import ReportsDataset
from dreambench.errors import DatasetError

from .conftest import WriteLines


def shape(folder: str | Path, **keys: object) -> list[tuple[str, str]]:
    dataset = ReportsDataset(reports=str(folder), **keys).load()
    return [(report.task_id, report.agent) for report in dataset.reports]


@pytest.fixture
def folder(tmp_path: Path, write_text) -> Path:
    write_text("all/alpha/1.md", "# One\n")
    write_text("all/alpha/2.txt", "二号报告，讲述政策的变化。")
    write_text("all/beta/1.html", "<html><body><h1>One</h1><p>A <a href='https://e.example/x'>link</a>.</p></body></html>")
    write_text("all/.git/x.md", "hidden")
    write_text("all/README.md", "what this is")
    (tmp_path / "all" / "pictures").mkdir()
    return tmp_path / "all"


def test_sub_folders_are_agents_and_files_are_named_by_task(folder: Path):
    dataset = ReportsDataset(reports=str(folder)).load()
    assert [(report.task_id, report.agent) for report in dataset.reports] == [("1", "alpha"), ("1", "beta"), ("2", "alpha")]
    assert "[link](https://e.example/x)" in dataset.reports[1].text
    assert [task.language for task in dataset.tasks] == ["en", "zh"]
    assert [str(finding) for finding in dataset.findings] == [
        f"{folder}/README.md: lies beside the folders of the agents; left out",
        f"{folder}/pictures: holds no reports; left out",
        "no query is known for tasks 1, 2: questions about it are left out or judged without it",
        "beta has no report for 1 of 2 answered tasks: 2",
    ]


def test_a_flat_folder_is_one_agent(folder: Path):
    assert shape(folder / "alpha") == [("1", "alpha"), ("2", "alpha")]
    assert shape(folder / "alpha", agent="mine") == [("1", "mine"), ("2", "mine")]
    assert shape(folder / "alpha" / "1.md") == [("1", "alpha")]


def test_docx_and_pdf_reports_are_read(tmp_path: Path):
    import docx
    import matplotlib

    matplotlib.use("pdf")
    from matplotlib import pyplot

    written = docx.Document()
    written.add_paragraph("Wages rose by 3 percent.")
    written.save(str(tmp_path / "7.docx"))
    figure = pyplot.figure()
    figure.text(0.1, 0.5, "Rents fell by 2 percent.")
    figure.savefig(tmp_path / "8.pdf")
    pyplot.close(figure)
    texts = {report.task_id: report.text for report in ReportsDataset(reports=str(tmp_path), agent="a").load().reports}
    assert "Wages rose by 3 percent." in texts["7"]
    assert "Rents fell by 2 percent." in texts["8"]


def test_queries_come_from_a_file_or_from_the_config(folder: Path, write_lines: WriteLines):
    queries = write_lines("q.jsonl", [{"id": 2, "question": "政策如何变化？"}, {"id": "11", "question": "Eleven?"}])
    dataset = ReportsDataset(reports=str(folder / "alpha"), queries=queries).load()
    assert [(task.id, task.query) for task in dataset.tasks] == [("2", "政策如何变化？")]
    assert [str(finding) for finding in dataset.findings] == [
        f"{folder}/alpha/1.md: the report of alpha for task 1 has no task in {queries} (the nearest id is 11); left out",
        f"{queries}: 1 of 2 tasks are answered by no agent: 11",
    ]
    one = ReportsDataset(reports=str(folder / "alpha"), query="What changed?").load()
    assert {task.query for task in one.tasks} == {"What changed?"}
    assert one.findings == []


def test_damaged_unreadable_and_empty_files_are_findings_and_the_others_are_used(tmp_path: Path):
    (tmp_path / "1.md").write_bytes(b"A good start.\nThen caf\xe9, and so on.\n")
    (tmp_path / "2.pdf").write_bytes(b"%PDF-1.7 broken")
    (tmp_path / "3.md").write_bytes(b" \n")
    (tmp_path / "4.md").write_text("Fine.", encoding="utf-8")
    (tmp_path / "5.png").write_bytes(b"\x89PNG")
    dataset = ReportsDataset(reports=str(tmp_path), agent="a", query="q").load()
    assert [report.task_id for report in dataset.reports] == ["1", "4"]
    found = {(finding.code, Path(finding.file).name, finding.line) for finding in dataset.findings}
    assert found == {
        ("repaired_report", "1.md", 2),
        ("unreadable_report", "2.pdf", None),
        ("empty_report", "3.md", None),
        ("skipped_file", "5.png", None),
        ("unanswered_task", "", None),
    }
    with pytest.raises(DatasetError) as caught:
        ReportsDataset(reports=str(tmp_path), agent="a", query="q", strict=True).load()
    assert len(caught.value.problems) == 3


def test_a_link_to_nothing_and_a_deeper_folder_are_findings(tmp_path: Path, write_text):
    write_text("a/1.md", "one")
    write_text("a/more/2.md", "two")
    (tmp_path / "a" / "3.md").symlink_to(tmp_path / "gone.md")
    dataset = ReportsDataset(reports=str(tmp_path / "a"), query="q", agent="a").load()
    assert [report.task_id for report in dataset.reports] == ["1"]
    assert [str(finding) for finding in dataset.findings][:2] == [
        f"{tmp_path}/a/3.md: cannot be read: No such file or directory; left out",
        f"{tmp_path}/a/more: is a folder beside the reports of one agent; left out",
    ]


def test_the_same_task_in_two_formats_is_a_duplicate(write_text, tmp_path: Path):
    write_text("a/1.md", "one")
    write_text("a/1.txt", "another")
    dataset = ReportsDataset(reports=str(tmp_path / "a"), query="q").load()
    assert [report.text for report in dataset.reports] == ["one"]
    assert str(dataset.findings[0]) == (
        f"{tmp_path}/a/1.txt: a second report of a for task 1 (another text); the first, at {tmp_path}/a/1.md, is kept"
    )


def test_what_holds_no_reports_is_refused(tmp_path: Path, write_text):
    (tmp_path / "empty").mkdir()
    picture = write_text("x.png", "")
    with pytest.raises(DatasetError) as caught:
        ReportsDataset(reports=[str(tmp_path / "empty"), picture]).load()
    kinds = ".md, .markdown, .txt, .html, .htm, .pdf, .docx"
    assert [str(problem) for problem in caught.value.problems] == [
        f"{tmp_path}/empty: holds no reports, nor does any folder in it\n  allowed: {kinds}",
        f"{picture}: is no report: its name ends in .png\n  allowed: {kinds}",
    ]
