"""Work for a report's citations grows with their number, whatever form they have: steps are counted, so no clock decides."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from dreambench.documents import parse_document
from dreambench.documents.urls import normalize_url, registrable_domain
from dreambench.evaluators.claims import sentence_claims
from dreambench.judges.embedded.extract_citations import answer
from dreambench.judges.kinds.extract_citations import Context
from dreambench.judges.rubric import RubricShelf
from dreambench.metrics.citations import Citations
from dreambench.metrics.metric import Subject
from dreambench.records import Report, Task
from tests.support.growth import assert_steps_not_quadratic

FORMS: dict[str, tuple[str, str]] = {
    "links": ("Fact {i} is so [s](https://s{i}.example/p). ", ""),
    "links in one sentence": ("[s](https://s{i}.example/p) ", ""),
    "numbers": ("Fact {i} is so [{i}]. ", "[{i}] T{i}: https://s{i}.example/p\n"),
    "one number of many entries": ("Fact {i} is so [1]. ", "[1] T{i}: https://s{i}.example/p\n"),
    "authors of one year": ("Fact {i} is so (Aa{i}, 2020). ", "- Aa{i}, B. (2020). T. https://s{i}.example/p\n"),
    "one author of one year": ("Fact {i} is so (Li, 2020). ", "- Li, B. (2020). T. https://s{i}.example/p\n"),
}
"""Name: a piece of the body, and an entry of the list; `{i}` counts."""


def report(form: str, count: int) -> str:
    piece, entry = FORMS[form]
    if form.startswith("authors"):  # names are words: figures become letters
        names = ["".join(chr(97 + int(digit)) for digit in f"{i:06}") for i in range(1, count + 1)]
    else:
        names = [str(i) for i in range(1, count + 1)]
    body = "".join(piece.replace("{i}", name) for name in names)
    return body + "\n\n## References\n" + "".join(entry.replace("{i}", name) for name in names)


def counted(text: str) -> object:
    task, given = Task("t", "q", "d"), Report("t", "a", text)
    subject = Subject(task, given)
    return asyncio.run(Citations(name="citations", shelf=RubricShelf([])).measure(subject, None, 0))


def claimed(text: str) -> object:
    return sentence_claims(parse_document(text), None)


def extracted(text: str) -> object:
    return answer({}, Context(question="", as_of=None, report=text))


@pytest.mark.parametrize("work", [counted, claimed, extracted], ids=lambda work: str(work.__name__))
@pytest.mark.parametrize("form", FORMS)
def test_steps_grow_with_the_number_of_citations(work: Callable[[str], object], form: str) -> None:
    def made(count: int) -> Callable[[], object]:
        text = report(form, count)
        normalize_url.cache_clear()
        registrable_domain.cache_clear()
        return lambda: work(text)

    assert_steps_not_quadratic(made, small=60)
