"""How many bought calls are under way, kept where a killed process leaves the number behind.

A call is pending from its sending until its answer is stored. A line in the journal for every start would double it; a
number in a small mapped file costs one write to memory, and the system keeps it when the process is killed. It is no
record of a power cut.
"""

from __future__ import annotations

import mmap
import os
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

_NUMBER = struct.Struct("<I")


class Pending:
    """Counts in memory until `open` gives it a file."""

    def __init__(self) -> None:
        self.calls = 0
        self._file: mmap.mmap | None = None

    def open(self, path: Path, tell: Callable[[int], None]) -> None:
        """Counts in the file `path` from now on. What a killed process left there is told first, and forgotten once `tell`
        has written it down. Raises OSError."""
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            left = os.pread(descriptor, _NUMBER.size, 0)
            os.pwrite(descriptor, left.ljust(_NUMBER.size, b"\0"), 0)  # a mapped page of a full disk could not be written
            os.ftruncate(descriptor, _NUMBER.size)
            self._file = mmap.mmap(descriptor, _NUMBER.size)
        finally:
            os.close(descriptor)
        if lost := int(_NUMBER.unpack(self._file[:])[0]):
            tell(lost)
        self._note()

    def close(self) -> None:
        """Leaves zero behind: what was cancelled stands in the ledger."""
        self.calls = 0
        self._note()
        if self._file is not None:
            self._file.close()
            self._file = None

    @contextmanager
    def one(self) -> Iterator[None]:
        """Around the sending of one call and the storing of its answer."""
        self.calls += 1
        self._note()
        try:
            yield
        finally:
            self.calls -= 1
            self._note()

    def _note(self) -> None:
        if self._file is not None:
            _NUMBER.pack_into(self._file, 0, self.calls)
