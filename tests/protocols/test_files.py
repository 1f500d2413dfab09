"""Protocol files: what is wrong stands at its field, edits by hand are noticed and signed."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from dreambench.errors import InputError
from dreambench.protocols.files import ProtocolError, file_name, protocol_files, read_protocol, sign_edit, write_protocol
from tests.support.protocol import protocol


@pytest.fixture
def file(tmp_path: Path) -> Path:
    write_protocol(tmp_path / "p.json", protocol(8, 1))
    return tmp_path / "p.json"


def change(file: Path, **changed: Any) -> None:
    record = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps({**record, **changed}), encoding="utf-8")


def problems(file: Path) -> str:
    with pytest.raises(ProtocolError) as raised:
        read_protocol(file)
    return str(raised.value)


def test_what_is_written_is_read_again(file: Path) -> None:
    read = read_protocol(file)
    assert read == protocol(8, 1).model_copy(update={"hash": read.content_hash()})
    assert "\n  " in file.read_text(encoding="utf-8"), "people read it"


def test_every_wrong_field_is_named_at_once(file: Path) -> None:
    record = json.loads(file.read_text(encoding="utf-8"))
    record["kic"][3]["question"] = " "
    del record["rq"][0]["plan"]["criteria"]
    change(file, kic=record["kic"], rq=record["rq"], creator="me", qury="x", version=2)
    assert problems(file).splitlines() == [
        f"{file}:version: Input should be 1",
        f"{file}:creator: Input should be 'llm', 'agent', 'agent_retrieval', 'human' or 'embedded'",
        "  allowed: llm, agent, agent_retrieval, human, embedded",
        f"{file}:kic.3.question: String should have at least 1 character",
        f"{file}:rq.0.plan.criteria: is required",
        f"{file}:qury: no such field; did you mean query?",
        "  allowed: as_of, creator, edits, hash, judge, kic, query, rejected, rq, settings, tools, version",
    ]


def test_a_file_that_is_no_json_says_where(file: Path) -> None:
    file.write_text('{\n  "query": oh\n}', encoding="utf-8")
    assert problems(file) == f"{file}:2: is not JSON: Expecting value"
    file.write_bytes(b'{"query": "\xff"}')
    assert f"{file}: is not UTF-8" in problems(file)


def test_an_edit_by_hand_is_noticed_until_it_is_signed(file: Path) -> None:
    before = read_protocol(file).hash
    change(file, query="How did bridges change in Europe?")
    said = problems(file)
    assert f"{file}:hash: is {before}, but the content has" in said
    assert f'type: python -m dreambench protocol check {file} --by NAME --note "WHY"' in said
    signed = sign_edit(file, by="Ada", note="narrower", on=date(2025, 2, 1))
    assert read_protocol(file) == signed
    assert [(edit.by, edit.note, edit.was) for edit in signed.edits] == [("Ada", "narrower", before)]
    assert sign_edit(file, by="Ada", note="again", on=date(2025, 2, 2)) == signed, "nothing was changed"


def test_a_file_without_a_hash_is_as_its_author_left_it(file: Path) -> None:
    change(file, hash=None, query="How?")
    assert read_protocol(file).query == "How?"


def test_files_are_found(file: Path, tmp_path: Path) -> None:
    assert protocol_files(tmp_path) == protocol_files(file) == [file]
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="holds no protocol"):
        protocol_files(tmp_path / "empty")
    with pytest.raises(InputError, match="does not exist"):
        protocol_files(tmp_path / "none")


def test_a_file_is_named_by_task_and_content() -> None:
    made = protocol(8)
    assert file_name("a/b c", made) == f"a_b_c-{made.content_hash()}.json"
