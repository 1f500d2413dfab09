"""Fairness of a comparison: judges and contestants (or the reference report's author) of one model family are flagged.

A family is told from a name: the maker in front of a model's name, or a word that only one maker's models carry. Names that
tell nothing have no family and are never flagged, so silence is no proof. A flag is a finding and moves no number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

FAMILIES: Mapping[str, tuple[str, ...]] = {
    "OpenAI": ("openai", "gpt", "chatgpt", "o1", "o3", "o4"),
    "Anthropic": ("anthropic", "claude", "sonnet", "opus", "haiku"),
    "Google": ("google", "gemini", "gemma"),
    "DeepSeek": ("deepseek",),
    "Alibaba": ("qwen", "tongyi", "dashscope", "qwq"),
    "Moonshot": ("moonshot", "moonshotai", "kimi"),
    "Meta": ("llama",),
    "xAI": ("xai", "grok"),
    "Mistral": ("mistral", "mixtral", "magistral"),
    "Perplexity": ("perplexity", "sonar", "perplexityai"),
    "Zhipu": ("zhipu", "glm", "chatglm"),
    "ByteDance": ("doubao", "bytedance"),
    "MiniMax": ("minimax",),
}
"""Maker -> words that name it or its models."""
_WORD = re.compile(r"[a-z]+\d?(?![a-z])|[a-z]+")
REFERENCES = ("reference_agent", "baseline", "reference")
"""Keys of metrics that name the agent whose reports others are compared with."""


def family_of(name: str) -> str | None:
    """The maker that a model's or agent's name tells, None when it tells none or several (`gpt-researcher-claude`)."""
    said = set(re.split(r"[^a-z0-9]+", name.lower())) | set(_WORD.findall(name.lower()))
    found = [family for family, signs in FAMILIES.items() if said & set(signs)]
    return found[0] if len(found) == 1 else None


def models_of(identity: Mapping[str, Any]) -> Iterator[str]:
    """The models behind a judge: its own, or those of a panel's members."""
    if isinstance(identity.get("model"), str):
        yield identity["model"]
    for member in identity.get("members") or ():
        if isinstance(member, Mapping):
            yield from models_of(member)


def same_family(
    judges: Mapping[str, Mapping[str, Any]], agents: Sequence[str], references: Mapping[str, str] | None = None
) -> list[str]:
    """One sentence per judge and contestant of one family, and per judge and reference author.

    `judges` are identities by name, `references` agents by the metric that compares with them.
    """
    lines = []
    for name, identity in judges.items():
        for model in models_of(identity):
            family = family_of(model)
            if family is None:
                continue
            lines += [
                f"judge {name} ({model}) and agent {agent} are of one family ({family}): the judge may favour its own"
                for agent in agents
                if family_of(agent) == family
            ]
            lines += [
                f"judge {name} ({model}) and {agent}, the reference of {metric}, are of one family ({family}): "
                "scores against it may be too low"
                for metric, agent in (references or {}).items()
                if family_of(agent) == family
            ]
    return list(dict.fromkeys(lines))


def references_of(metrics: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Metric -> the agent that it compares with, from the metrics' identities or their nodes in a configuration."""
    return {name: str(node[key]) for name, node in metrics.items() for key in REFERENCES if isinstance(node.get(key), str)}
