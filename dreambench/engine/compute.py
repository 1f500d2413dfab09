"""The one thread in which this process computes, so that the event loop stays free.

One, because an interpreter runs one thread of Python at a time: more of them finish nothing sooner, they only take the
interpreter from the event loop and from each other. Work that waits (for a disk, a server) goes to `asyncio.to_thread`.
"""

from __future__ import annotations

import asyncio
import contextvars
import functools
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

Given = ParamSpec("Given")
Made = TypeVar("Made")


@functools.cache
def _thread() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=1, thread_name_prefix="compute")


if hasattr(os, "register_at_fork"):  # a forked process inherits no thread: with its parent's it would wait for ever
    os.register_at_fork(after_in_child=_thread.cache_clear)


async def compute(work: Callable[Given, Made], *args: Given.args, **kwargs: Given.kwargs) -> Made:
    """What `work` makes; first come, first served. `work` must not wait for other work of this kind."""
    context = contextvars.copy_context()
    return await asyncio.get_running_loop().run_in_executor(_thread(), functools.partial(context.run, work, *args, **kwargs))
