"""The embedded judge: question kinds answered by deterministic language processing, without network, key or model."""

from dreambench.judges.embedded.judge import EmbeddedJudge

__all__ = ["EmbeddedJudge"]
