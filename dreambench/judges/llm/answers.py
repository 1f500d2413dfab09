"""From an answer's text to the typed answer, by the same code for a new answer and for a stored one.

A text that does not fit is sent back once (`judge.<name>.reasks`) with what is wrong with it. The wording is in reask.txt.
"""

from __future__ import annotations

import json
import re
from functools import cache
from importlib import resources

from pydantic import ValidationError

from dreambench.judges.kinds import Answer, Reading

_FENCED = re.compile(r"```[a-zA-Z]*\s*\n(.*?)\n?\s*```", re.DOTALL)
_SHOWN = 12
"""Problems named to the model at once; the rest of a long list rarely says anything new."""


class UnreadableAnswer(ValueError):
    """The text is no valid answer; its message lists what is wrong, one `- field: problem` a line."""


def read_answer(text: str, model: type[Answer], reading: Reading) -> Answer:
    """The answer in `text`: JSON as it stands, in a code block, or between the first and the last brace.

    JSON amid words is no answer where the same JSON stands in what the judge was sent: then it is a quotation, however valid.
    Raises UnreadableAnswer with the problems of the text as it stands, or of the JSON found in it.
    """
    try:
        return model.model_validate_json(text, context=reading)
    except ValidationError as error:
        first = error
    sent = _compact(reading.context.model_dump_json()) if _candidates(text) else ""
    for candidate in _candidates(text):
        if _is_quoted(candidate, sent):
            continue
        try:
            return model.model_validate_json(candidate, context=reading)
        except ValidationError as error:
            if not _is_no_json(error):
                first = error
                break
    raise UnreadableAnswer(_problems(first)) from None


def correction(answer: str, error: UnreadableAnswer) -> list[dict[str, str]]:
    """The two messages that send an unreadable answer back: what was said, and what is wrong with it."""
    return [
        {"role": "assistant", "content": answer.strip() or "(no answer)"},
        {"role": "user", "content": reask_text().replace("{problems}", str(error)).strip()},
    ]


@cache
def reask_text() -> str:
    """The wording that an unreadable answer is sent back with."""
    return resources.files(__package__).joinpath("reask.txt").read_text(encoding="utf-8")


def _candidates(text: str) -> list[str]:
    found = [match.group(1) for match in _FENCED.finditer(text)]
    start, end = text.find("{"), text.rfind("}")
    if 0 <= start < end:
        found.append(text[start : end + 1])
    return [candidate for candidate in found if candidate != text]


def _is_quoted(candidate: str, sent: str) -> bool:
    """Whether `candidate` stands in the context, as it is or as a string of its JSON."""
    compact = _compact(candidate)
    return compact in sent or _compact(json.dumps(candidate, ensure_ascii=False)[1:-1]) in sent


def _compact(text: str) -> str:
    """`text` without white space and without the escapes of JSON strings, which a quotation may lose or keep."""
    return re.sub(r"\\[nrt]|[\s\\]+", "", text)


def _is_no_json(error: ValidationError) -> bool:
    return any(item["type"] == "json_invalid" for item in error.errors(include_url=False, include_input=False))


def _problems(error: ValidationError) -> str:
    items = error.errors(include_url=False, include_input=False, include_context=False)
    lines = [f"- {'.'.join(str(part) for part in item['loc']) or 'answer'}: {item['msg']}" for item in items[:_SHOWN]]
    if more := len(items) - _SHOWN:
        lines += [f"- and {more} more"] if more > 0 else []
    return "\n".join(lines)
