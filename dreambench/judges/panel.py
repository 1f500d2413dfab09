"""A panel: several judges answer the same question, one reducer makes one answer of theirs, every vote is kept.

Numbers are averaged (`mean`, `median`) or, with `majority`, voted on like labels and yes/no. A tied vote goes to the value,
among the tied ones, whose first supporter comes first in the list of members. Means are not rounded, also where members
answer in whole numbers. Words and lists (reasons, quotes) cannot be reduced: they are taken from the member whose votes
lie nearest to the panel's, the first of equals. A question that asks for words and lists alone (claims, search queries) is
put to the first member.

A member that gives no answer is no vote less: the whole panel has none, because a smaller panel is another judge.
"""

from __future__ import annotations

import asyncio
import json
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from enum import Enum
from types import UnionType
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin

from pydantic import BaseModel, PrivateAttr, create_model

from dreambench.engine.gateway import Gateway
from dreambench.errors import ConfigError, Problem, TransientError
from dreambench.judges.judge import Judge
from dreambench.judges.kinds import Answer, Context
from dreambench.judges.retirement import Retirement
from dreambench.judges.rubric import Rubric

Base = TypeVar("Base", bound=BaseModel)
Reduce = Literal["mean", "median", "majority"]
RATIONALES = ("reason", "rationale")
"""Fields of an answer that go into the item table as its rationale: the votes are written in front of them."""


class PanelAnswer(Answer):
    """Mixed into the kind's answer: what the panel says, and each member's own answer by its name."""

    _votes: dict[str, Answer] = PrivateAttr(default_factory=dict)

    @property
    def votes(self) -> Mapping[str, Answer]:
        """Each member's answer as it was given."""
        return self._votes


class PanelJudge(Judge):
    """Asks all `members` at once and reduces their answers field by field."""

    def __init__(self, *, name: str, gateway: Gateway, members: Sequence[Judge], reduce: Reduce = "mean") -> None:
        """Raises ConfigError for fewer than two members, or two that are the same judge: one vote would count twice."""
        super().__init__(name=name, gateway=gateway)
        self.members = list(members)
        self.reduce: Reduce = reduce
        self.note = "; ".join(dict.fromkeys(member.note for member in members if member.note))
        where = f"judge.{name}.members"
        if len(self.members) < 2:
            raise ConfigError(Problem(where, "a panel needs at least two members", type=f"{where}=[option_a,option_b]"))
        seen: dict[str, str] = {}
        for member in self.members:
            identity = json.dumps(member.identity(), sort_keys=True)
            if first := seen.get(identity):
                raise ConfigError(Problem(where, f"{member.name} is the same judge as {first}; its vote would count twice"))
            seen[identity] = member.name

    def identity(self) -> Mapping[str, Any]:
        return {"judge": "panel", "reduce": self.reduce, "members": [dict(member.identity()) for member in self.members]}

    @property
    def batched(self) -> bool:
        return any(member.batched for member in self.members)

    def retirements(self) -> list[Retirement]:
        return [one for member in self.members for one in member.retirements()]

    def needs(self) -> list[Problem]:
        missing = {member.name: member.needs() for member in self.members}
        if not any(missing.values()):
            return []
        where, usable = f"judge.{self.name}.members", [name for name, needs in missing.items() if not needs]
        what = f"{', '.join(name for name, needs in missing.items() if needs)} cannot be asked; choose members that can"
        hint = f"{where}=[{','.join([*usable, 'option_a', 'option_b'])}]"
        return [*(one for needs in missing.values() for one in needs), Problem(where, what, usable, hint)]

    def refusal(self, rubric: Rubric) -> str | None:
        for member in self.members:
            if why := member.refusal(rubric):
                return f"its member {member.name} cannot: {why}"
        return None

    async def answer(self, rubric: Rubric, context: Context, *, repeat: int, role: str) -> Answer:
        """The reduced answer, a PanelAnswer.

        Raises what a member raised, once all have answered, so that no answer in hand is lost.
        """
        model = rubric.kind.answer_model(rubric.settings, context)
        if not _votable(model):
            return await self.members[0].answer(rubric, context, repeat=repeat, role=role)
        asked = [member.answer(rubric, context, repeat=repeat, role=role) for member in self.members]
        answers = await asyncio.gather(*asked, return_exceptions=True)
        given: dict[str, Answer] = {}
        failed: list[BaseException] = []
        for member, got in zip(self.members, answers, strict=True):
            if isinstance(got, BaseException):
                failed.append(got)
            else:
                given[member.name] = got
        if failed:
            raise min(failed, key=_weight)
        return self._reduced(model, given)

    async def close(self) -> None:
        for member in self.members:
            await member.close()

    def _reduced(self, model: type[Answer], given: Mapping[str, Answer]) -> Answer:
        values = _reduce_model(model, list(given.values()), self.reduce)
        for name in RATIONALES:
            if model.model_fields.get(name) is not None and isinstance(values[name], str):
                values[name] = f"{_written(model, given)}. {values[name]}"
        made = _widened(model, PanelAnswer).model_construct(**values)
        made._votes = dict(given)
        costs = [answer.cost for answer in given.values()]
        known = [cost for cost in costs if cost is not None]
        return made.with_cost(sum(known) if len(known) == len(costs) else None)


