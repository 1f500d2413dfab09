"""The files of one run. Results lie at its root; every start of the command adds one `attempts/N/`."""

from __future__ import annotations

import errno
import json
import os
import platform
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dreambench
from dreambench.engine.clock import Clock
from dreambench.errors import InputError, Problem, TransientError


class RunInUseError(InputError):
    """Another process works on the same run folder."""


class DiskError(TransientError):
    """The disk took no more of a run's files."""


_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO})


class RunFolder:
    """Paths of a run, its lock and its attempts. `root` is made when the run is opened."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.journal = root / "journal.jsonl"
        self.judgments = root / "judgments.parquet"
        self.calls = root / "calls.parquet"
        self.report_scores = root / "report_scores.parquet"
        self.scores = root / "scores.parquet"
        self.reports = root / "reports.parquet"
        self.page = root / "report.html"
        self.summary = root / "summary.json"
        self.config = root / "config.yaml"
        self.answers = root / "answers"
        self.study = root / "study"
        self.perturbed = root / "perturbed"
        self.pending = root / ".pending"

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Holds the run for this process. Raises RunInUseError when another has it, DiskError for a full disk inside."""
        from filelock import FileLock, Timeout

        try:
            self.root.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            if error.errno in _FULL - {errno.EROFS}:
                raise
            why = f"{error.strerror or error} ({error.filename or self.root})"
            allowed = ["a folder that can be made and written"]
            raise InputError(Problem("paths.outputs", why, allowed, "paths.outputs=FOLDER")) from error
        lock = FileLock(str(self.root / ".lock"), timeout=0)
        try:
            lock.acquire()
        except Timeout as error:
            raise RunInUseError(
                Problem(str(self.root), "another process is working on this run; wait for it, or stop it first")
            ) from error
        try:
            yield
        except OSError as error:
            if error.errno not in _FULL:
                raise
            why = f"{error.strerror or error}{f' ({error.filename})' if error.filename else ''}"
            raise DiskError(
                f"{self.root}: {why}; nothing that was bought and stored is lost\n"
                "  type: the same command again, once the disk has room; it goes on where this one stopped"
            ) from error
        finally:
            lock.release()

    def start_attempt(self, command: list[str], clock: Clock) -> Path:
        """A new `attempts/N/` with a manifest of what runs where; returns its path."""
        attempts = self.root / "attempts"
        attempts.mkdir(exist_ok=True)
        number = 1 + max((int(path.name) for path in attempts.iterdir() if path.name.isdigit()), default=0)
        folder = attempts / str(number)
        folder.mkdir()
        write_json(
            folder / "manifest.json",
            {
                "command": command,
                "started": clock.now().isoformat(),
                "dreambench": dreambench.__version__,
                "python": platform.python_version(),
                "platform": platform.platform(),
            },
        )
        return folder


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    """Writes JSON through a temporary file, so that a reader never sees half of it."""
    write_text(path, json.dumps(value, indent=2, ensure_ascii=False, default=str) + "\n")


def write_text(path: Path, text: str) -> None:
    """Writes text through a temporary file in the same folder."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_text(text, encoding="utf-8")
    temporary.replace(path)
