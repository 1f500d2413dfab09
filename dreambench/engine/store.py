"""Stored answers: diskcache with a Disk that holds text and refuses pickles.

diskcache unpickles whatever a row claims to be a pickle, so a planted row would run code; `TextDisk` stores str only and
reads nothing else. There is no eviction. All access is off the event loop, in one thread.
"""

from __future__ import annotations

import asyncio
import io
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from dreambench.engine.call import Call, Reply
from dreambench.errors import CacheMissError

if TYPE_CHECKING:
    from diskcache import Cache

T = TypeVar("T")


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
            if filename is not None and mode != MODE_TEXT:
                raise ValueError("cache entry is not text: refused")
            found = super().fetch(mode, filename, value, False)
            if isinstance(found, io.IOBase):
                raise ValueError("cache entry is not text: refused")
            return _only_text(found)

    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    folder.chmod(0o700)
    return Cache(str(folder), disk=TextDisk, eviction_policy="none", cull_limit=0, timeout=60)


def _only_text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"the answer cache holds text only, not {type(value).__name__}")
    return value


class AnswerStore:
    """Where answers are looked up and kept, by the rules of a CacheMode."""

    def __init__(self, mode: CacheMode) -> None:
        self.mode = mode
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="answers")
        self._read_folders: list[Path] = []
        self._write_folders: list[Path] = []
        self._open: dict[Path, Cache] = {}

    def open(self, *, shared: Path, run_local: Path) -> None:
        """Says where answers lie; called once, when the run is known. Folders are made when first used."""
        mode = self.mode
        own = mode in (CacheMode.OFF, CacheMode.REFRESH)
        self._read_folders = [run_local] if own else [shared]
        self._write_folders = {CacheMode.OFF: [run_local], CacheMode.REFRESH: [run_local, shared]}.get(mode, [shared])

    async def get(self, key: str) -> Reply | None:
        """The stored reply, or None. Raises CacheMissError in replay mode. An unreadable entry counts as a miss."""
        reply = await self._off_loop(self._get, key)
        if reply is None and self.mode is CacheMode.REPLAY:
            raise CacheMissError(f"cache.mode=replay, but no stored answer for call {key[:16]}")
        return reply

    async def put(self, call: Call, reply: Reply) -> None:
        """Stores a bought reply in every place that the mode writes to."""
        await self._off_loop(self._put, call.key, reply.to_json())

    async def drop(self, key: str) -> None:
        """Forgets a reply wherever this run may write."""
        await self._off_loop(self._drop, key)

    def close(self) -> None:
        self._thread.shutdown(wait=True)
        for cache in self._open.values():
            cache.close()

    async def _off_loop(self, work: Callable[..., T], *args: str) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work, *args)

    def _cache(self, folder: Path) -> Cache:
        if folder not in self._open:
            self._open[folder] = open_text_cache(folder)
        return self._open[folder]

    def _get(self, key: str) -> Reply | None:
        for folder in self._read_folders:
            try:
                text = self._cache(folder).get(key)
                if text is not None:
                    return Reply.from_json(text)
            except (ValueError, TypeError, KeyError):
                self._cache(folder).delete(key)  # half-written or planted: owed again, never trusted
        return None

    def _put(self, key: str, text: str) -> None:
        for folder in self._write_folders:
            self._cache(folder).set(key, text)

    def _drop(self, key: str) -> None:
        for folder in self._write_folders:
            self._cache(folder).delete(key)


CACHE_FAILURES = (OSError, sqlite3.Error)
"""What a full disk or a broken cache file raises from `get` and `put`."""
