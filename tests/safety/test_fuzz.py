"""Readers of what strangers wrote, on anything: they read it, or say what is wrong, and never fail in another way."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hydra.errors import HydraException
from hypothesis import example, given, settings
from hypothesis import strategies as st
from omegaconf.errors import OmegaConfBaseException

from dreambench.config.compose import compose
from dreambench.config.explain import explain
from dreambench.documents import parse_document
from dreambench.documents.hostile import read_hostile
from dreambench.engine.clock import Clock
from dreambench.engine.journal import Journal, JournalError, read_lines
from dreambench.errors import InputError
from dreambench.runs.assembly import assemble, validate
from tests.support.gateway import TestGateway, make_gateway

JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)

LABELS = st.sampled_from(["[1]", "[2]", "[^3]", "1.", "2)", "-", "*", "|", "[12", "[[1]](", "【1】", "(Smith, 2020)", "^1^"])
LINKS = st.sampled_from(
    ["https://a.example/x", "http://b.example/?q=[1]", "www.c.example", "<https://d.example>", "doi:10.1/x"]
)
WORDS = st.text(alphabet="ab 中文\u200b\u202e.,()[]<>|*_`#:\\", max_size=12)
ENTRY = st.tuples(LABELS, WORDS, LINKS, WORDS).map(" ".join)
HEADINGS = st.sampled_from(["## Sources", "**References**", "参考文献", "Bibliography:", "", "---", "```"])
REFERENCES = st.tuples(WORDS, HEADINGS, st.lists(ENTRY, max_size=8), HEADINGS, st.lists(ENTRY, max_size=4)).map(
    lambda parts: "\n".join([parts[0], "", parts[1], "", *parts[2], parts[3], *parts[4]])
)


@settings(max_examples=30)
@given(REFERENCES | st.text(max_size=200))
@example("## Sources\n[1] https://a.example [1] https://b.example\n[1]: ")
@example("one page\x0canother\x0bline\x1c")
@example("\ud800 [1]\n\n## References\n1. \udc00 https://a.example/\x00")
def test_reports_and_reference_lists(text: str) -> None:
    judged = read_hostile(text).text
    document = parse_document(judged)
    for reference in document.references:
        assert judged[reference.span.start : reference.span.end].strip()
        assert all(isinstance(url, str) and url for url in reference.urls)
    for citation in document.citations:
        assert 0 <= citation.span.start < citation.span.end <= len(judged)


KEYS = st.sampled_from(
    "seed as_of metric judge metric.wq.rubric judge.embedded.x dataset.limit engine.most paths.cache tools perturbation study"
    " nothing engine.retry.seconds cache.mode +x.y ~judge ++a@b.c dataset . /".split(" ")
)
VALUES = st.sampled_from(
    ["", "1", "-1", "x", "[a,b]", "[]", "{}", "null", "1e999", "${oc.env:HOME}", "${x}", "[wq,wq]", "'", "[", "2024-02-30"]
)
OVERRIDE = st.tuples(KEYS, VALUES).map("=".join) | st.text(max_size=12)


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> TestGateway:
    return make_gateway(tmp_path_factory.mktemp("gateway"))


@settings(max_examples=6)
@given(overrides=st.lists(OVERRIDE, min_size=1, max_size=2))
@example(overrides=["metric=1"])
@example(overrides=["seed=${oc.env:NO_SUCH_VARIABLE}"])
@example(overrides=["dataset._target_=os.system"])
@example(overrides=["metric.wq._target_=builtins.eval"])
def test_command_lines(overrides: list[str], gateway: TestGateway) -> None:
    try:
        assemble(validate(compose(overrides), Clock()), gateway)
    except InputError as error:
        said = error
    except (HydraException, OmegaConfBaseException) as error:
        said = explain(error, overrides)
    else:
        return
    assert said.problems and all(problem.where and problem.what for problem in said.problems)


@st.composite
def journals(draw: st.DrawFn) -> bytes:
    """Lines that are nearly right, in any order, with damage."""
    good = {"type": "cell", "cell": "a", "owed": False, "columns": {}, "judgments": []}
    call = {"type": "call", "key": "k", "source": "provider"}
    lines = []
    for _ in range(draw(st.integers(0, 5))):
        line: Any = draw(st.sampled_from([good, call, {"type": "lost", "calls": 2}]) | JSON)
        if isinstance(line, dict) and line and draw(st.booleans()):
            line = {**line, draw(st.sampled_from(sorted(line))): draw(JSON)}
        data = json.dumps(line, separators=(",", ":")).encode()
        cut = draw(st.integers(0, len(data)))
        lines.append(draw(st.sampled_from([data, data, data[:cut], data[:cut] + b"\xff\x00", b'{"type":"cell"' * 3])))
    return b"\n".join(lines) + draw(st.sampled_from([b"", b"\n"]))


@settings(max_examples=60)
@given(journals())
@example(b'["type","cell"]\n')
@example(b'[{"type":"cell"}]\n')
@example(b'"\\"type\\":\\"cell\\""\n')
@example(b'{"type":"cell","x":' + b"[" * 100_000 + b"\n")
def test_journals(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path: Path = tmp_path_factory.mktemp("journal") / "journal.jsonl"
    path.write_bytes(data)
    try:
        journal = Journal(path)
        calls = list(read_lines(path, "call"))
        journal.close()
    except JournalError as error:
        said = str(error)
    else:
        assert all(isinstance(done, bool) and isinstance(cell, str) for cell, done in journal.done.items())
        assert all(isinstance(call["key"], str) for call in calls)
        return
    assert f"{path}:" in said and "; take it out: " in said
