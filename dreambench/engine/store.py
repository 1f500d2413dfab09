"""Stored answers: diskcache with a Disk that holds text and refuses pickles.

diskcache unpickles whatever a row claims to be a pickle, so a planted row would run code; `TextDisk` stores str only and
reads nothing else. There is no eviction. Writing is off the event loop, in one thread. So is reading while the disk is
slow; a file in the page cache answers faster than a thread could be asked, so there the loop reads by itself (`_Pace`).
"""

from __future__ import annotations

import asyncio
import io
import sqlite3
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from dreambench.engine.call import Call, Reply
from dreambench.errors import CacheMissError, InputError, Problem

if TYPE_CHECKING:
    from diskcache import Cache

T = TypeVar("T")


class StoreError(InputError):
    """The answer cache as a whole cannot be read or written."""


class CacheMode(StrEnum):
    """`readwrite`; `replay`: a miss is an error; `refresh`: ask again, then store; `off`: the shared cache is not touched.

    In `refresh` and `off` a run still keeps its own answers beside its results, so that resuming it buys nothing twice.
    """

    READWRITE = "readwrite"
    REPLAY = "replay"
    REFRESH = "refresh"
    OFF = "off"


def open_text_cache(folder: Path) -> Cache:
    """A diskcache Cache in `folder` (made, mode 0700) that stores text only. Raises OSError or sqlite3 errors."""
    from diskcache import Cache, Disk
    from diskcache.core import MODE_PICKLE, MODE_TEXT

    class TextDisk(Disk):  # type: ignore[misc]
        """Stores str, refuses everything else in both directions."""

        def put(self, key: Any) -> tuple[str, bool]:
            return _only_text(key), True

        def get(self, key: Any, raw: bool) -> str:
            if not raw:
                raise ValueError("cache key is pickled: refused")
            return _only_text(key)

        def store(self, value: Any, read: bool, key: Any = None) -> Any:
            return super().store(_only_text(value), False, key=key)

        def fetch(self, mode: int, filename: Any, value: Any, read: bool) -> str:
            if mode == MODE_PICKLE or isinstance(value, bytes):
                raise ValueError("cache entry is pickled: refused")
            if filename is not None and (mode != MODE_TEXT or not self._is_inside(filename)):
                raise ValueError("cache entry is not text of this cache: refused")
            found = super().fetch(mode, filename, value, False)
            if isinstance(found, io.IOBase):
                raise ValueError("cache entry is not text: refused")
            return _only_text(found)

        def remove(self, file_path: str) -> None:
            if self._is_inside(file_path):
                super().remove(file_path)

        def _is_inside(self, name: str) -> bool:
            """A planted row may name a file anywhere; ours lie below the cache's folder."""
            root = Path(self._directory).resolve()
            return (root / name).resolve().is_relative_to(root)

    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    folder.chmod(0o700)
    return Cache(str(folder), disk=TextDisk, eviction_policy="none", cull_limit=0, timeout=60)


def _only_text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"the answer cache holds text only, not {type(value).__name__}")
    return value


class _Pace:
    """Whether reads are quick enough for the event loop: on (moving) average a thousandth of a second at most.

    One read counts as four times the limit at most: on a busy machine a read waits for the processor now and then, however
    fast the disk is, and a thread would wait longer.
    """

    LIMIT = 0.001
    SHARE = 1 / 16
    MOST = 4 * LIMIT

    def __init__(self) -> None:
        self._mean = 0.0

    @property
    def quick(self) -> bool:
        return self._mean <= self.LIMIT

    def took(self, seconds: float) -> None:
        self._mean += self.SHARE * (min(seconds, self.MOST) - self._mean)


