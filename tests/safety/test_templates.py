"""A rubric of a user (or of a stranger whose rubrics a user tries) cannot leave the sandbox."""

from __future__ import annotations

from pathlib import Path

import pytest

from dreambench.errors import RubricError
from dreambench.judges.rubric import RubricShelf
from tests.judges.test_rubrics import context_for

HEAD = "---\nkind: score\nversion: 1\nscale: [0, 10]\n---\n"
REACHING = [
    "{{ ''.__class__.__mro__[1].__subclasses__() }}",
    "{{ question.__class__ }}",
    "{{ fence.__globals__ }}",
    "{{ fence.__code__.co_code }}",
    "{{ plain['__globals__']['__builtins__'] }}",
    "{{ question|attr('__class__') }}",
    "{{ '{0.__class__}'.format(question) }}",
    "{{ ('{0.__class__}'.format)(question) }}",
    "{% set f = '{0.__class__}'.format %}{{ [question]|map('string')|map(f)|list }}",
    "{{ cycler.__init__.__globals__ }}",
    "{{ self.__init__.__globals__ }}",
    "{{ lipsum.__globals__['os'] }}",
    "{{ settings.clear() }}",
    "{{ settings.update({'a': 1}) }}",
]


@pytest.mark.parametrize("reach", REACHING)
def test_a_rubric_that_reaches_for_attributes_is_refused(reach: str, tmp_path: Path) -> None:
    (tmp_path / "own.j2").write_text(
        f"{HEAD}{{% block system %}}s{{% endblock %}}\n{{% block user %}}{reach}{{% endblock %}}\n", encoding="utf-8"
    )
    rubric = RubricShelf([tmp_path]).load("own")
    with pytest.raises(RubricError) as caught:
        rubric.render(context_for(rubric))
    assert "rubric own" in caught.value.problems[0].where
    assert "Error" in str(caught.value)


@pytest.mark.parametrize("name", ["../outside", "/etc/hostname", "../../outside.j2"])
def test_a_rubric_includes_nothing_from_outside_its_folders(name: str, tmp_path: Path) -> None:
    (tmp_path / "outside.j2").write_text("a secret", encoding="utf-8")
    (tmp_path / "shelf").mkdir()
    (tmp_path / "shelf" / "own.j2").write_text(
        f"{HEAD}{{% block system %}}s{{% endblock %}}\n{{% block user %}}{{% include '{name}' %}}{{% endblock %}}\n",
        encoding="utf-8",
    )
    with pytest.raises(RubricError) as caught:
        RubricShelf([tmp_path / "shelf"]).load("own")
    assert "a secret" not in str(caught.value)
