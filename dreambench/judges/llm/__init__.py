"""LLM judges: any provider that litellm reaches, asked for typed answers through instructor."""

from dreambench.judges.llm.judge import LLMJudge
from dreambench.judges.llm.replies import Price

__all__ = ["LLMJudge", "Price"]
