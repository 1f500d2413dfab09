"""What this machine knows of batches that lie at a provider: one small JSON file each, written before anyone waits.

A record says which calls (by key) a batch answers. It holds no prompt, no answer and no credentials, and only its owner may
read it. Records lie where the answers will be kept, so whoever would find the answer there finds the batch as well.
"""

from __future__ import annotations

import os
from datetime import datetime, timedelta
from pathlib import Path

from pydantic import AwareDatetime, BaseModel, ConfigDict, ValidationError

KEPT = timedelta(days=30)
"""Age at which a record is forgotten: no provider keeps the answers of a batch for longer."""


class Record(BaseModel):
    """One batch. `name` is ours and travels as its metadata; `batch` is the provider's id, empty until it has answered."""

    model_config = ConfigDict(extra="forbid")

    name: str
    account: str
    submitted: AwareDatetime
    keys: list[str]
    batch: str = ""


class Records:
    """The records of one account below `folder` (made, mode 0700, with the first of them)."""

    def __init__(self, folder: Path, account: str) -> None:
        self._folder = folder
        self._account = account

    def read(self, now: datetime) -> list[Record]:
        """Those of this account, oldest first; a file that is no record is left alone, one that is too old is removed."""
        found = []
        for path in self._folder.glob("*.json"):
            try:
                record = Record.model_validate_json(path.read_bytes())
            except (ValidationError, FileNotFoundError):  # not ours, or another process has just finished with it
                continue
            if record.account != self._account or path != self._path(record):
                continue
            if now - record.submitted > KEPT:
                self.forget(record)
            else:
                found.append(record)
        return sorted(found, key=lambda record: (record.submitted, record.name))

    def write(self, record: Record) -> None:
        """Writes it in one piece, and to the disk. Raises OSError."""
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        path = self._path(record)
        temporary = path.with_suffix(".part")
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(record.model_dump_json())
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)

    def keep(self, record: Record, keys: list[str]) -> None:
        """Narrows a record to the calls that it still has to answer; without any it is forgotten."""
        record.keys = keys
        if keys:
            self.write(record)
        else:
            self.forget(record)

    def forget(self, record: Record) -> None:
        """Deletes a record; one that is gone already is no error."""
        self._path(record).unlink(missing_ok=True)

    def _path(self, record: Record) -> Path:
        return self._folder / f"{record.name}.json"
