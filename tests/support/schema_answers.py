"""A valid, deterministic answer to any JSON schema that pydantic writes: in range, enum members, every required key."""

from __future__ import annotations

import random
from typing import Any


def answer_to(schema: dict[str, Any], seed: str, prompt: str = "") -> Any:
    """An instance of `schema`, the same for the same seed. Fields called `quote` are words of the prompt."""
    return _Maker(schema.get("$defs", {}), random.Random(seed), prompt).make(schema)


class _Maker:
    def __init__(self, definitions: dict[str, Any], draw: random.Random, prompt: str) -> None:
        self._definitions = definitions
        self._draw = draw
        self._lines = [line.strip() for line in prompt.splitlines() if len(line.split()) > 5] or ["none"]

    def make(self, schema: dict[str, Any], name: str = "") -> Any:
        if "$ref" in schema:
            return self.make(self._definitions[schema["$ref"].rpartition("/")[2]], name)
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return self._draw.choice(schema["enum"])
        for choice in ("anyOf", "oneOf"):
            if choice in schema:
                return self.make(next(one for one in schema[choice] if one.get("type") != "null"), name)
        if "allOf" in schema:
            return self.make(schema["allOf"][0], name)
        makers = {
            "object": self._object,
            "array": self._array,
            "integer": self._integer,
            "number": self._number,
            "string": self._string,
            "boolean": lambda schema, name: self._draw.random() < 0.5,
            "null": lambda schema, name: None,
        }
        return makers[schema.get("type", "object")](schema, name)

    def _object(self, schema: dict[str, Any], name: str) -> dict[str, Any]:
        made = {key: self.make(part, key) for key, part in schema.get("properties", {}).items()}
        extra = schema.get("additionalProperties")
        if not made and isinstance(extra, dict):
            made["key"] = self.make(extra, "key")
        return made

    def _array(self, schema: dict[str, Any], name: str) -> list[Any]:
        fewest = schema.get("minItems", 1)
        count = self._draw.randint(fewest, max(fewest, min(schema.get("maxItems", 3), fewest + 2)))
        if "prefixItems" in schema:
            return [self.make(part, name) for part in schema["prefixItems"]]
        return [self.make(schema.get("items", {"type": "string"}), name) for _ in range(count)]

    def _integer(self, schema: dict[str, Any], name: str) -> int:
        low = schema.get("minimum", schema.get("exclusiveMinimum", -1) + 1)
        high = schema.get("maximum", schema.get("exclusiveMaximum", low + 11) - 1)
        return self._draw.randint(int(low), int(high))

    def _number(self, schema: dict[str, Any], name: str) -> float:
        low = schema.get("minimum", schema.get("exclusiveMinimum", 0.0))
        high = schema.get("maximum", schema.get("exclusiveMaximum", low + 1.0))
        return round(low + (high - low) * self._draw.uniform(0.05, 0.95), 3)

    def _string(self, schema: dict[str, Any], name: str) -> str:
        if schema.get("format") == "date":
            return f"20{self._draw.randint(10, 24)}-0{self._draw.randint(1, 9)}-1{self._draw.randint(0, 9)}"
        if name == "quote":
            return " ".join(self._draw.choice(self._lines).split()[:12])
        text = f"stub {name or 'text'} {self._draw.randint(100, 999)}"
        text += "." * max(0, schema.get("minLength", 0) - len(text))
        return text[: schema.get("maxLength", len(text))]
