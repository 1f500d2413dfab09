"""What can be said of a provider before litellm is imported: whose key, which address, is it this machine.

litellm lets environment variables move a provider's address. That changes who answers, so the address is read here, once,
and becomes part of a judge's identity.
"""

from __future__ import annotations

import ipaddress
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from dreambench.errors import Problem, nearest


@dataclass(frozen=True, slots=True)
class Provider:
    """Environment variables of one provider: any of `keys` is its key, the first set of `bases` is its address."""

    keys: tuple[str, ...]
    bases: tuple[str, ...] = ()


PROVIDERS: Mapping[str, Provider] = {
    "openai": Provider(("OPENAI_API_KEY",), ("OPENAI_BASE_URL", "OPENAI_API_BASE")),
    "anthropic": Provider(("ANTHROPIC_API_KEY",), ("ANTHROPIC_API_BASE", "ANTHROPIC_BASE_URL")),
    "gemini": Provider(("GEMINI_API_KEY", "GOOGLE_API_KEY"), ("GEMINI_API_BASE",)),
    "deepseek": Provider(("DEEPSEEK_API_KEY",), ("DEEPSEEK_API_BASE",)),
    "moonshot": Provider(("MOONSHOT_API_KEY",), ("MOONSHOT_API_BASE",)),
    "mistral": Provider(("MISTRAL_API_KEY",), ("MISTRAL_API_BASE",)),
    "groq": Provider(("GROQ_API_KEY",), ("GROQ_API_BASE",)),
    "xai": Provider(("XAI_API_KEY",), ("XAI_API_BASE",)),
    "openrouter": Provider(("OPENROUTER_API_KEY",), ("OPENROUTER_API_BASE",)),
    "together_ai": Provider(("TOGETHERAI_API_KEY", "TOGETHER_AI_API_KEY", "TOGETHER_API_KEY"), ("TOGETHER_AI_API_BASE",)),
    "fireworks_ai": Provider(("FIREWORKS_AI_API_KEY", "FIREWORKS_API_KEY"), ("FIREWORKS_API_BASE",)),
    "deepinfra": Provider(("DEEPINFRA_API_KEY",), ("DEEPINFRA_API_BASE",)),
    "novita": Provider(("NOVITA_API_KEY",)),
    "cerebras": Provider(("CEREBRAS_API_KEY",), ("CEREBRAS_API_BASE",)),
    "nvidia_nim": Provider(("NVIDIA_NIM_API_KEY",), ("NVIDIA_NIM_API_BASE",)),
    "perplexity": Provider(("PERPLEXITYAI_API_KEY", "PERPLEXITY_API_KEY"), ("PERPLEXITY_API_BASE",)),
    "cohere": Provider(("COHERE_API_KEY",), ("COHERE_API_BASE",)),
    "dashscope": Provider(("DASHSCOPE_API_KEY",), ("DASHSCOPE_API_BASE",)),
    "zai": Provider(("ZAI_API_KEY",), ("ZAI_API_BASE",)),
    "azure": Provider(("AZURE_API_KEY",), ("AZURE_API_BASE",)),
}
"""Providers that one key opens. Others (clouds with profiles, local servers) find their credentials through litellm."""

CLOUDS = frozenset({"bedrock", "sagemaker", "sagemaker_chat", "vertex_ai"})
"""Providers whose credentials litellm finds in the environment, a profile or a role; a key that we pass takes their place."""

_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL")
_SHORTEST_SECRET = 8


def provider_of(model: str) -> str:
    """`openai` of `openai/gpt-5.1`; empty when the model names no provider."""
    return model.partition("/")[0] if "/" in model else ""


def base_url(model: str, given: str | None) -> str | None:
    """The address to ask: the one given, else the one that the environment sets, else None for the provider's own."""
    known = PROVIDERS.get(provider_of(model))
    url = given or next((os.environ[name] for name in (known.bases if known else ()) if os.environ.get(name)), None)
    return url.rstrip("/") if url else None


def key_names(model: str, own: str | None) -> tuple[str, ...]:
    """Environment variables that may hold the key; empty when litellm has to find the credentials."""
    if own:
        return (own,)
    known = PROVIDERS.get(provider_of(model))
    return known.keys if known else ()


def find_key(names: tuple[str, ...]) -> str | None:
    """The first of the environment variables that is set and not empty; None when none is."""
    return next((os.environ[name] for name in names if os.environ.get(name)), None)


def finds_credentials(model: str) -> bool:
    """Whether litellm has to be left alone with the credentials, even where the address is one of this network."""
    return provider_of(model) in CLOUDS


def is_local(url: str | None) -> bool:
    """Whether an address names this machine or a private network; a name is judged by its spelling, not looked up."""
    host = (urlsplit(url).hostname or "") if url else ""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host == "localhost" or host.endswith((".localhost", ".local", ".internal", ".lan"))
    return address.is_loopback or address.is_private or address.is_link_local


def problems_of(where: str, model: str, url: str | None) -> list[Problem]:
    """What is wrong with a model and an address as they are written."""
    found = []
    provider = provider_of(model)
    if not provider:
        near = f"openai/{model}" if model else "openai/..."
        found.append(Problem(f"{where}.model", f"{model!r} names no provider", ["provider/model"], f"{where}.model={near}"))
    elif provider not in PROVIDERS and (near_name := nearest(provider, PROVIDERS)) and near_name != provider:
        hint = f"{where}.model={near_name}/{model.partition('/')[2]}"
        found.append(Problem(f"{where}.model", f"no such provider: {provider!r}; did you mean {near_name}?", (), hint))
    if url is not None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            found.append(Problem(f"{where}.api_base", "is no address", ["http(s)://host[:port]/path"]))
        elif parts.username or parts.password or parts.query:
            found.append(
                Problem(
                    f"{where}.api_base",
                    "holds a user, a password or a query; keys live in the environment only",
                    type=f"{where}.api_base={parts.scheme}://{parts.hostname}{parts.path} {where}.api_key_env=MY_KEY",
                )
            )
    return found


def missing_key(where: str, names: tuple[str, ...], url: str | None) -> list[Problem]:
    """A problem that names the variable to set, where a key is needed and not there."""
    if not names or find_key(names) or is_local(url):
        return []
    what = f"no key: set the environment variable {' or '.join(names)}"
    return [Problem(where, what, type=f"export {names[0]}=... (or {where}.api_key_env=OTHER_VARIABLE)")]


def without_secrets(text: str) -> str:
    """`text` with the value of every environment variable that looks like a secret struck out."""
    for name, value in os.environ.items():
        if len(value) >= _SHORTEST_SECRET and value in text and _SECRET_NAME.search(name.upper()):
            text = text.replace(value, f"[{name}]")
    return text
