"""A small memory for work that several questions share: ten questions about a report parse it once.

Questions are answered in threads at the same time, so whoever comes second waits for the first instead of doing the
work again.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Memory(Generic[Key, Value]):
    """The `size` values that were used last; each is made once, by one thread."""

    def __init__(self, make: Callable[[Key], Value], size: int) -> None:
        self._make = make
        self._size = size
        self._slots: OrderedDict[Key, _Slot[Value]] = OrderedDict()
        self._lock = Lock()

    def __call__(self, key: Key) -> Value:
        with self._lock:
            slot = self._slots.pop(key, None) or _Slot()
            self._slots[key] = slot
            while len(self._slots) > self._size:
                self._slots.popitem(last=False)
        with slot.lock:
            if slot.value is None:
                slot.value = (self._make(key),)
            return slot.value[0]


class _Slot(Generic[Value]):
    def __init__(self) -> None:
        self.lock = Lock()
        self.value: tuple[Value] | None = None
