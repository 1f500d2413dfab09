"""The whole creation against a scripted server in both dialects: every call's content, checks by code, replacement, sharing."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from dreambench.config.locations import bundled
from dreambench.engine.store import CacheMode
from dreambench.errors import ConfigError, ProviderError
from dreambench.evaluators.agent_trajectory import Trajectories
from dreambench.judges.embedded import EmbeddedJudge
from dreambench.judges.judge import Judge
from dreambench.judges.rubric import Rubric, RubricShelf
from dreambench.protocols.created import CreatedProtocols
from dreambench.protocols.files import read_protocol, write_protocol
from dreambench.protocols.model import Creator, Protocol
from dreambench.records import Task
from dreambench.tools.toolset import NoTools
from tests.support.agents import PAGES, asks, corpus, is_turn, model, step, turn
from tests.support.gateway import TestGateway, make_gateway
from tests.support.openai_stub import OpenAIStub, saying
from tests.support.protocol import AS_OF, QUERY, protocol
from tests.support.scripted_judge import ScriptedJudge

SHELF = RubricShelf([bundled("rubrics")])
TASK = Task("t", QUERY, "d", AS_OF)
MODES = ["native", "json"]


@pytest.fixture
def stub() -> Iterator[OpenAIStub]:
    with OpenAIStub() as server:
        yield server


def draft(number: int, **changed: Any) -> dict[str, Any]:
    return {
        "fact": f"Bridge {number} was opened in 2019.",
        "question": f"Does the report state that bridge {number} was opened in 2019?",
        "url": f"https://pages.example/{number}",
        "quote": f"Bridge {number} was opened in 2019.",
        "published": None,
        "time_sensitive": number == 1,
        **changed,
    }


def facts(*drafts: dict[str, Any]) -> dict[str, Any]:
    return {"facts": list(drafts)}


def questions(count: int, tool: str = "web_search") -> dict[str, Any]:
    one = {"extract": "e", "verify": [{"what": "w", "tools": [tool]}], "criteria": ["c"]}
    return {"questions": [{"question": f"Why {n}?", **one} for n in range(1, count + 1)]}


SELECTED = {"reason": "Pages are needed.", "tools": ["web_search", "page_visit"]}
TEN = facts(*(draft(n) for n in range(1, 11)))


def source(tools: NoTools, parts: str = "kic rq", **keys: Any) -> CreatedProtocols:
    made = CreatedProtocols(**{"shelf": SHELF, "tools": tools, "trajectories": Trajectories(), **keys})
    for part in parts.split():
        made.want(part)  # type: ignore[arg-type]
    return made


def get(made: CreatedProtocols, judge: Judge, folder: Path | None = None, task: Task = TASK, **keys: Any) -> Protocol:
    made.assign({"j": judge})
    if folder:
        made.open(folder / "run" / "protocols", folder / "shared", keys.get("mode", CacheMode.READWRITE))

    async def run() -> Protocol:
        try:
            found = await made.get(task, judge)
            assert found is not None
            return found
        finally:
            await made.close()
            await judge.close()

    return asyncio.run(run())


@pytest.mark.parametrize("mode", MODES)
def test_a_protocol_is_made_from_the_query_alone(mode: str, stub: OpenAIStub, gateway: TestGateway, tmp_path: Path) -> None:
    stub.always(saying(SELECTED), when=lambda body: asks("tools")(body) and "reason" in str(body["tools"]))
    stub.always(turn(mode)[0], when=lambda body: is_turn(body) and "Bridge 3 was opened" in str(body["messages"]))
    stub.always(turn(mode, ("page_visit", {"url": "https://pages.example/3"}))[0], when=is_turn)
    stub.always(saying(TEN), when=asks("facts"))
    stub.always(saying(questions(5)), when=asks("questions"))
    kept = Trajectories()
    kept.open(tmp_path / "run")
    made = source(corpus(tmp_path, gateway), trajectories=kept)
    found = get(made, model(stub, gateway, tool_mode=mode), tmp_path)
    assert len(stub.requests) == 7, "the tools; two turns and an answer for the facts, and for the questions"
    for body in stub.bodies:
        system, user = (message["content"] for message in body["messages"][:2])
        assert "Everything is as of 2025-01-01" in system and QUERY in user
    offered = [[tool["function"]["name"] for tool in body["tools"]] for body in stub.bodies if is_turn(body)]
    assert offered == [["web_search", "page_visit"] if mode == "native" else ["AgentStep"]] * 4
    (closing,) = [body["messages"][1]["content"] for body in stub.bodies if asks("facts")(body)]
    assert "Give 10 to 15 facts" in closing and "It bears 300 tons" in closing
    (asked,) = [body["messages"][1]["content"] for body in stub.bodies if asks("questions")(body)]
    assert "Write 5 open questions" in asked and "web_search, page_visit, calculate" in asked
    assert (found.creator, found.query, found.as_of) == (Creator.AGENT_RETRIEVAL, QUERY, AS_OF)
    assert found.judge and found.judge["model"] == "openai/m" and found.tools and found.tools["tools"] == "corpus"
    assert found.settings and found.settings["tools_chosen"] == ["web_search", "page_visit"]
    assert [item.id for item in found.kic] == [f"k{n}" for n in range(1, 11)]
    assert found.kic[0].published == date(2020, 1, 1), "the page's own date"
    assert [item.time_sensitive for item in found.kic] == [True] + [False] * 9
    assert [item.question for item in found.rq] == [f"Why {n}?" for n in range(1, 6)]
    assert found.rejected == []
    assert sorted(path.name for path in (tmp_path / "run" / "trajectories").iterdir()) == [
        "protocol-t-kic-0.json",
        "protocol-t-rq.json",
    ]
    assert {record.role for record in gateway.records} == {"creation", "tools"}
    assert {record.cell for record in gateway.records} == {"protocol:t"}


@pytest.mark.parametrize("mode", MODES)
def test_what_is_not_on_its_page_is_rejected_and_replaced(
    mode: str, stub: OpenAIStub, gateway: TestGateway, tmp_path: Path
) -> None:
    late = {**PAGES[0], "url": "https://late.example", "published": "2025-06-01"}
    wrong = [
        draft(11, quote="Bridge 11 was opened in 1919."),
        draft(12, url="https://pages.example/none"),
        draft(13, url="https://late.example", quote="Bridge 1 was opened in 2019."),
        draft(1),
    ]
    stub.script(*turn(mode), *turn(mode), *turn(mode), when=is_turn)
    stub.script(
        saying(facts(*(draft(n) for n in range(1, 9)), *wrong)),
        saying(facts(draft(9), draft(14, quote="Nobody wrote this."))),
        saying(facts(draft(10))),
        when=asks("facts"),
    )
    found = get(source(corpus(tmp_path, gateway, [*PAGES, late]), "kic"), model(stub, gateway, tool_mode=mode))
    assert [item.fact for item in found.kic] == [draft(n)["fact"] for n in range(1, 11)]
    assert [(one.round, one.reason) for one in found.rejected] == [
        (0, "quote_not_on_page"),
        (0, "page_not_in_corpus"),
        (0, "page_not_in_corpus"),
        (0, "duplicate"),
        (1, "quote_not_on_page"),
    ]
    opening = [body["messages"][1]["content"] for body in stub.bodies if is_turn(body)]
    assert "Find the 10 to 15 facts" in opening[0]
    assert "Find 1 to 4 more facts" in opening[1] and "Bridge 11 was opened in 2019." in opening[1]
    assert "quote_not_on_page" in opening[1] and "Bridge 8 was opened in 2019." in opening[1]
    assert "Find 1 to 1 more facts" in opening[2]


def test_below_eight_after_two_rounds_the_facts_are_invalid(stub: OpenAIStub, gateway: TestGateway, tmp_path: Path) -> None:
    bad = [draft(n, quote="Nobody wrote this.") for n in range(8, 14)]
    stub.always(turn("json")[0], when=is_turn)
    stub.script(
        saying(facts(*(draft(n) for n in range(1, 8)), *bad)), saying(facts(*bad)), saying(facts(*bad)), when=asks("facts")
    )
    found = get(source(corpus(tmp_path, gateway), "kic"), model(stub, gateway, tool_mode="json"))
    assert (len(found.kic), found.kic_trouble()) == (7, "protocol_invalid")
    assert [one.round for one in found.rejected] == [0] * 6 + [1] * 6 + [2] * 6
    assert sum(asks("facts")(body) for body in stub.bodies) == 3


def answers(rubric: Rubric, context: Any, repeat: int) -> dict[str, Any]:
    replies = {
        "select_tools": SELECTED,
        "agent_step": step("finish"),
        "key_facts": TEN,
        "reasoning_questions": questions(5, "calculate"),
    }
    return replies[rubric.kind.name]


class Scripted(ScriptedJudge):
    """Counts what it is asked, by kind."""

    def __init__(self, gateway: TestGateway, script: Any = answers, name: str = "j") -> None:
        self.asked: list[str] = []

        def counted(rubric: Rubric, context: Any, repeat: int) -> Any:
            self.asked.append(rubric.kind.name)
            return script(rubric, context, repeat)

        super().__init__(name=name, gateway=gateway, script=counted)


@pytest.mark.parametrize(
    ("creator", "kinds"),
    [
        ("llm", ["key_facts", "reasoning_questions"]),
        ("agent", ["agent_step", "agent_step", "key_facts", "reasoning_questions"]),
        ("agent_retrieval", ["agent_step", "agent_step", "key_facts", "reasoning_questions", "select_tools"]),
    ],
)
def test_the_three_ways_to_create(creator: Any, kinds: list[str], gateway: TestGateway, tmp_path: Path) -> None:
    judge = Scripted(gateway)
    found = get(source(corpus(tmp_path, gateway), creator=creator), judge)
    assert sorted(judge.asked) == kinds
    assert found.creator.value == creator
    assert bool(found.kic[0].url) is (creator == "agent_retrieval"), "what was not read is not cited"
    assert found.settings and found.settings["tools_chosen"] == {"llm": [], "agent": ["calculate"]}.get(
        creator, SELECTED["tools"]
    )


def test_plans_with_tools_that_do_not_exist_and_surplus_items_are_rejected(gateway: TestGateway, tmp_path: Path) -> None:
    def sloppy(rubric: Rubric, context: Any, repeat: int) -> dict[str, Any]:
        if rubric.kind.name == "reasoning_questions":
            return {"questions": [*questions(1, "telescope")["questions"], *questions(6)["questions"]]}
        if rubric.kind.name == "key_facts":
            return facts(*(draft(n) for n in range(1, 13)))
        return answers(rubric, context, repeat)

    found = get(source(corpus(tmp_path, gateway), kic_least=8, kic_most=8, rounds=0), Scripted(gateway, sloppy))
    assert [(one.part, one.reason) for one in found.rejected] == [
        *[("kic", "too_many")] * 4,
        ("rq", "unknown_tool"),
        ("rq", "too_many"),
    ]
    assert (len(found.kic), len(found.rq)) == (8, 5)


def test_one_making_serves_all_reports_and_other_runs(gateway: TestGateway, tmp_path: Path) -> None:
    tools = corpus(tmp_path, gateway)
    judge = Scripted(gateway)
    made = source(tools)
    made.assign({"j": judge, "k": Scripted(gateway, name="k")})
    made.open(tmp_path / "run" / "protocols", tmp_path / "shared", CacheMode.READWRITE)

    async def many() -> list[Protocol | None]:
        found = await asyncio.gather(*(made.get(TASK, executing) for executing in [judge, None, judge]))
        await made.close()
        return list(found)

    first, *others = asyncio.run(many())
    assert first is not None and all(other is first for other in others)
    assert judge.asked.count("key_facts") == 1
    assert made.hash_of(TASK, None) == first.content_hash()
    (in_run,) = (tmp_path / "run" / "protocols").iterdir()
    assert in_run.name == f"t-{first.content_hash()}.json"
    (shared,) = (tmp_path / "shared").iterdir()
    assert read_protocol(shared) == read_protocol(in_run)
    again = Scripted(gateway)
    assert get(source(tools), again, tmp_path).content_hash() == first.content_hash()
    in_run.unlink()
    assert get(source(tools), again, tmp_path).content_hash() == first.content_hash()
    assert again.asked == []
    assert in_run.exists()


@pytest.mark.parametrize(
    ("mode", "read", "written"), [("off", False, False), ("refresh", False, True), ("readwrite", True, True)]
)
def test_the_cache_mode_holds_for_protocols(mode: str, read: bool, written: bool, gateway: TestGateway, tmp_path: Path) -> None:
    tools = corpus(tmp_path, gateway)
    get(source(tools, "kic"), Scripted(gateway), tmp_path / "one", mode=CacheMode(mode))
    assert (tmp_path / "one" / "shared").exists() is written
    get(source(tools, "kic"), Scripted(gateway), tmp_path / "two")
    (tmp_path / "two" / "run").rename(tmp_path / "another run")
    judge = Scripted(other := make_gateway(tmp_path / "empty"))
    get(source(corpus(tmp_path, other), "kic"), judge, tmp_path / "two", mode=CacheMode(mode))
    assert bool(judge.asked) is not read


def test_a_page_without_a_date_may_not_be_later_by_the_judges_own_word(gateway: TestGateway, tmp_path: Path) -> None:
    pages = [{key: value for key, value in page.items() if key != "published"} for page in PAGES]

    def dated(rubric: Rubric, context: Any, repeat: int) -> dict[str, Any]:
        if rubric.kind.name == "key_facts":
            return facts(*(draft(n, published=f"202{4 + n % 2}-05-05") for n in range(1, 11)))
        return answers(rubric, context, repeat)

    found = get(source(corpus(tmp_path, gateway, pages), "kic", rounds=0), Scripted(gateway, dated))
    assert [one.reason for one in found.rejected] == ["later_than_as_of"] * 5
    assert {item.published for item in found.kic} == {date(2024, 5, 5)}


def test_settings_that_change_a_protocol_are_its_identity(gateway: TestGateway, tmp_path: Path) -> None:
    tools = corpus(tmp_path, gateway)

    def identity(**keys: Any) -> str:
        made = source(tools, **keys)
        made.assign({"j": Scripted(gateway)})
        return json.dumps(made.identity(), sort_keys=True)

    assert identity() == identity()
    for keys in ({"creator": "llm"}, {"kic_most": 12}, {"rq_items": 4}, {"rounds": 1}, {"parts": "kic"}, {"judge": "each"}):
        assert identity(**keys) != identity(), keys


def test_each_judge_may_make_its_own(gateway: TestGateway, tmp_path: Path) -> None:
    one, other = Scripted(gateway), Scripted(gateway, name="k")
    made = source(corpus(tmp_path, gateway), "kic", judge="each")
    made.assign({"j": one, "k": other})

    async def both() -> list[Protocol | None]:
        return [await made.get(TASK, one), await made.get(TASK, other)]

    first, second = asyncio.run(both())
    assert first and second and first.judge != second.judge
    assert made.hash_of(TASK, one) != made.hash_of(TASK, other)
    assert one.asked == other.asked


def test_tasks_wait_for_their_own_protocol_only_and_the_next_are_begun(gateway: TestGateway, tmp_path: Path) -> None:
    tasks = [Task(f"t{n}", f"{QUERY} {n}", "d", AS_OF) for n in range(8)]

    def failing(rubric: Rubric, context: Any, repeat: int) -> dict[str, Any]:
        if context.question.endswith(" 0"):
            raise ProviderError("down", code="server_error", permanent=True)
        return answers(rubric, context, repeat)

    made = source(corpus(tmp_path, gateway), "kic")
    judge = Scripted(gateway, failing)
    made.assign({"j": judge})
    made.expect(tasks)

    async def run() -> None:
        with pytest.raises(ProviderError, match="down"):
            await made.get(tasks[0], judge)
        assert await made.get(tasks[1], judge) is not None
        await asyncio.sleep(0.3)
        assert [bool(made.hash_of(task, judge)) for task in tasks] == [False, *[True] * 5, False, False]
        await made.close()

    asyncio.run(run())


def test_what_the_data_set_brings_along_comes_first(gateway: TestGateway, tmp_path: Path) -> None:
    write_protocol(tmp_path / "brought" / "p.json", protocol(9, 1))
    judge = Scripted(gateway)
    made = source(corpus(tmp_path, gateway), protocols=tmp_path / "brought")
    assert made.problems([TASK]) == []
    found = get(made, judge, tmp_path)
    assert (found.creator, judge.asked, made.hash_of(TASK, judge)) == (Creator.HUMAN, [], protocol(9, 1).content_hash())
    mine = get(source(corpus(tmp_path, gateway), protocols=tmp_path / "brought", bundled=False), judge)
    assert mine.creator is Creator.AGENT_RETRIEVAL


def test_who_makes_a_protocol_is_never_settled_in_silence(gateway: TestGateway, tmp_path: Path) -> None:
    tools, brought = corpus(tmp_path, gateway), tmp_path / "brought"
    judge = EmbeddedJudge(name="embedded", gateway=gateway)
    write_protocol(brought / "p.json", protocol(9, 1))
    kept = source(tools, "kic", protocols=brought, creator="human")
    assert kept.problems([TASK]) == [] and get(kept, judge).creator is Creator.HUMAN
    assert kept.identity()["bundled"] == {protocol(9, 1).content_hash(): "human"}
    (problem,) = kept.problems([Task("x", "Another query?", "d", AS_OF)])
    assert "the data set brings none along for task x" in problem.what
    own = source(tools, "kic", protocols=brought, creator="embedded", kic_least=8)
    assert get(own, judge).creator is Creator.EMBEDDED and own.identity()["bundled"] == {}
    by_model = source(tools, "kic", creator="embedded")
    by_model.assign({"j": Scripted(gateway)})
    assert any("made by a judge of rules" in problem.what for problem in by_model.problems([TASK]))


class Unable(EmbeddedJudge):
    """Has no rules for reasoning questions."""

    def refusal(self, rubric: Rubric) -> str | None:
        return "it cannot" if rubric.kind.name == "reasoning_questions" else None


def test_what_keeps_a_protocol_from_being_made_is_said_before_the_run(gateway: TestGateway, tmp_path: Path) -> None:
    made = source(NoTools())
    made.assign({"embedded": Unable(name="embedded", gateway=gateway)})
    said = [str(problem) for problem in made.problems([Task("x", "q", "d")])]
    assert said[0].startswith("judge.embedded: cannot create protocols: protocols/reasoning_questions.default")
    assert "type: protocol=files protocol.path=FOLDER" in said[0]
    assert "tools=none cannot" in said[1]
    assert "task x has no date to search up to" in said[2]
    assert source(corpus(tmp_path, gateway), "").problems([Task("x", "q", "d")]) == [], "nobody asks"


def test_a_creator_that_does_not_judge_here_is_named(gateway: TestGateway, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="jj is no judge of this run"):
        source(corpus(tmp_path, gateway), judge="jj").assign({"j": Scripted(gateway)})
    with pytest.raises(ConfigError, match="kic_least"):
        source(corpus(tmp_path, gateway), kic_least=16)


def test_trouble_with_a_page_makes_no_protocol(stub: OpenAIStub, gateway: TestGateway, tmp_path: Path) -> None:
    tools = corpus(tmp_path, gateway)

    async def unreachable(url: str, as_of: Any) -> Any:
        raise ProviderError("slow", code="timeout")

    tools.page_visit = unreachable  # type: ignore[method-assign]
    with pytest.raises(ProviderError, match="slow"):
        get(source(tools, "kic"), Scripted(gateway), tmp_path)
    assert not (tmp_path / "shared").exists() and not (tmp_path / "run").exists()


def test_a_selection_without_pages_is_sent_back(stub: OpenAIStub, gateway: TestGateway, tmp_path: Path) -> None:
    poor = saying({"reason": "r", "tools": ["calculate"]})
    stub.always(poor, when=lambda body: asks("tools")(body) and "reason" in str(body["tools"]))
    stub.always(turn("json")[0], when=is_turn)
    stub.always(saying(TEN), when=asks("facts"))
    found = get(source(corpus(tmp_path, gateway), "kic"), model(stub, gateway, tool_mode="json"))
    assert "choose web_search or page_visit as well" in stub.bodies[1]["messages"][-1]["content"]
    assert found.settings and found.settings["tools_chosen"] == ["calculate", "web_search", "page_visit"]


def test_the_embedded_judge_makes_facts_of_what_it_reads(gateway: TestGateway, tmp_path: Path) -> None:
    kept = Trajectories()
    kept.open(tmp_path / "run")
    made = source(corpus(tmp_path, gateway), "kic", kic_least=8, trajectories=kept)
    judge = EmbeddedJudge(name="embedded", gateway=gateway)
    assert made.problems([TASK]) == []
    task = Task("t", "When was each bridge opened?", "d", AS_OF)
    found = get(made, judge, task=task)
    assert found.creator is Creator.EMBEDDED and found.judge and found.judge["judge"] == "embedded"
    texts = {page["url"]: page["text"] for page in PAGES}
    assert 8 <= len(found.kic) <= 15
    assert all(item.quote in texts[item.url] and item.published == date(2020, 1, 1) for item in found.kic)
    assert all(item.question.startswith("Does the report state that ") for item in found.kic)
    assert found.content_hash() == get(source(corpus(tmp_path, gateway), "kic", kic_least=8), judge, task=task).content_hash()
    record = json.loads((tmp_path / "run" / "trajectories" / "protocol-t-kic-0.json").read_text(encoding="utf-8"))
    assert [one["tool"] for one in record["steps"]] == ["web_search", *["page_visit"] * 8]
    assert record["ended"] == "finished"


def test_the_embedded_judge_gives_no_more_facts_than_there_are(gateway: TestGateway, tmp_path: Path) -> None:
    made = source(corpus(tmp_path, gateway, PAGES[:2]), "kic")
    found = get(made, EmbeddedJudge(name="embedded", gateway=gateway), task=Task("t", "Bridge", "d", AS_OF))
    assert 0 < len(found.kic) <= 4 and found.kic_trouble() == "protocol_invalid"
