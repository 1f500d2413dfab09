"""Answers through the provider's batches: the same numbers as now for half the money, left and fetched later, bought once."""

from __future__ import annotations

import json
import os
import signal
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from dreambench.errors import InputError
from tests.apps.conftest import command
from tests.faults.tiny import QUESTIONS, Silent, Tiny, exit_code
from tests.support.batch_stub import BatchStub
from tests.support.checking_model import CheckingModel
from tests.support.openai_stub import failing

BATCHES = [
    "judge.litellm.delivery=batch",
    "judge.litellm.batch.quiet=0.3",
    "judge.litellm.batch.poll=0.05",
    "judge.litellm.price={input: 1.0, output: 2.0}",
]
KEY = "sk-planted-key-0123456789"


@pytest.fixture(scope="module")
def server() -> Iterator[BatchStub]:
    with BatchStub() as running:
        yield running


@pytest.fixture(scope="module")
def now(server: BatchStub, tmp_path_factory: pytest.TempPathFactory) -> Tiny:
    """The same run with every answer bought at once."""
    whole = Tiny(tmp_path_factory.mktemp("now"), server, [BATCHES[-1]])
    assert whole.attempt().outcome.complete
    return whole


@pytest.fixture
def batched(tmp_path: Path, server: BatchStub, now: Tiny) -> Iterator[Tiny]:
    server.forget()
    yield Tiny(tmp_path, server, BATCHES)
    server.forget()


def same_for_half_the_price(tiny: Tiny, now: Tiny) -> None:
    """All tables are equal, but for what the answers cost."""
    for name in ("judgments", "scores", "report_scores"):
        theirs = pl.read_parquet(now.run / f"{name}.parquet")
        if "cost" in theirs.columns:
            theirs = theirs.with_columns(pl.col("cost") / 2)
        assert_frame_equal(pl.read_parquet(tiny.run / f"{name}.parquet"), theirs)


class Leaving(Silent):
    """Presses Ctrl-C when a batch has been submitted."""

    def note(self, line: str) -> None:
        super().note(line)
        if "submitted" in line:
            os.kill(os.getpid(), signal.SIGINT)


def records(tiny: Tiny) -> list[Path]:
    return list((tiny.folder / "cache" / "batches").glob("*"))


def bought(tiny: Tiny) -> pl.DataFrame:
    calls = pl.read_parquet(tiny.run / "calls.parquet")
    return calls.filter(pl.col("source") == "provider", pl.col("role") == "judging")


def leave(tiny: Tiny, server: BatchStub) -> None:
    """A first attempt that ends with all questions at the provider and no answer."""
    server.held, tiny.watch = True, Leaving
    left = tiny.attempt()
    assert exit_code(left) == 130
    assert left.outcome.owed == 2, "the cells that ask a judge"
    assert any(f"answers awaited: {QUESTIONS}, from batch batch_0" in finding for finding in left.findings), left.findings
    assert bought(tiny).is_empty() and not any("killed" in finding for finding in left.findings)
    server.held, tiny.watch = False, Silent


def test_the_same_numbers_and_requests_for_half_the_money(batched: Tiny, now: Tiny, server: BatchStub) -> None:
    asked_now = [json.loads(line) for line in _bodies_of(now)]
    assert exit_code(batched.attempt()) == 0
    same_for_half_the_price(batched, now)
    assert len(server.created) == 1 and server.asked_now == []
    assert sorted(map(str, asked_now)) == sorted(str(line["body"]) for line in server.batched)
    assert [server.looks(path) for path in ("/files", "/batches")] == [2, 2], "up and down; started and looked at once"
    assert sorted(bought(batched)["key"]) == sorted(bought(now)["key"])
    assert bought(batched)["cost"].sum() == pytest.approx(bought(now)["cost"].sum() / 2)
    assert records(batched) == []


def _bodies_of(now: Tiny) -> list[str]:
    """What the server got for the run without batches, asked once more: the fixture's requests are forgotten."""
    again = Tiny(now.folder / "again", now.stub, now.overrides)
    again.attempt()
    assert isinstance(now.stub, BatchStub)
    bodies = [json.dumps(body) for body in now.stub.asked_now]
    now.stub.forget()
    return bodies


