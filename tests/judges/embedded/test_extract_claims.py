"""Claims by rules: checkable, standing alone, quoted, and found again in every real report."""

from __future__ import annotations

import json
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from dreambench.judges.embedded.extract_claims import answer
from dreambench.judges.kinds import Reading
from dreambench.judges.kinds.extract_claims import KIND, Answer, Context
from dreambench.judges.quotes import check_quote

REPORT = """# Rance

The **Rance plant** opened in 1966 with a capacity of 240 megawatts [1]. It employs 70 people. This report looks at its cost.
Should one build more? Costs fell by 20 % after 1990; France paid 620 million francs in 1967.

## Output

- 500 gigawatt-hours a year since 1970
- The Rance plant opened in 1966 with a capacity of 240 megawatts.

[1] https://a.example/rance
"""


def extract(report: str, limit: int | None = None, question: str = "How large is the Rance plant?") -> Answer:
    context = Context(question=question, as_of=None, report=report, limit=limit)
    found = KIND.answer.model_validate(answer({}, context), context=Reading(context))
    assert isinstance(found, Answer)
    return found


def test_claims_stand_alone_and_quote_the_report() -> None:
    opened = "opened in 1966 with a capacity of 240 megawatts"
    found = [(claim.claim, claim.quote) for claim in extract(REPORT).claims]
    assert found == [
        (f"The Rance plant {opened}.", f"The **Rance plant** {opened}"),
        ("Rance employs 70 people.", "It employs 70 people."),
        ("Costs fell by 20 % after 1990.", "Costs fell by 20 % after 1990;"),
        ("France paid 620 million francs in 1967.", "France paid 620 million francs in 1967."),
        ("Output: 500 gigawatt-hours a year since 1970.", "500 gigawatt-hours a year since 1970"),
    ]  # fmt: skip


def test_with_a_limit_the_weightiest_come_first() -> None:
    (first,) = extract(REPORT, limit=1).claims
    assert first.claim.startswith("The Rance plant opened")
    assert len(extract(REPORT, limit=3).claims) == 3


def test_a_report_without_statements_has_no_claims() -> None:
    for report in ("", "# Only a heading", "What is a tide? I think it is beautiful."):
        assert extract(report).claims == []


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.sampled_from(["In 1966 Rance made 240 MW.", "- It grew 5 %;", "其产量为5万吨。", "...", "**", "[1]", "# H", ""]),
        max_size=8,
    ),
    st.text(max_size=60),
)
def test_any_report_gives_claims_whose_quotes_stand_in_it(lines: list[str], tail: str) -> None:
    extract("\n".join([*lines, tail]))


def test_every_claim_of_real_reports_is_quoted_from_its_report(real_data: Path) -> None:
    for line in (real_data / "odr" / "claude4-sonnet.jsonl").read_text().splitlines()[::9]:
        row = json.loads(line)
        claims = extract(row["article"], question=row["prompt"]).claims
        assert claims
        assert all(check_quote(claim.quote, row["article"]) for claim in claims)
