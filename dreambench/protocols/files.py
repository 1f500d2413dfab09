"""Protocol files: read with every problem at its file and field, written readable, edits by hand kept in view."""

from __future__ import annotations

import json
import os
import re
from datetime import date
from pathlib import Path

from pydantic import ValidationError

from dreambench.errors import InputError, Problem, nearest
from dreambench.protocols.model import Creator, Edit, Protocol

FIELDS = sorted(Protocol.model_fields)


class ProtocolError(InputError):
    """A protocol file cannot be used as it is."""


def protocol_files(path: Path) -> list[Path]:
    """The protocol files that `path` names: itself, or every *.json of a folder. Raises ProtocolError when there is none."""
    found = sorted(path.glob("*.json")) if path.is_dir() else [path] if path.is_file() else []
    if not found:
        what = "holds no protocol" if path.is_dir() else "does not exist"
        raise ProtocolError(Problem(str(path), what, ["a protocol file (*.json)", "a folder of them"]))
    return found


def read_protocol(path: Path, *, accept_edits: bool = False) -> Protocol:
    """The protocol in `path`. Raises ProtocolError with every wrong field as `file:field`.

    A file whose `hash` no longer fits its content was edited by hand: that is an error until the edit is signed
    (`accept_edits` reads it all the same).
    """
    try:
        record = json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise ProtocolError(Problem(str(path), f"cannot be read: {error.strerror or error}")) from error
    except json.JSONDecodeError as error:
        raise ProtocolError(Problem(f"{path}:{error.lineno}", f"is not JSON: {error.msg}")) from error
    except UnicodeDecodeError as error:
        raise ProtocolError(Problem(str(path), f"is not UTF-8: {error.reason}")) from error
    try:
        protocol = Protocol.model_validate(record)
    except ValidationError as error:
        raise ProtocolError(*_problems(path, error)) from error
    if protocol.hash and protocol.hash != protocol.content_hash() and not accept_edits:
        raise ProtocolError(
            Problem(
                f"{path}:hash",
                f"is {protocol.hash}, but the content has {protocol.content_hash()}: the file was edited by hand",
                ["an edit that says who made it and why"],
                f'python -m dreambench protocol check {path} --by NAME --note "WHY"',
            )
        )
    return protocol


def write_protocol(path: Path, protocol: Protocol) -> Protocol:
    """Writes the file in one piece, its hash filled in; returns the protocol as written."""
    signed = protocol.model_copy(update={"hash": protocol.content_hash()})
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    text = json.dumps(signed.model_dump(mode="json"), indent=2, ensure_ascii=False)
    temporary.write_text(text + "\n", encoding="utf-8")
    temporary.replace(path)
    return signed


def sign_edit(path: Path, *, by: str, note: str, on: date) -> Protocol:
    """Takes a file as it was edited by hand: the edit is added to its provenance and the hash renewed.

    A file that nobody changed stays as it is.
    """
    protocol = read_protocol(path, accept_edits=True)
    if protocol.hash == protocol.content_hash():
        return protocol
    edit = Edit(by=by, on=on, note=note, was=protocol.hash or "")
    return write_protocol(path, protocol.model_copy(update={"edits": [*protocol.edits, edit]}))


def file_name(task_id: str, protocol: Protocol) -> str:
    """`<task>-<hash>.json`, with what file systems dislike in a task's id replaced."""
    safe = re.sub(r"[^\w.-]+", "_", task_id)[:80]
    return f"{safe}-{protocol.content_hash()}.json"


def _problems(path: Path, error: ValidationError) -> list[Problem]:
    problems = []
    for item in error.errors(include_url=False):
        place = f"{path}:{'.'.join(str(part) for part in item['loc']) or 'protocol'}"
        key = str(item["loc"][-1]) if item["loc"] else ""
        if item["type"] == "extra_forbidden":
            near = nearest(key, FIELDS) if len(item["loc"]) == 1 else None
            known = FIELDS if len(item["loc"]) == 1 else ()
            problems.append(Problem(place, "no such field" + (f"; did you mean {near}?" if near else ""), known))
        elif item["type"] == "missing":
            problems.append(Problem(place, "is required"))
        else:
            allowed = [creator.value for creator in Creator] if key == "creator" else ()
            problems.append(Problem(place, item["msg"].removeprefix("Value error, "), allowed))
    return problems
