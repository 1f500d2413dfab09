"""A model for whole runs of Factuality on the scripted server: `stub.always(model.act, when=model.saw)`."""

from __future__ import annotations

import json
import re
from typing import Any

from dreambench.judges.kinds.queries import repeated_value
from tests.support.openai_stub import Act

CLAIMS = 6
"""Claims that it finds in a report at the most."""


class CheckingModel:
    """Answers like a model that finds claims with figures and sees most of them confirmed; quotes stand where they must."""

    def __init__(self) -> None:
        self._body: dict[str, Any] = {}
        self.act = Act(change=self._change)

    def saw(self, body: dict[str, Any]) -> bool:
        self._body = body
        return True

    def _change(self, answer: dict[str, Any]) -> dict[str, Any]:
        prompt = str(self._body["messages"][1]["content"])
        if "claims" in answer:
            report = re.search(r"<report \w+>\n(.*)\n</report", prompt, re.DOTALL)
            assert report
            lines = [line for line in re.split(r"(?<=\.)\s", report[1]) if re.search(r"\d", line) and "\n" not in line]
            return {"claims": [{"claim": line, "quote": line} for line in lines[:CLAIMS]]}
        if "queries" in answer:
            claim = re.search(r"<claim \w+>\n(.*)\n</claim", prompt, re.DOTALL)
            assert claim
            words = [word for word in re.findall(r"[A-Za-z]+", claim[1]) if len(word) > 6][:6]
            asked = [" ".join(words), " ".join(words[1:]), " ".join(words[:3])]
            return {"queries": [query for query in asked if query and not repeated_value(claim[1], query)] or ["the topic"]}
        if "label" in answer:
            passage = re.search(r"<passage \w+>\n\S+\n[^\n]*\n\n(.+)", prompt)
            assert passage
            quoted = {"passage": "p1", "quote": " ".join(passage[1].split()[:6])}
            if "neutral" in json.dumps(self._body["tools"]):  # the pass that looks for contradictions finds none
                return {**answer, "label": "neutral", "passage": "", "quote": ""}
            return {**answer, **quoted, "label": "supported"}
        return answer
