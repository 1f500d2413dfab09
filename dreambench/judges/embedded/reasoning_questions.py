"""`reasoning_questions` by rules: question forms over the query and the opened pages.

First what the pages offer a form for: figures on which they differ, causes that they name, what they only estimate; then
forms that fit every topic, over each part of the query. Whether a question is hard no rule knows: item quality shows it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice, zip_longest
from typing import Any

from dreambench.judges.embedded.lexicon import read_words
from dreambench.judges.embedded.reasoning.source import Source, sources_of, words_on
from dreambench.judges.kinds.reasoning_questions import Context
from dreambench.language.causes import find_causal_claim
from dreambench.language.claims import check_worthy_sentences
from dreambench.language.polarity import is_hedged
from dreambench.language.text import has_cjk
from dreambench.language.tokens import content_words, overlap, sentences

MOST_SENTENCES = 24
"""Sentences of the pages, those nearest to the query first, that questions are made of."""
LEAST_WORTH = 0.1
"""Least score of such a sentence: a cause or an estimate needs no figure."""
_MARKUP = re.compile(r"^[\s>*+\-#]+|[*_`]+")
_END = re.compile(r"[\s.。?？!！]+$")
_LONGEST = 240
Form = Mapping[str, Any]


def refusal(settings: Mapping[str, Any]) -> str | None:
    """None: settings belong to the wording."""
    return None


def answer(settings: Mapping[str, Any], context: Context) -> dict[str, Any]:
    """`count` questions, the kinds of form in turn."""
    forms: Mapping[str, Form] = read_words("question_forms.yaml")["zh" if has_cjk(context.question) else "en"]
    tools = [name for name in ("web_search", "page_visit") if name in context.tools] or context.tools[:1]
    sums = [name for name in ("page_visit", "calculate") if name in context.tools] or tools
    found = _of_pages(context)
    general = _of_query(context, forms)
    made = islice(_different(chain(found, general)), context.count)
    return {"questions": [_question(forms[form], fields, sums if form == "figures" else tools) for form, fields in made]}


def _of_pages(context: Context) -> Iterator[tuple[str, dict[str, str]]]:
    """One form of each kind in turn, over the sentences of the pages."""
    sources = [source for source in sources_of(context.steps) if has_cjk(source.text) == has_cjk(context.question)]
    told = _nearest(context.question, sources)
    disputed = (("sources", {"fact": text}) for text, source in told if _contradicted(text, source, sources))
    causes = (("cause", {"fact": text}) for text, _ in told if find_causal_claim(text))
    estimates = (("estimate", {"fact": text}) for text, _ in told if is_hedged(text))
    for row in zip_longest(islice(disputed, 3), islice(causes, 3), islice(estimates, 3)):
        yield from (one for one in row if one)


def _nearest(question: str, sources: Sequence[Source]) -> list[tuple[str, Source]]:
    told = [
        (_END.sub("", _MARKUP.sub("", one.text)).strip(), source)
        for source in sources
        for one in check_worthy_sentences(source.text, LEAST_WORTH)
        if len(one.text) <= _LONGEST
    ]
    return sorted(told, key=lambda pair: -overlap(question, pair[0]))[:MOST_SENTENCES]


def _contradicted(text: str, source: Source, sources: Sequence[Source]) -> bool:
    """Whether another site gives another figure."""
    others = [other for other in sources if other.site != source.site]
    return any(word.stand == "against" for word in words_on(text, others, text))


def _of_query(context: Context, forms: Mapping[str, Form]) -> Iterator[tuple[str, dict[str, str]]]:
    """The forms that fit every topic, each over another part of the query in every round, down to its clauses."""
    parts = [_END.sub("", sentence.text).strip() for sentence in sentences(context.question)]
    clauses = [part for text in parts for part in re.split(r"[,;，；、：:]\s*", text) if len(content_words(part)) > 2]
    topics = list(dict.fromkeys([*(part for part in parts if len(content_words(part)) > 2), *clauses])) or [context.question]
    fitting = [form for form, wording in forms.items() if "{topic}" in wording["question"]]
    as_of = context.as_of or str(forms["time"]["undated"])
    for turn in range(len(topics)):
        for number, form in enumerate(fitting):
            yield form, {"topic": topics[(number + turn) % len(topics)], "as_of": as_of}


def _different(made: Iterator[tuple[str, dict[str, str]]]) -> Iterator[tuple[str, dict[str, str]]]:
    seen: set[str] = set()
    for form, fields in made:
        key = f"{form} {fields.get('fact') or fields.get('topic')}"
        if key not in seen:
            seen.add(key)
            yield form, fields


def _question(form: Form, fields: Mapping[str, str], tools: Sequence[str]) -> dict[str, Any]:
    def said(text: str) -> str:
        return re.sub(r"\{(\w+)\}", lambda field: fields.get(field[1], field[0]), text)

    return {
        "question": said(form["question"]),
        "extract": said(form["extract"]),
        "verify": [{"what": said(what), "tools": list(tools)} for what in form["verify"]],
        "criteria": [said(text) for text in form["criteria"]],
    }
