"""What the package's own code never does: unpickle, evaluate text, run a shell, load YAML with classes."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.apps.command import ROOT

MODULES = {"pickle", "cPickle", "dill", "cloudpickle", "marshal", "shelve", "joblib", "jsonpickle"}
CALLS = {"eval", "exec", "compile", "__import__"}
LOADERS = {
    ("yaml", "load"),
    ("yaml", "unsafe_load"),
    ("yaml", "full_load"),
    ("torch", "load"),
    ("os", "system"),
    ("os", "popen"),
}
FILES = sorted(path for folder in ("dreambench", "experiments", "bench") for path in (ROOT / folder).rglob("*.py"))


def findings(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (f"{node.lineno}: import {alias.name}" for alias in node.names if alias.name.split(".")[0] in MODULES)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in MODULES:
            yield f"{node.lineno}: from {node.module}"
        elif isinstance(node, ast.Call):
            yield from _call(node)


def _call(node: ast.Call) -> Iterator[str]:
    if isinstance(node.func, ast.Name) and node.func.id in CALLS:
        yield f"{node.lineno}: {node.func.id}()"
    if isinstance(node.func, ast.Attribute) and (ast.unparse(node.func.value), node.func.attr) in LOADERS:
        yield f"{node.lineno}: {ast.unparse(node.func)}()"
    for keyword in node.keywords:
        if keyword.arg in ("shell", "allow_pickle") and not (
            isinstance(keyword.value, ast.Constant) and keyword.value.value is False
        ):
            yield f"{node.lineno}: {keyword.arg}="


def test_no_module_unpickles_evaluates_or_runs_a_shell() -> None:
    found = {
        str(path.relative_to(ROOT)): list(findings(ast.parse(path.read_text(encoding="utf-8"), str(path)))) for path in FILES
    }
    assert len(found) > 150
    assert {path: lines for path, lines in found.items() if lines} == {}


@pytest.mark.parametrize(
    "code",
    [
        "import pickle",
        "from cloudpickle import loads",
        "eval('1')",
        "import yaml\nyaml.load('a')",
        "subprocess.run('x', shell=True)",
        "numpy.load('x', allow_pickle=True)",
    ],
)
def test_the_search_sees_what_it_looks_for(code: str) -> None:
    assert list(findings(ast.parse(code)))


def test_every_file_of_the_package_was_searched() -> None:
    assert Path(ROOT / "dreambench" / "engine" / "store.py") in FILES
