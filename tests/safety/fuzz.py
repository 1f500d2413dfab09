"""A coverage-guided fuzzer over what reads strangers' text (pip install atheris; not part of the test run).

python -m tests.safety.fuzz {reports,journal,overrides} FOLDER [SECONDS]

FOLDER keeps the inputs that reached new code, so that a later run goes on from them; the demo's reports are the first
ones. An input that fails is written into the working folder. It fails when a reader raises anything but its own error,
or breaks what it promises.
"""

from __future__ import annotations

import hashlib
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["dreambench"], enable_loader_override=False):
    from hydra.errors import HydraException
    from omegaconf.errors import OmegaConfBaseException

    from dreambench.config.compose import compose
    from dreambench.config.explain import explain
    from dreambench.datasets.demo import BUNDLED
    from dreambench.documents import parse_document
    from dreambench.documents.hostile import read_hostile
    from dreambench.engine.clock import Clock
    from dreambench.engine.journal import Journal, JournalError, read_lines
    from dreambench.errors import InputError
    from dreambench.runs.assembly import validate

LONGEST = 4_096
"""Bytes of an input: what goes wrong in a reader goes wrong in a short text."""


def reports(data: bytes) -> None:
    """The report parser, the reference list reader and the reader of hostile text."""
    text = data.decode("utf-8", "replace")
    judged = read_hostile(text)
    assert "".join(span.of(text) for span in judged.kept) == judged.text
    document = parse_document(judged.text)
    for reference in document.references:
        assert judged.text[reference.span.start : reference.span.end].strip()
        assert all(isinstance(url, str) and url for url in reference.urls)
    for citation in document.citations:
        assert 0 <= citation.span.start < citation.span.end <= len(judged.text)
    for sentence in document.sentences:
        assert 0 <= sentence.span.start < sentence.span.end <= len(judged.text)


def journal(data: bytes) -> None:
    """The reader of a run's journal."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "journal.jsonl"
        path.write_bytes(data)
        try:
            read = Journal(path)
            calls = list(read_lines(path, "call"))
            read.close()
        except JournalError as error:
            said = str(error)
        else:
            assert all(isinstance(done, bool) and isinstance(cell, str) for cell, done in read.done.items())
            assert all(isinstance(call["key"], str) for call in calls)
            return
    assert f"{path}:" in said


def overrides(data: bytes) -> None:
    """What people type behind the command."""
    given = [part for part in data.decode("utf-8", "replace").split("\n")[:3] if part]
    try:
        validate(compose(given), Clock())
    except InputError as error:
        said = error
    except (HydraException, OmegaConfBaseException) as error:
        said = explain(error, given)
    else:
        return
    assert said.problems and all(problem.where and problem.what for problem in said.problems)


TARGETS: dict[str, Callable[[bytes], None]] = {"reports": reports, "journal": journal, "overrides": overrides}


def seed(folder: Path) -> None:
    """Pieces of the demo's reports, where the folder is new."""
    if folder.exists():
        return
    folder.mkdir(parents=True)
    for path in sorted((BUNDLED / "reports").rglob("*.md")):
        data = path.read_bytes()
        for piece in (data[:LONGEST], data[-LONGEST:]):
            (folder / hashlib.sha256(piece).hexdigest()[:16]).write_bytes(piece)


def main(target: str, folder: str, seconds: str = "3600") -> None:
    seed(Path(folder))
    atheris.Setup([sys.argv[0], f"-max_total_time={seconds}", f"-max_len={LONGEST}", "-timeout=60", folder], TARGETS[target])
    atheris.Fuzz()


if __name__ == "__main__":
    main(*sys.argv[1:])
