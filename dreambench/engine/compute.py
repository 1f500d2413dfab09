"""The one thread in which this process computes, so that the event loop stays free.

One, because an interpreter runs one thread of Python at a time: more of them finish nothing sooner, they only take the
interpreter from the event loop and from each other. Work that waits (for a disk, a server) goes to `asyncio.to_thread`.
"""

from __future__ import annotations

import asyncio
import contextvars
import functools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

Given = ParamSpec("Given")
Made = TypeVar("Made")

_THREAD = ThreadPoolExecutor(max_workers=1, thread_name_prefix="compute")


async def compute(work: Callable[Given, Made], *args: Given.args, **kwargs: Given.kwargs) -> Made:
    """What `work` makes; first come, first served. `work` must not wait for other work of this kind."""
    context = contextvars.copy_context()
    return await asyncio.get_running_loop().run_in_executor(_THREAD, functools.partial(context.run, work, *args, **kwargs))
