"""`view`: the list, a run that is being worked on, and what a stranger's request or run folder cannot do."""

from __future__ import annotations

import http.client
import json
import os
import re
import threading
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from dreambench.commands.view import view
from dreambench.engine.journal import JournalError
from dreambench.errors import ConfigError
from dreambench.reporting.live import ViewServer
from dreambench.reporting.live.board import Board
from dreambench.reporting.live.tally import JournalTally

HOSTILE = '"><script>document.title="owned"</script><img src=x onerror=alert(1)>'
SPENT = {
    "calls": 12,
    "cached_calls": 3,
    "money": 1.25,
    "unpriced_calls": 0,
    "prompt_tokens": 4000,
    "completion_tokens": 500,
}


def call(**changed: Any) -> dict[str, Any]:
    line = {"type": "call", "source": "provider", "outcome": "ok", "prompt_tokens": 100, "completion_tokens": 20, "cost": 0.01}
    return {**line, **changed}


def cell(name: str, *statuses: str, **columns: Any) -> dict[str, Any]:
    rows = [{"label": "yes", "status": each, "reason_code": "refusal", "rationale": f"said {HOSTILE}"} for each in statuses]
    owed = "judge_error" in statuses
    known = {"task": "t1", "agent": "ours", "metric": "wq", "judge": "gpt", "perturbation": "clean", "dose": 0.0, **columns}
    return {"type": "cell", "cell": name, "owed": owed, "columns": known, "judgments": rows}


def append(run: Path, *lines: dict[str, Any], tail: str = "") -> None:
    with (run / "journal.jsonl").open("a", encoding="utf-8") as file:
        file.write("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines) + tail)


def make_run(folder: Path, name: str, *lines: dict[str, Any], cells: tuple[int, int] | None = None, age: int = 0) -> Path:
    """A run folder as an attempt leaves it (`cells`: done, owed) or, without `cells`, as one that works on it shows it."""
    run = folder / name
    (run / "attempts" / "1").mkdir(parents=True)
    (run / "attempts" / "1" / "manifest.json").write_text("{}", encoding="utf-8")
    (run / "config.yaml").write_text(
        f"metric: {{wq: {{}}, {json.dumps(HOSTILE)}: {{}}}}\njudge: {{gpt: {{}}}}\n", encoding="utf-8"
    )
    append(run, *lines)
    if cells:
        done, owed = cells
        counted = {"finished": done, "before": 0, "owed": owed}
        summary = {"complete": not owed, "cells": counted, "stopped": "", "spent": SPENT}
        (run / "summary.json").write_text(json.dumps(summary), encoding="utf-8")
        os.utime(run / "attempts" / "1" / "manifest.json", (1, 1))
        if not owed:
            (run / "report.html").write_text("<!doctype html><title>the report</title>", encoding="utf-8")
    os.utime(run / "journal.jsonl", (2e9 - age, 2e9 - age))
    return run


@pytest.fixture
def outputs(tmp_path: Path) -> Path:
    folder = tmp_path / "outputs"
    make_run(folder, "demo-aaaa1111", cell("c1", "scored"), cells=(8, 0), age=30)
    make_run(folder, "drb-bbbb2222", call(), call(cost=None), call(source="cache"), call(outcome="rate_limited"), age=10)
    append(folder / "drb-bbbb2222", cell("c1", "scored", "scored"), cell("c2", "judge_error", "judge_error", agent=HOSTILE))
    os.utime(folder / "drb-bbbb2222" / "journal.jsonl", (2e9, 2e9))
    (tmp_path / "secret.txt").write_text("a secret", encoding="utf-8")
    return folder


@pytest.fixture
def server(outputs: Path) -> Iterator[ViewServer]:
    made = ViewServer(outputs)
    thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield made
    made.shutdown()
    thread.join()
    made.server_close()


def ask(server: ViewServer, path: str, method: str = "GET", host: str | None = "") -> tuple[http.client.HTTPResponse, str]:
    """`host`: the Host header; empty for the right one, None to send none."""
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=10)
    connection.putrequest(method, path, skip_host=True)
    if host is not None:
        connection.putheader("Host", host or f"127.0.0.1:{server.server_port}")
    connection.endheaders()
    response = connection.getresponse()
    body = response.read().decode("utf-8")
    connection.close()
    return response, body


def words(html: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).split())


def test_the_list_shows_every_run_newest_first(server: ViewServer) -> None:
    response, html = ask(server, "/")
    assert response.status == 200
    rows = [words(row) for row in re.findall(r"<tr>.*?</tr>", html, re.DOTALL)]
    assert re.fullmatch(r"drb-bbbb2222 .* unfinished .*gpt 1 – \$0\.02 and 1 call of unknown price 1 cell", rows[1])
    assert re.fullmatch(r"demo-aaaa1111 .* complete .*gpt 8 of 8 0 \$1\.25 0", rows[2])
    assert 'href="run/drb-bbbb2222/"' in html