def _weight(error: BaseException) -> int:
    """What must stop a run is raised before what only spoils this answer."""
    if not isinstance(error, TransientError):
        return 0
    return 1 if getattr(error, "fatal", False) else 2


def _votable(model: type[BaseModel]) -> list[str]:
    """Names of the fields that can be reduced."""
    return [name for name, field in model.model_fields.items() if _is_votable(field.annotation)]


def _is_votable(annotation: Any) -> bool:
    if get_origin(annotation) in (Union, UnionType):
        return all(_is_votable(part) for part in get_args(annotation) if part is not type(None))
    if get_origin(annotation) is Literal:
        return True
    if get_origin(annotation) in (dict, Mapping):
        return _is_votable(get_args(annotation)[1])
    if not isinstance(annotation, type):
        return False
    if issubclass(annotation, BaseModel):
        return bool(_votable(annotation))
    return issubclass(annotation, (bool, int, float, Enum))


def _widened(model: type[BaseModel], base: type[Base]) -> type[Base]:
    """`model` and `base` in one class, whole numbers widened: the mean of whole numbers is none."""
    whole = {name: (float, ...) for name, field in model.model_fields.items() if field.annotation is int}
    bases = (model,) if base is BaseModel else (base, model)
    return cast("type[Base]", create_model(model.__name__, __base__=bases, **cast("dict[str, Any]", whole)))


def _reduce_model(model: type[BaseModel], answers: Sequence[BaseModel], how: Reduce) -> dict[str, Any]:
    """Reduced values by field; the rest from the answer nearest to them."""
    names = _votable(model)
    values = {
        name: _reduce(model.model_fields[name].annotation, [getattr(one, name) for one in answers], how) for name in names
    }
    nearest = min(answers, key=lambda one: sum(_distance(getattr(one, name), values[name]) for name in names))
    return {name: values[name] if name in values else getattr(nearest, name) for name in model.model_fields}


def _reduce(annotation: Any, votes: Sequence[Any], how: Reduce) -> Any:
    given = [vote for vote in votes if vote is not None]
    if 2 * len(given) < len(votes) or not given:
        return None
    first = given[0]
    if isinstance(first, BaseModel):
        kinds = Counter(type(vote) for vote in given)
        kind = kinds.most_common(1)[0][0]
        same = [vote for vote in given if type(vote) is kind]
        return _widened(kind, BaseModel).model_construct(**_reduce_model(kind, same, how))
    if isinstance(first, Mapping):
        inner = get_args(annotation)[1] if get_args(annotation) else None
        keys = dict.fromkeys(key for vote in given for key in vote)
        return {key: _reduce(inner, [vote.get(key) for vote in given], how) for key in keys}
    labels = get_origin(annotation) is Literal or any(isinstance(vote, bool | str | Enum) for vote in given)
    if labels or how == "majority":
        return _majority(given)
    return statistics.fmean(given) if how == "mean" else float(statistics.median(given))


def _majority(votes: Sequence[Any]) -> Any:
    """The most frequent vote; of tied ones the one that was given first (Counter keeps the order of the members)."""
    return Counter(votes).most_common(1)[0][0]


def _distance(vote: Any, reduced: Any) -> float:
    """0 for agreement; numbers by how far they are apart, labels by 1."""
    if isinstance(vote, BaseModel) and isinstance(reduced, BaseModel):
        return sum(_distance(getattr(vote, name), getattr(reduced, name)) for name in _votable(type(vote)))
    if isinstance(vote, Mapping) and isinstance(reduced, Mapping):
        return sum(_distance(vote.get(key), value) for key, value in reduced.items())
    numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in (vote, reduced))
    return float(abs(vote - reduced)) if numbers else float(vote != reduced)


def _written(model: type[Answer], given: Mapping[str, Answer]) -> str:
    """`votes: a 7, b 8`; several fields as JSON."""
    names = _votable(model)
    shown = {member: answer.model_dump(mode="json", include=set(names)) for member, answer in given.items()}
    if len(names) == 1:
        return "votes: " + ", ".join(f"{member} {json.dumps(vote[names[0]])}" for member, vote in shown.items())
    return "votes: " + json.dumps(shown, ensure_ascii=False)