class AnswerStore:
    """Where answers are looked up and kept, by the rules of a CacheMode."""

    def __init__(self, mode: CacheMode) -> None:
        self.mode = mode
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="answers")
        self._read_folders: list[Path] = []
        self._write_folders: list[Path] = []
        self._open: dict[Path, Cache] = {}
        self._kept: dict[str, Reply] = {}
        self._pace = _Pace()
        self.trouble = ""

    def open(self, *, shared: Path, run_local: Path) -> None:
        """Says where answers lie; called once, when the run is known. Folders are made when first used."""
        mode = self.mode
        own = mode in (CacheMode.OFF, CacheMode.REFRESH)
        self._read_folders = [run_local] if own else [shared]
        self._write_folders = {CacheMode.OFF: [run_local], CacheMode.REFRESH: [run_local, shared]}.get(mode, [shared])

    @property
    def home(self) -> Path:
        """The folder that bought answers go to; what is known of answers on their way lies there too."""
        return self._write_folders[0]

    async def get(self, key: str) -> Reply | None:
        """The stored reply, or None; an unreadable entry counts as a miss.

        Raises CacheMissError in replay mode, StoreError when the cache as a whole cannot be read: going on would buy again
        what is already there.
        """
        if (kept := self._kept.get(key)) is not None:
            return kept
        if self._pace.quick and all(folder in self._open for folder in self._read_folders):
            reply = self._timed(key)
        else:
            reply = await self._off_loop(self._timed, key)
        if reply is None and self.mode is CacheMode.REPLAY:
            raise CacheMissError(f"cache.mode=replay, but {self._read_folders[0]} has no answer for call {key[:16]}")
        return reply

    async def put(self, call: Call, reply: Reply) -> None:
        """Stores a bought reply in every place that the mode writes to.

        Never raises for a full disk or a broken file: the reply is kept in memory, `trouble` says why, and `close` tries again.
        """
        await self._off_loop(self._put, call.key, reply)

    async def drop(self, key: str) -> None:
        """Forgets a reply wherever this run may write; nowhere in replay mode."""
        self._kept.pop(key, None)
        if self.mode is not CacheMode.REPLAY:
            await self._off_loop(self._drop, key)

    def close(self) -> None:
        """Waits for what is being written, tries once more what could not be, and closes the files."""
        here = list(self._open.values())
        self._thread.submit(self._close).result()
        self._thread.shutdown(wait=True)
        for cache in here:  # diskcache has a connection per thread
            cache.close()

    async def _off_loop(self, work: Callable[..., T], *args: Any) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work, *args)

    def _cache(self, folder: Path) -> Cache:
        if folder not in self._open:
            self._open[folder] = open_text_cache(folder)
        return self._open[folder]

    def _timed(self, key: str) -> Reply | None:
        started = time.perf_counter()
        try:
            return self._get(key)
        finally:
            self._pace.took(time.perf_counter() - started)

    def _get(self, key: str) -> Reply | None:
        for folder in self._read_folders:
            if folder not in self._open and self.mode is CacheMode.REPLAY and not folder.exists():
                continue
            try:
                text = self._cache(folder).get(key)
                if text is not None:
                    return Reply.from_json(text)
            except (ValueError, TypeError, KeyError):  # half-written or planted: owed again, never trusted
                if folder in self._write_folders and self.mode is not CacheMode.REPLAY:
                    self._cache(folder).delete(key)
            except _failures() as error:
                raise StoreError(_cannot(folder, "read", error)) from error
        return None

    def _put(self, key: str, reply: Reply) -> None:
        try:
            for folder in self._write_folders:
                self._cache(folder).set(key, reply.to_json())
            self._kept.pop(key, None)
        except _failures() as error:
            self._kept[key] = reply
            self.trouble = self.trouble or f"answers could not be stored: {type(error).__name__}: {error}"

    def _drop(self, key: str) -> None:
        for folder in self._write_folders:
            try:
                self._cache(folder).delete(key)
            except _failures() as error:
                raise StoreError(_cannot(folder, "written", error)) from error

    def _close(self) -> None:
        for key, reply in list(self._kept.items()):
            self._put(key, reply)
        if self._kept:
            self.trouble = f"{self.trouble} ({len(self._kept)} of them are lost and will be bought again)"
        elif self.trouble:
            self.trouble = f"{self.trouble} (all are stored now)"
        for cache in self._open.values():
            cache.close()
        self._open.clear()


def _failures() -> tuple[type[Exception], ...]:
    """What a full disk, a broken file or a lock that is never released raises."""
    from diskcache import Timeout

    return (OSError, sqlite3.Error, Timeout)


def _cannot(folder: Path, what: str, error: Exception) -> Problem:
    why = f"{folder} cannot be {what}: {type(error).__name__}: {error}"
    return Problem("paths.cache", why, ["a folder that can be read and written", "cache.mode=off"], "paths.cache=OTHER_FOLDER")
