"""`protocol show` and `protocol check` as people type them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dreambench.protocols.files import read_protocol, write_protocol
from tests.apps.command import dreambench
from tests.protocols.site import write_data
from tests.support.protocol import fact, protocol


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_protocol(tmp_path / "p.json", protocol(8, 1))
    return tmp_path


def test_a_protocol_is_shown_as_people_read_it(folder: Path) -> None:
    ran = dreambench("protocol", "show", "p.json", cwd=folder)
    assert ran.code == 0, ran.err
    lines = ran.out.splitlines()
    assert lines[0] == "How did bridges change?"
    assert lines[1].startswith("8 key facts, 1 reasoning questions, as of 2025-01-01, by human, ")
    assert "k2 Does the report state that bridge 2 was opened?" in lines
    assert "   “Bridge 2 was opened in 2019.”" in lines
    assert "   verify: The load of span 1. (web_search, calculate)" in lines


def test_an_edit_is_noticed_signed_and_shown(folder: Path) -> None:
    file = folder / "p.json"
    assert dreambench("protocol", "check", "p.json", cwd=folder).code == 0
    record = json.loads(file.read_text(encoding="utf-8"))
    record["kic"].pop()
    file.write_text(json.dumps(record), encoding="utf-8")
    ran = dreambench("protocol", "check", ".", cwd=folder)
    assert ran.code == 1 and "the file was edited by hand" in ran.err
    unsigned = dreambench("protocol", "check", "p.json", "--by", "Ada", cwd=folder)
    assert unsigned.code == 1 and "signed with a name and a reason" in unsigned.err
    signed = dreambench("protocol", "check", "p.json", "--by", "Ada", "--note", "it was wrong", cwd=folder)
    assert signed.code == 0, signed.err
    assert "by human, edited by Ada, " in signed.out
    assert "fewer than 8 key facts: no report can be scored on them" in signed.out
    assert read_protocol(file).edits[0].note == "it was wrong"
    assert "by Ada: it was wrong" in dreambench("protocol", "show", "p.json", cwd=folder).out


def test_quotes_are_looked_up_on_their_pages(folder: Path) -> None:
    data = write_data(folder / "data")
    assert dreambench("protocol", "check", "p.json", "--pages", *data, cwd=folder).code == 0
    wrong = [fact(1), fact(2, quote="Bridge 2 was opened in 1919."), fact(3, url="https://pages.example/99")]
    write_protocol(folder / "q.json", protocol(kic=wrong))
    ran = dreambench("protocol", "check", "q.json", "--pages", *data, cwd=folder)
    assert ran.code == 1
    assert "q.json:kic.1.quote: does not stand on https://pages.example/2" in ran.err
    assert "q.json:kic.2.quote: https://pages.example/99 cannot be read: not_in_corpus" in ran.err


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (["chek", "p.json"], ["there is no protocol chek; did you mean check?", "allowed: create, show, check"]),
        ([], ["says not what to do"]),
        (["show"], ["names no file", "type: python -m dreambench protocol show FILE"]),
        (["show", "none.json"], ["none.json: does not exist"]),
        (["check", "p.json", "--bye", "Ada"], ["--bye: is no option of protocol check", "allowed: --by, --note, --pages"]),
        (["create", "--part", "wq"], ["--part wq: is no part of a protocol"]),
        (["create", "tools=none", "protocol.creator=agent_retrieval"], ["agent_retrieval researches", "tools=none cannot"]),
        (["check", "dataset=demo", "dataset.folder=."], ["brings no protocols along"]),
        (["create", "protocol.creator=humn"], ["protocol.creator", "human"]),
        (["create", "protocol=created", "protocol.judge=gpt"], ["protocol.judge: gpt is no judge of this run"]),
    ],
)
def test_mistakes_are_explained(line: list[str], said: list[str], folder: Path) -> None:
    ran = dreambench("protocol", *line, cwd=folder)
    assert ran.code == 1, ran.out
    for text in said:
        assert text in ran.err
    assert "Traceback" not in ran.err


def test_the_protocols_of_a_data_set_are_checked_with_their_pages(folder: Path) -> None:
    ran = dreambench("protocol", "check", "dataset=demo", cwd=folder)
    assert ran.code == 0, ran.err
    lines = ran.out.splitlines()
    assert len(lines) == 8
    assert all(": 15 key facts, 5 reasoning questions, as of 202" in line and ", by human, " in line for line in lines)
