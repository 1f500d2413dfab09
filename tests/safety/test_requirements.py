"""No lock and no declared range lets a version in that is known to be bad, and everything locked is pinned by its hash."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from tests.apps.command import ROOT
from tests.safety.known_bad import KNOWN_BAD

LOCKS = sorted((ROOT / "requirements").glob("*.lock"))


def locked(text: str) -> Iterator[tuple[str, str, bool]]:
    """Name, version and whether hashes follow, for each entry of a lock."""
    for block in re.split(r"\n(?=\S)", text):
        if found := re.match(r"([A-Za-z0-9._-]+)(?:\[[^\]]*\])?==([^\s;\\]+)", block):
            yield canonicalize_name(found[1]), found[2], "--hash=sha256:" in block


def bad(text: str) -> list[str]:
    return [
        f"{name}=={version}: {why}"
        for name, version, _ in locked(text)
        for range_, why in KNOWN_BAD.get(name, {}).items()
        if SpecifierSet(range_, prereleases=True).contains(version)
    ]


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.name)
def test_a_lock_holds_no_version_that_is_known_to_be_bad(lock) -> None:  # type: ignore[no-untyped-def]
    entries = list(locked(lock.read_text(encoding="utf-8")))
    assert len(entries) > 50
    assert [name for name, _, hashed in entries if not hashed] == []
    assert bad(lock.read_text(encoding="utf-8")) == []


def test_the_audit_sees_what_it_looks_for() -> None:
    planted = (
        "litellm==1.82.8 \\\n    --hash=sha256:ab\nJinja2==3.1.5 ; python_version > '3' \\\n    --hash=sha256:ab\nidna==3.20"
    )
    assert [found.split(":")[0] for found in bad(planted)] == ["litellm==1.82.8", "jinja2==3.1.5"]
    assert [hashed for _, _, hashed in locked(planted)] == [True, True, False]


def test_the_declared_ranges_exclude_malicious_releases() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = [*project["dependencies"], *(one for extra in project["optional-dependencies"].values() for one in extra)]
    for requirement in map(Requirement, declared):
        for range_, why in KNOWN_BAD.get(canonicalize_name(requirement.name), {}).items():
            if why.startswith("malicious"):
                assert not requirement.specifier.contains(range_.removeprefix("==")), f"{requirement}: {why}"
