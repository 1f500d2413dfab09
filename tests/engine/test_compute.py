"""The thread that computes: one a process, and a forked process has its own."""

from __future__ import annotations

import asyncio
import os
import signal
import threading

from dreambench.engine.compute import compute


def test_all_work_is_done_in_one_thread_beside_the_event_loop() -> None:
    async def both() -> list[int]:
        return await asyncio.gather(*(compute(threading.get_ident) for _ in range(2)))

    first, second = asyncio.run(both())
    assert first == second != threading.get_ident()
    assert asyncio.run(compute(threading.get_ident)) == first, "for whichever event loop"


def test_a_forked_process_computes_in_a_thread_of_its_own() -> None:
    assert asyncio.run(compute(os.getpid)) == os.getpid(), "the parent has its thread"
    if (child := os.fork()) == 0:
        signal.alarm(20)  # what it would wait for never comes
        os._exit(0 if asyncio.run(compute(os.getpid)) == os.getpid() else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
