"""The built site: strict, without a request to elsewhere, and its reference names all that there is."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

import dreambench
from docs import reference
from dreambench.commands.ls import purposes
from dreambench.commands.main import VERBS
from tests.docs.pages import ROOT

LOADED = re.compile(r"<(?:script|img|iframe|link)\b[^>]*?\b(?:src|href)=[\"']?(?:https?:)?//[^>]*>")


@pytest.fixture(scope="module")
def made() -> dict[str, str]:
    """The generated pages by path, as markdown."""
    return reference.pages()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built as `make site` builds it: a link or an anchor that leads nowhere ends the build."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, env=environment)
    assert built.returncode == 0, built.stdout + built.stderr
    return folder


def test_every_option_has_its_section_with_its_purpose_and_its_keys(made: dict[str, str]) -> None:
    for group, options in purposes().items():
        page = made[f"reference/options/{group}.md"]
        for name, purpose in options.items():
            section = re.search(rf"^## {name}\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL)
            assert section, f"{group}/{name}"
            assert reference.cell(purpose) in page
            content = yaml.safe_load((ROOT / "conf" / group / f"{name}.yaml").read_text(encoding="utf-8")) or {}
            for key in set(content) - {"_target_", "defaults"}:
                assert re.search(rf"`{key}[`.]|^{key}:", section[1], re.MULTILINE), f"{group}/{name}: {key}"


@pytest.mark.parametrize(
    ("page", "line"),
    [
        ("judge", "| `delivery` | `now` | `now`, `batch` | batch: rubrics go out in the provider's batches"),
        ("judge", "| `batch.most` | `1000` | whole number > 0, <= 50000 | requests of one batch |"),
        (
            "judge",
            "labels and yes/no are always voted on, ties go to the value whose first supporter comes first in members",
        ),  # a note over two lines
        ("tools", "| `kind` | `auto` | `auto`, `fast`, `neural`, `keyword`, `deep` |"),
        ("engine", "| `retry.attempts` | `6` | whole number > 0 |"),
        ("README", "| `as_of` | `null` | date or `today` or `null` |"),
        ("metric", "| `threshold` | `null` | number >= 0 or `null` |"),
    ],
)
def test_a_key_stands_with_its_default_what_is_allowed_and_what_it_is_for(made: dict[str, str], page: str, line: str) -> None:
    assert line in made[f"reference/options/{page}.md"]


def test_every_verb_stands_with_its_help(made: dict[str, str]) -> None:
    page = made["reference/commands.md"]
    for verb in VERBS:
        help_text = re.search(rf"^## {verb}\n\n```text\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
        assert help_text and f"python -m dreambench {verb}" in help_text[1], verb


@pytest.mark.slow
def test_the_site_is_built_strictly_and_every_public_name_has_its_place(site: Path) -> None:
    for name, (_, modules) in reference.PYTHON.items():
        page = (site / "reference" / "python" / f"{name}.html").read_text(encoding="utf-8")
        for module in modules:
            names = reference.public_names(module)
            assert names, module
            assert [one for one in names if f'id="{module}.{one}"' not in page] == [], module
    public = set(dreambench.__all__) - {"__version__"}
    assert public <= set(reference.public_names("dreambench.api"))


@pytest.mark.slow
def test_no_page_of_the_site_loads_anything_from_elsewhere(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    assert len(pages) > 60
    assert {str(page.relative_to(site)): found for page in pages if (found := LOADED.findall(page.read_text("utf-8")))} == {}
