"""Rubrics: Jinja templates whose front matter names a question kind.

A rubric file is YAML front matter between two `---` lines (`kind`, `version`, and settings of the kind such as `scale` or
`aspect`), then two Jinja blocks, `system` and `user`. The long shared part (report, page) comes first in `user` and the
question last, so that provider-side prompt caching applies. Templates render sandboxed with StrictUndefined.

A rubric is addressed as `<folder>/<name>.<variant>`, e.g. `wq/main_idea_clarity.default`. Its hash covers every template
that it includes: two rubrics with equal hashes ask the same question.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template, TemplateError, meta, nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.visitor import NodeTransformer

from dreambench.errors import Problem, RubricError, nearest
from dreambench.judges.fence import fence, plain
from dreambench.judges.kinds import Context, Kind, load_kind

BLOCKS = ("system", "user")


@dataclass(frozen=True, slots=True)
class Rubric:
    """One loaded rubric. `settings` is the front matter without `kind` and `version`; `sha256` names its exact wording."""

    id: str
    kind: Kind
    version: str
    settings: Mapping[str, Any]
    sha256: str
    template: Template

    @property
    def name(self) -> str:
        """`main_idea_clarity` of `wq/main_idea_clarity.default`."""
        return self.id.rpartition("/")[2].rpartition(".")[0]

    @property
    def variant(self) -> str:
        """The last part of its id: `terse` of `wq/main_idea_clarity.terse`."""
        return self.id.rpartition(".")[2]

    def render(self, context: Context) -> list[dict[str, str]]:
        """The chat messages for a context: one system, one user. Raises RubricError where the template fails.

        The template sees the context's fields and the front matter's `settings`.
        """
        values = self.template.new_context({**context.model_dump(), "settings": self.settings})
        try:
            return [{"role": role, "content": "".join(self.template.blocks[role](values)).strip()} for role in BLOCKS]
        except TemplateError as error:
            raise RubricError(
                Problem(f"rubric {self.id}", f"{type(error).__name__}: {error}", sorted(type(context).model_fields))
            ) from error


class RubricShelf:
    """Finds and loads rubrics in a list of folders, the first that has one wins (a user's before the bundled)."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self.folders = list(folders)
        self._environment = ImmutableSandboxedEnvironment(
            loader=FileSystemLoader([str(folder) for folder in folders]),
            undefined=StrictUndefined,
            autoescape=False,
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=False,
            auto_reload=False,  # else every prompt looks at the dates of the files that its template includes
        )
        self._environment.globals |= {"fence": fence, "plain": plain}

    def names(self, folder: str = "") -> list[str]:
        """Ids of all rubrics below `folder`, sorted; files and folders that start with `_` are shared parts."""
        found = set()
        for root in self.folders:
            for path in (root / folder).rglob("*.j2"):
                parts = path.relative_to(root).parts
                if not any(part.startswith("_") for part in parts):
                    found.add("/".join(parts).removesuffix(".j2"))
        return sorted(found)

    def load(self, rubric_id: str) -> Rubric:
        """The rubric called `rubric_id`. Raises RubricError (missing, bad front matter, bad template, unknown kind)."""
        path = self._find(rubric_id)
        front, body = _split_front_matter(path.read_text(encoding="utf-8"), str(path))
        kind = load_kind(str(front.pop("kind", "")))
        try:
            template = self._template(body)
            digest = hashlib.sha256(yaml.safe_dump(front, sort_keys=True).encode() + kind.name.encode())
            for source in self._sources(body):
                digest.update(hashlib.sha256(source.encode()).digest())
        except TemplateError as error:
            raise RubricError(Problem(str(path), f"{type(error).__name__}: {error}")) from error
        if missing := [block for block in BLOCKS if block not in template.blocks]:
            raise RubricError(Problem(str(path), f"has no block {missing[0]!r}", BLOCKS))
        version = str(front.pop("version", "1"))
        return Rubric(rubric_id, kind, version, front, digest.hexdigest(), template)

    def _find(self, rubric_id: str) -> Path:
        for root in self.folders:
            if (path := root / f"{rubric_id}.j2").is_file():
                return path
        names = self.names()
        stem = rubric_id.rpartition(".")[0]
        variants = [name.rpartition(".")[2] for name in names if name.rpartition(".")[0] == stem]
        folder = [name for name in names if name.split("/")[0] == rubric_id.split("/")[0]]
        near = nearest(rubric_id, names)
        what = f"no such file in {', '.join(str(folder) for folder in self.folders)}"
        what += f"; did you mean {near}?" if near else ""
        raise RubricError(Problem(f"rubric {rubric_id}", what, variants or folder or names))

    def _template(self, body: str) -> Template:
        environment = self._environment
        code = environment.compile(_Included(environment).visit(environment.parse(body)))
        return environment.template_class.from_code(environment, code, environment.make_globals(None))

    def _sources(self, body: str) -> list[str]:
        """The template's source and those of all that it includes, each once, in order of first use."""
        sources, queue, seen = [], [body], set[str]()
        while queue:
            source = queue.pop(0)
            sources.append(source)
            for name in meta.find_referenced_templates(self._environment.parse(source)):
                if name is None:
                    raise RubricError(Problem("rubric", "includes a template whose name is computed; name it literally"))
                if name not in seen:
                    seen.add(name)
                    loader = self._environment.loader
                    assert loader is not None
                    queue.append(loader.get_source(self._environment, name)[0])
        return sources


class _Included(NodeTransformer):
    """Puts included templates in place of their includes when a rubric is loaded: a prompt has five, and each of them would
    cost a look-up and a context of its own whenever the prompt is rendered. What a template sets ends with it, as ever."""

    def __init__(self, environment: Environment, above: tuple[str, ...] = ()) -> None:
        self._environment = environment
        self._above = above

    def visit_Include(self, node: nodes.Include) -> nodes.Node:
        name = node.template.value if isinstance(node.template, nodes.Const) else None
        if not isinstance(name, str) or not node.with_context:
            return node
        if name in self._above:
            raise TemplateError(f"{name} includes itself")
        loader = self._environment.loader
        assert loader is not None
        parsed = self._environment.parse(loader.get_source(self._environment, name)[0], name)
        if any(parsed.find_all((nodes.Block, nodes.Extends))):
            return node
        whole = _Included(self._environment, (*self._above, name)).visit(parsed)
        return nodes.Scope(whole.body, lineno=node.lineno)


def _split_front_matter(text: str, where: str) -> tuple[dict[str, Any], str]:
    parts = text.split("---\n", 2)
    if len(parts) != 3 or parts[0].strip():
        raise RubricError(Problem(where, "must start with YAML front matter between two lines of ---", type="kind: score"))
    try:
        front = yaml.safe_load(parts[1])
    except yaml.YAMLError as error:
        raise RubricError(Problem(where, f"front matter is not YAML: {error}")) from error
    if not isinstance(front, dict) or "kind" not in front:
        raise RubricError(Problem(where, "front matter must name a question kind", type="kind: score"))
    return front, parts[2]
