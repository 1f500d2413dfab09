"""LLM judges: any provider that litellm reaches, asked for typed answers through instructor."""

from dreambench.judges.llm.judge import LLMJudge
from dreambench.judges.llm.replies import Price
from dreambench.judges.llm.smollm2 import SmolLM2Judge

__all__ = ["LLMJudge", "Price", "SmolLM2Judge"]