def test_a_running_run_shows_its_progress_as_it_goes(server: ViewServer, outputs: Path) -> None:
    said = words(ask(server, "/run/drb-bbbb2222/")[1])
    assert "cells done 1 of a number that is known once" in said and "cells failed 1" in said
    assert "3 bought, 1 answered before" in said and "300 in prompts, 60 in answers" in said
    assert "2 wq gpt judge_error refusal said" in said and "rate_limited 1." in said
    append(outputs / "drb-bbbb2222", cell("c2", "scored"), tail='{"type":"cell","torn')
    status = json.loads(ask(server, "/run/drb-bbbb2222/status.json")[1])
    assert (status["done"], status["failed"], status["errors"]) == (2, 0, [])
    assert [(one["metric"], one["labels"], one["owed"]) for one in status["recent"][:2]] == [
        ("wq", "yes 1", False),
        ("wq", "yes 2", True),
    ]
    assert "path" not in status and str(outputs) not in json.dumps(status)


def test_a_finished_run_shows_its_report_sandboxed_and_its_progress_too(server: ViewServer) -> None:
    response, html = ask(server, "/run/demo-aaaa1111/")
    assert "the report" in html
    policy = response.getheader("Content-Security-Policy") or ""
    assert policy.startswith("sandbox ") and "allow-same-origin" not in policy and "default-src 'none'" in policy
    assert ask(server, "/run/demo-aaaa1111/report.html")[1] == html
    assert "8 of 8" in words(ask(server, "/run/demo-aaaa1111/progress")[1])
    assert ask(server, "/run/aaaa1111/")[1] == html  # its id
    moved, _ = ask(server, "/run/demo-aaaa1111")
    assert (moved.status, moved.getheader("Location")) == (301, "/run/demo-aaaa1111/")


def test_a_resumed_run_is_running_again_and_knows_its_total(outputs: Path) -> None:
    run = make_run(outputs, "demo-cccc3333", cell("c1", "scored"), cells=(1, 4))
    assert (Board(outputs).status(run).state, Board(outputs).status(run).owed) == ("incomplete", 4)
    (run / "attempts" / "2").mkdir()
    (run / "attempts" / "2" / "manifest.json").write_text("{}", encoding="utf-8")
    os.utime(run / "summary.json", (2, 2))
    append(run, cell("c2", "scored"))
    status = Board(outputs).status(run)
    assert (status.state, status.done, status.total, status.owed) == ("unfinished", 2, 5, 3)


@pytest.mark.parametrize(
    "path",
    [
        "/run/../secret.txt",
        "/run/%2e%2e/secret.txt",
        "/run/..%2fsecret.txt/",
        "/run/demo-aaaa1111/../../../secret.txt",
        "/run/demo-aaaa1111/..%2f..%2f..%2fsecret.txt",
        "/run/demo-aaaa1111/%2e%2e%2fconfig.yaml",
        "/run/demo-aaaa1111/config.yaml",
        "/run/demo-aaaa1111/journal.jsonl",
        "/run//etc/passwd",
        "//etc/passwd",
        "/secret.txt",
        "/run/demo-aaaa1111%00/",
        "/run/demo/",
    ],
)
def test_no_path_leads_out_of_what_was_found(server: ViewServer, path: str) -> None:
    response, body = ask(server, path)
    assert (response.status, body) == (404, "404 Not Found\n")


def test_a_report_that_is_a_link_to_elsewhere_is_not_served(server: ViewServer, outputs: Path) -> None:
    page = outputs / "demo-aaaa1111" / "report.html"
    page.unlink()
    page.symlink_to(outputs.parent / "secret.txt")
    assert ask(server, "/run/demo-aaaa1111/report.html")[0].status == 404
    assert "a secret" not in ask(server, "/run/demo-aaaa1111/")[1]


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "localhost@evil.example", "8.8.8.8", None]
)
def test_a_request_under_a_foreign_name_is_refused(server: ViewServer, host: str | None) -> None:
    response, body = ask(server, "/", host=host)
    assert response.status == 421 and "demo-" not in body


@pytest.mark.parametrize("host", ["localhost:9000", "LOCALHOST", "127.0.0.1", "[::1]:1234"])
def test_this_machine_may_be_called_by_its_names_and_by_a_forwarded_port(server: ViewServer, host: str) -> None:
    assert ask(server, "/", host=host)[0].status == 200


def test_open_to_others_it_answers_to_addresses_and_its_own_names_only(outputs: Path) -> None:
    server = ViewServer(outputs, "127.0.0.1", names=["Lab-PC"])
    server.loopback = False
    try:
        assert server.answers_to("192.168.1.7:8000") and server.answers_to("lab-pc") and server.answers_to("lab-pc.:80")
        assert not server.answers_to("evil.example")
    finally:
        server.server_close()


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_only_reading_is_allowed(server: ViewServer, method: str) -> None:
    response, _ = ask(server, "/", method)
    assert (response.status, response.getheader("Allow")) == (405, "GET, HEAD")


def test_head_has_the_headers_and_no_body(server: ViewServer) -> None:
    for path in ("/", "/run/demo-aaaa1111/", "/run/demo-aaaa1111/status.json"):
        head, body = ask(server, path, "HEAD")
        assert (head.status, body) == (200, "") and int(head.getheader("Content-Length") or 0) > 0


