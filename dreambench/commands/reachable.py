"""Whether the providers and search services that this environment sets up can be reached; no key is sent, nothing is bought."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

from dreambench.judges.llm.providers import PROVIDERS

ADDRESSES = {
    "openai": "https://api.openai.com/v1/models",
    "anthropic": "https://api.anthropic.com/v1/models",
    "gemini": "https://generativelanguage.googleapis.com/v1beta/models",
    "deepseek": "https://api.deepseek.com/models",
    "moonshot": "https://api.moonshot.ai/v1/models",
    "mistral": "https://api.mistral.ai/v1/models",
    "groq": "https://api.groq.com/openai/v1/models",
    "xai": "https://api.x.ai/v1/models",
    "openrouter": "https://openrouter.ai/api/v1/models",
    "together_ai": "https://api.together.xyz/v1/models",
    "deepinfra": "https://api.deepinfra.com/v1/openai/models",
    "cohere": "https://api.cohere.com/v1/models",
}
"""Addresses that list models, where no variable names another."""
SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Place:
    """Something to reach: `because` is the variable that sets it up; without `address` nobody knows where it listens."""

    name: str
    because: str
    address: str | None


@dataclass(frozen=True, slots=True)
class Reached:
    """What came of a look. `answered` is None where there was no address to ask."""

    place: Place
    answered: bool | None
    said: str


def places() -> Iterator[Place]:
    """Providers with a key or an address in the environment, then search services with a key."""
    from dreambench.tools.search.brave import BraveTools
    from dreambench.tools.search.exa import ExaTools
    from dreambench.tools.search.serper import SerperTools
    from dreambench.tools.search.tavily import TavilyTools

    for name, provider in PROVIDERS.items():
        base = next((variable for variable in provider.bases if os.environ.get(variable)), None)
        key = next((variable for variable in provider.keys if os.environ.get(variable)), None)
        if base or key:
            yield Place(name, base or str(key), os.environ[base] if base else ADDRESSES.get(name))
    for service in (BraveTools, ExaTools, SerperTools, TavilyTools):
        if service.key and os.environ.get(service.key):
            yield Place(f"tools=web_{service.service}", service.key, service.base_url)


def reach(place: Place) -> Reached:
    """Asks once, without a key: any answer at all means that the way is open."""
    import httpx

    if place.address is None:
        return Reached(place, None, f"{place.because} is set; no address of it is known here, so it was not tried")
    try:
        answer = httpx.get(place.address, timeout=SECONDS, follow_redirects=False)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        why = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        cure = "check the network, a proxy (HTTPS_PROXY) and the address"
        return Reached(
            place, False, f"{place.address} cannot be reached ({why}); {cure}; it is asked because {place.because} is set"
        )
    return Reached(place, True, f"{place.address} answers (HTTP {answer.status_code} without a key)")
