"""Chromium driven through its DevTools protocol over a pipe: pages are opened, keys pressed, and expressions evaluated."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
NEEDS_CHROMIUM = pytest.mark.skipif(CHROMIUM is None, reason="no chromium here: apt-get install chromium")
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run")
PATIENCE = 60.0
"""Seconds that an answer or an event is waited for."""
MARGIN = 10
"""CSS pixels around an element of which a picture is taken."""
READ, WRITE = 3, 4
"""The descriptors that Chromium reads commands from and writes answers to."""


class Tab:
    """One page of a running browser. `events` are those that came while an answer was waited for."""

    def __init__(self, commands: int, answers: int) -> None:
        self._commands, self._answers, self._buffer, self._count = commands, answers, b"", 0
        self._session: str | None = None
        self.events: list[dict[str, Any]] = []
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self._session = str(self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"])
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")

    def send(self, method: str, **params: Any) -> dict[str, Any]:
        """What the browser answers to a command. Raises RuntimeError with its words when it refuses."""
        self._count += 1
        message = {"id": self._count, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._commands, json.dumps(message).encode() + b"\0")
        while (got := self._next()).get("id") != self._count:
            self.events.append(got)
        if "error" in got:
            raise RuntimeError(f"{method}: {got['error']['message']}")
        result: dict[str, Any] = got["result"]
        return result

    def _next(self) -> dict[str, Any]:
        until = time.monotonic() + PATIENCE
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._answers], [], [], max(0.0, until - time.monotonic()))
            data = os.read(self._answers, 1 << 16) if ready else b""
            if not data:
                raise TimeoutError(f"chromium said nothing for {PATIENCE:.0f} s, or has ended")
            self._buffer += data
        record, _, self._buffer = self._buffer.partition(b"\0")
        found: dict[str, Any] = json.loads(record)
        return found

    def open(self, page: Path, ready: str = "true", fragment: str = "") -> None:
        """Shows a file, at a place in it, and waits until it is loaded and the expression `ready` is true."""
        self.send("Page.navigate", url=page.resolve().as_uri() + (f"#{fragment}" if fragment else ""))
        self.wait("location.protocol === 'file:' && document.readyState === 'complete'")
        self.wait(ready)

    def wait(self, expression: str) -> None:
        """Waits until `expression` is true. Raises TimeoutError."""
        until = time.monotonic() + PATIENCE
        while self.value(expression) is not True:
            if time.monotonic() > until:
                raise TimeoutError(f"never true: {expression}")
            time.sleep(0.05)

    def value(self, expression: str) -> Any:
        """What a JavaScript expression gives. Raises RuntimeError for one that throws."""
        got = self.send("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in got:
            raise RuntimeError(f"{expression}: {got['exceptionDetails']}")
        return got["result"].get("value")

    def press(self, *keys: str) -> None:
        """Presses keys as a keyboard does: single characters, or names like ArrowRight and Enter."""
        for key in keys:
            text = {"text": key} if len(key) == 1 else {}
            self.send("Input.dispatchKeyEvent", type="keyDown", key=key, **text)
            self.send("Input.dispatchKeyEvent", type="keyUp", key=key)

    def size(self, width: int, height: int, *, phone: bool = False, dark: bool = False) -> None:
        """The viewport in CSS pixels, and the colours that the system prefers."""
        self.send("Emulation.setScrollbarsHidden", hidden=True)
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": phone}
        self.send("Emulation.setDeviceMetricsOverride", **metrics)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.send("Emulation.setEmulatedMedia", features=[scheme])

    def screenshot(self, path: Path, element: str = "html") -> None:
        """The first element that the selector `element` finds, with a margin, as PNG, whole even outside of the viewport."""
        place = (
            f"x: x + scrollX - {MARGIN}, y: y + scrollY - {MARGIN}, width: width + {2 * MARGIN}, height: height + {2 * MARGIN}"
        )
        box = f"(({{x, y, width, height}}) => ({{{place}, scale: 1}}))"
        clip = self.value(f"{box}(document.querySelector({json.dumps(element)}).getBoundingClientRect())")
        taken = self.send("Page.captureScreenshot", format="png", clip=clip, captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(taken["data"]))

    def trouble(self) -> list[str]:
        """Errors of the console and uncaught exceptions so far."""
        self.value("0")  # what came before the answer is read
        thrown = [e["params"]["exceptionDetails"] for e in self.events if e.get("method") == "Runtime.exceptionThrown"]
        logged = [e["params"]["entry"]["text"] for e in self.events if e.get("method") == "Log.entryAdded"]
        return [str(one) for one in [*thrown, *logged]]

    def asked(self) -> list[str]:
        """Every address that was asked for so far."""
        self.value("0")
        return [e["params"]["request"]["url"] for e in self.events if e.get("method") == "Network.requestWillBeSent"]


@contextmanager
def browser(folder: Path) -> Iterator[Tab]:
    """A tab of a browser whose profile is in `folder`, and which ends with the block."""
    assert CHROMIUM is not None
    (their_read, commands), (answers, their_write) = os.pipe(), os.pipe()
    # The descriptors have to be 3 and 4: the shell moves them there, whatever numbers they have here.
    line = f'exec "$@" {READ}<&{their_read} {WRITE}>&{their_write}'
    words = [CHROMIUM, *FLAGS, "--remote-debugging-pipe", f"--user-data-dir={folder}"]
    process = subprocess.Popen(
        ["bash", "-c", line, "bash", *words],
        pass_fds=(their_read, their_write),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    for descriptor in (their_read, their_write):
        os.close(descriptor)
    try:
        tab = Tab(commands, answers)
        yield tab
        tab.send("Browser.close")
    finally:
        os.close(commands)
        process.kill()
        process.wait()
        os.close(answers)