def test_answers_bought_in_either_way_serve_both(batched: Tiny, server: BatchStub) -> None:
    assert batched.attempt("paths.outputs=" + str(batched.folder / "first")).outcome.complete
    server.requests.clear()
    assert batched.attempt("judge.litellm.delivery=now").outcome.complete
    assert server.requests == []


def test_a_run_is_left_and_fetches_its_answers_later(
    batched: Tiny, now: Tiny, server: BatchStub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    leave(batched, server)
    (record,) = records(batched)
    assert stat.S_IMODE(record.stat().st_mode) == 0o600 and stat.S_IMODE(record.parent.stat().st_mode) == 0o700
    assert KEY not in record.read_text()
    assert exit_code(batched.attempt()) == 0
    assert len(server.created) == 1 and len(server.batched) == QUESTIONS
    same_for_half_the_price(batched, now)
    assert bought(batched).height == QUESTIONS and set(bought(batched)["attempts"]) == {1}
    assert records(batched) == []


def test_a_batch_is_found_where_the_process_died_before_it_knew_its_name(batched: Tiny, now: Tiny, server: BatchStub) -> None:
    leave(batched, server)
    (record,) = records(batched)
    known = json.loads(record.read_text())
    record.write_text(json.dumps({**known, "batch": ""}))
    assert exit_code(batched.attempt()) == 0
    assert len(server.created) == 1
    same_for_half_the_price(batched, now)


def test_a_batch_whose_creation_was_never_answered_is_not_created_again(batched: Tiny, now: Tiny, server: BatchStub) -> None:
    server.answer_late = True
    assert exit_code(batched.attempt()) == 0
    assert len(server.created) == 1
    same_for_half_the_price(batched, now)


def test_a_killed_process_leaves_its_batch_to_the_next(batched: Tiny, now: Tiny, server: BatchStub) -> None:
    server.held = True
    if (child := os.fork()) == 0:
        Leaving.note = lambda self, line: os.kill(os.getpid(), signal.SIGKILL)  # type: ignore[method-assign]
        batched.watch = Leaving
        batched.attempt()
        os._exit(1)
    assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL
    server.held = False
    resumed = batched.attempt()
    assert exit_code(resumed) == 0
    assert len(server.created) == 1 and not any("killed" in finding for finding in resumed.findings), (
        "nothing is lost in flight"
    )
    same_for_half_the_price(batched, now)


@pytest.mark.parametrize("ending", ["expired", "cancelled"])
def test_what_a_batch_left_unanswered_is_asked_again(batched: Tiny, now: Tiny, server: BatchStub, ending: str) -> None:
    server.endings = [ending]
    assert exit_code(batched.attempt()) == 0
    assert len(server.created) == 2
    assert len(server.batched) == QUESTIONS + QUESTIONS // 2
    assert sorted(bought(batched)["attempts"]) == [1] * (QUESTIONS // 2) + [2] * (QUESTIONS // 2)
    same_for_half_the_price(batched, now)


def test_a_batch_that_fails_each_time_is_owed_with_its_reason(batched: Tiny, now: Tiny, server: BatchStub) -> None:
    server.endings = ["failed"] * 2
    failed = batched.attempt("engine.retry.attempts=2")
    assert exit_code(failed) == 2 and len(server.created) == 2
    rows = failed.tables["judgments"].filter(pl.col("metric") == "wq")
    assert set(rows["status"]) == {"judge_error"} and set(rows["reason_code"]) == {"batch_failed"}
    assert rows["value"].null_count() == rows.height
    assert "the file is not as it should be" in rows["rationale"][0]
    assert records(batched) == []
    assert exit_code(batched.attempt()) == 0
    same_for_half_the_price(batched, now)


def test_failed_lines_are_asked_again_and_hopeless_ones_are_owed(batched: Tiny, now: Tiny, server: BatchStub) -> None:
    server.script(failing(500), failing(400, "this cannot be"))
    failed = batched.attempt()
    assert exit_code(failed) == 2
    assert [len(server._lines(batch.input)) for batch in server.created] == [QUESTIONS, 1]
    reasons = failed.tables["judgments"].filter(pl.col("status") == "judge_error")
    assert list(reasons["reason_code"]) == ["bad_request"] and "this cannot be" in reasons["rationale"][0]
    assert exit_code(batched.attempt()) == 0
    assert len(server.batched) == QUESTIONS + 2
    same_for_half_the_price(batched, now)


def test_a_batch_that_the_provider_has_forgotten_is_asked_anew(batched: Tiny, now: Tiny, server: BatchStub) -> None:
    leave(batched, server)
    server.created.clear()
    assert exit_code(batched.attempt()) == 0
    assert len(server.batched) == QUESTIONS
    same_for_half_the_price(batched, now)


def test_trouble_while_going_up_and_while_looking_is_waited_out(batched: Tiny, now: Tiny, server: BatchStub) -> None:
    server.refuse = [("POST /files", 503), ("GET /batches/", 500), ("GET /files/", 500)]
    assert exit_code(batched.attempt()) == 0
    assert len(server.created) == 1 and server.refuse == []
    same_for_half_the_price(batched, now)


def test_a_refused_key_stops_the_run(batched: Tiny, server: BatchStub) -> None:
    server.refuse = [("POST /files", 401)]
    stopped = batched.attempt()
    assert exit_code(stopped) == 1 and server.created == []


def test_large_runs_go_up_in_several_batches(batched: Tiny, now: Tiny, server: BatchStub) -> None:
    assert exit_code(batched.attempt("judge.litellm.batch.most=8")) == 0
    assert sorted(len(server._lines(batch.input)) for batch in server.created) == [4, 8, 8]
    same_for_half_the_price(batched, now)


def test_questions_that_rest_on_answers_go_out_in_later_batches(tmp_path: Path, server: BatchStub, now: Tiny) -> None:
    """Factuality: claims, then queries, then verdicts, each for all reports in one batch."""
    server.forget()
    runs = []
    for name, batches in (("now", BATCHES[-1:]), ("batched", BATCHES)):
        model = CheckingModel()
        server.always(model.act, when=model.saw)
        demo = ["dataset=demo", "dataset.limit=1", "dataset.language=en", "metric=[factuality]", "metric.factuality.claims=2"]
        model_at = ["judge=litellm", "judge.litellm.model=openai/anything", f"judge.litellm.api_base={server.url}"]
        where = [f"paths.outputs={tmp_path / name}", f"paths.cache={tmp_path / name / 'cache'}"]
        ran = command(*demo, *model_at, *batches, *where)
        assert ran.code == 0, ran.err
        assert "submitted; answers come within hours" in ran.err or name == "now"
        (run,) = (path for path in (tmp_path / name).glob("demo-*"))
        runs.append(run)
        if name == "now":
            asked = len(server.asked_now)
            server.forget()
    assert len(server.batched) == asked and server.asked_now == []
    assert 3 <= len(server.created) < asked / 3
    one, other = (pl.read_parquet(run / "judgments.parquet").drop("cost") for run in runs)
    assert_frame_equal(one, other)
    assert set(one["status"]) == {"scored"} and one.height > 4
    server.forget()


@pytest.mark.parametrize(
    ("override", "words"),
    [
        (["judge.litellm.model=mistral/large", "judge.litellm.api_base=null"], "no batches in OpenAI's form for mistral"),
        (["+judge.litellm.params.extra_headers={a: b}"], "judge.litellm.params.extra_headers"),
        (["judge.litellm.delivery=later"], "judge.litellm.delivery"),
        (["engine=processes"], "batches are looked after by one process"),
        (["judge.litellm.batch.price=2"], "judge.litellm.batch.price"),
    ],
)
def test_what_cannot_be_is_said_before_anything_is_sent(
    batched: Tiny, server: BatchStub, override: list[str], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MISTRAL_API_KEY", KEY)
    with pytest.raises(InputError, match=words):
        batched.attempt(*override)
    assert server.requests == []


def test_a_model_of_another_interface_is_refused_in_words(batched: Tiny, server: BatchStub) -> None:
    stopped: Any = batched.attempt("judge.litellm.model=openai/gpt-5-pro", "judge.litellm.temperature=null")
    assert exit_code(stopped) == 1
    assert "judge.litellm.delivery=now" in stopped.outcome.stopped
    assert server.requests == []
