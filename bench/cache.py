"""The answer store beside a bare diskcache.Cache: reads and writes per second of 5 kB answers.

python -m bench.cache
"""

from __future__ import annotations

import asyncio
import statistics
import tempfile
from pathlib import Path

from bench.timing import seconds
from dreambench.engine.call import Call, Reply
from dreambench.engine.store import AnswerStore, CacheMode

ANSWER = Reply(answer='{"reason": "' + "x" * 5000 + '", "score": 50}', model="m")


def main(count: int = 2000, rounds: int = 5) -> None:
    from diskcache import Cache

    calls = [Call("stub", "stub", "m", {"n": number}) for number in range(count)]
    with tempfile.TemporaryDirectory() as name:
        store = AnswerStore(CacheMode.READWRITE)
        store.open(shared=Path(name) / "ours", run_local=Path(name) / "run")
        bare = Cache(str(Path(name) / "bare"), eviction_policy="none")

        async def write() -> None:
            for call in calls:
                await store.put(call, ANSWER)

        async def read() -> None:
            for call in calls:
                assert await store.get(call.key) is not None

        def bare_write() -> None:
            for call in calls:
                bare.set(call.key, ANSWER.to_json())

        def bare_read() -> None:
            for call in calls:
                assert bare.get(call.key) is not None

        for what, ours, base in (("writes", write, bare_write), ("reads", read, bare_read)):
            pairs = [(count / seconds(lambda work=ours: asyncio.run(work())), count / seconds(base)) for _ in range(rounds)]
            ours_rate, bare_rate = (statistics.median(column) for column in zip(*pairs, strict=True))
            ratio = statistics.median(pair[0] / pair[1] for pair in pairs)
            print(
                f"cache {what:<28} {ours_rate:9,.0f} /s   bare diskcache, same thread {bare_rate:9,.0f} /s   ratio {ratio:6.2f}"
            )
        store.close()
        bare.close()


if __name__ == "__main__":
    main()