def test_every_answer_forbids_what_it_does_not_need(server: ViewServer) -> None:
    for path in ("/", "/run/drb-bbbb2222/", "/run/demo-aaaa1111/", "/run/demo-aaaa1111/status.json", "/none"):
        response, _ = ask(server, path)
        policy = response.getheader("Content-Security-Policy") or ""
        assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy
        assert response.getheader("X-Content-Type-Options") == "nosniff"
        assert response.getheader("Cache-Control") == "no-store"
        assert response.getheader("Access-Control-Allow-Origin") is None
        assert response.getheader("Server") == "dreambench "


def test_names_and_texts_of_a_run_are_never_html(server: ViewServer, outputs: Path) -> None:
    name = 'x" onmouseover=alert(1) <b>&-dddd4444'
    make_run(outputs, name, cell("c1", "judge_error", task=HOSTILE))
    for path in ("/", "/run/drb-bbbb2222/", "/run/dddd4444/"):
        response, html = ask(server, path)
        assert response.status == 200
        assert "<img" not in html and "<b>" not in html and html.count("<script>") == 1
        assert 'x" onmouseover' not in html
        own = re.findall(r"<script>(.*?)</script>", html, re.DOTALL)
        assert "location.reload" in own[0] and "script-src 'sha256-" in (response.getheader("Content-Security-Policy") or "")
        assert not re.search(r'(?:src|href)="(?:https?:)?//', html)
    assert 'href="run/x%22%20onmouseover%3Dalert%281%29%20%3Cb%3E%26-dddd4444/"' in ask(server, "/")[1]


@pytest.mark.parametrize(
    ("file", "content", "said"),
    [
        ("journal.jsonl", "[]\n", "journal.jsonl:1: not a journal line"),
        ("journal.jsonl", '{"type":"call"}\n', "journal.jsonl:1: not a journal line (KeyError: 'outcome')"),
        ("config.yaml", "metric: [", "ParserError"),
        ("config.yaml", "- 1", "validation error"),
    ],
)
def test_a_broken_run_is_said_beside_the_others(server: ViewServer, outputs: Path, file: str, content: str, said: str) -> None:
    run = outputs / "drb-bbbb2222"
    (run / file).write_text(content, encoding="utf-8")
    response, html = ask(server, "/")
    assert response.status == 200 and "demo-aaaa1111" in html
    assert "unreadable" in html and said in unescape(html)
    assert ask(server, "/run/drb-bbbb2222/")[0].status == 200


def test_a_folder_without_runs_is_no_error_and_a_run_is_a_folder_of_itself(tmp_path: Path, outputs: Path) -> None:
    assert Board(tmp_path / "outputs" / "demo-aaaa1111").names().keys() == {"demo-aaaa1111"}
    (tmp_path / "empty").mkdir()
    assert Board(tmp_path / "empty").runs() == []


def test_a_journal_is_read_on_from_where_it_was(tmp_path: Path) -> None:
    append(tmp_path, call(), cell("c1", "scored"), tail='{"type":"call","sou')
    tally = JournalTally(tmp_path / "journal.jsonl")
    assert (tally.update().calls, tally.update().done) == (1, 1)
    append(tmp_path, tail='rce":"provider","outcome":"ok","prompt_tokens":1,"completion_tokens":1,"cost":0.5}\n')
    assert (tally.update().calls, tally.update().money) == (2, 0.51)
    (tmp_path / "journal.jsonl").write_text("", encoding="utf-8")
    assert tally.update().calls == 0
    append(tmp_path, call(), tail="no JSON\n")
    for _ in range(2):
        with pytest.raises(JournalError, match=r"journal\.jsonl:2: not a journal line"):
            tally.update()


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.7", "lab-pc"])
def test_other_machines_are_let_in_only_when_it_is_said(outputs: Path, host: str) -> None:
    with pytest.raises(ConfigError) as caught:
        view([str(outputs), "--host", host])
    (problem,) = caught.value.problems
    assert "can read every run in" in problem.what and "without a password" in problem.what
    assert problem.type == f"python -m dreambench view --host {host} --allow-remote"


def test_wrong_words_are_told(tmp_path: Path, outputs: Path, server: ViewServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match="did you mean demo-aaaa1111"):
        view(["demo-aaaa1112"])
    with pytest.raises(ConfigError, match="--port: is 70000"):
        view(["--port", "70000"])
    with pytest.raises(ConfigError, match="cannot listen at 127"):
        view(["--port", str(server.server_port)])


def test_the_verb_says_where_and_ends_with_an_interrupt(
    outputs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(server: ViewServer) -> None:
        server.server_close()
        raise KeyboardInterrupt

    monkeypatch.setattr("dreambench.reporting.live.server.serve", interrupted)
    assert view([str(outputs)]) == 0
    assert re.fullmatch(r"runs of .*outputs: http://127\.0\.0\.1:\d+/  \(Ctrl-C ends\)\nended\n", capsys.readouterr().out)
