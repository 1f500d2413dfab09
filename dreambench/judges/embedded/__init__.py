"""The embedded judges: question kinds answered by deterministic language processing in this process, without network or key."""

from dreambench.judges.embedded.judge import EmbeddedJudge
from dreambench.judges.embedded.semantic.judge import SemanticJudge

__all__ = ["EmbeddedJudge", "SemanticJudge"]
