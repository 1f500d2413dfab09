"""The address guard: which URLs may be fetched at all, and which addresses may be connected to.

A URL is checked before anything is sent; a host is resolved once per connection, every address it has is checked, and the
connection goes to one of exactly these (`pinned`). `allow` holds the `host:port` pairs that may be private.
"""

from __future__ import annotations

import ipaddress
import socket
import unicodedata
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from dreambench.errors import DreambenchError, ProviderError
from dreambench.tools.results import Reason

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""Host and port to addresses as text; raises socket.gaierror."""

PORTS = frozenset({80, 443, 8080, 8443})
_DEFAULT_PORTS = {"http": 80, "https": 443}
_LONGEST_URL = 4_000

_ALSO_REFUSED = [
    ipaddress.ip_network(text)
    for text in (
        "0.0.0.0/8",
        "100.64.0.0/10",  # carrier-grade NAT, some cloud metadata
        "168.63.129.16/32",  # a cloud's host agent at a public address
        "192.0.0.0/24",
        "192.88.99.0/24",
        "198.18.0.0/15",
        "64:ff9b:1::/48",  # NAT64 inside a network
        "100::/64",
        "2001::/23",
        "2001:db8::/32",
        "3fff::/20",
        "5f00::/16",
        "fec0::/10",
    )
]
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_V4_COMPATIBLE = ipaddress.ip_network("::/96")


class PageRefused(DreambenchError):
    """The page is not read, for a reason that lies with the page (an outcome, not trouble)."""

    def __init__(self, reason: Reason, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail


@dataclass(frozen=True, slots=True)
class Target:
    """A URL that may be asked for, and where that leads."""

    url: str
    scheme: str
    host: str
    port: int

    @property
    def origin(self) -> str:
        """Scheme, host and port, as a robots.txt is looked up by."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        default = _DEFAULT_PORTS[self.scheme] == self.port
        return f"{self.scheme}://{host}" + ("" if default else f":{self.port}")


class Guard:
    """Says no to everything that is not a public web address."""

    def __init__(self, allow: Iterable[str] = (), resolve: Resolve | None = None) -> None:
        self._allow = frozenset(entry.lower() for entry in allow)
        self._resolve = resolve or _system_resolve

    def target(self, url: str) -> Target:
        """The URL's parts. Raises PageRefused for other schemes, user names, odd ports and private literal addresses."""
        parts = _split(url)
        if parts.scheme not in _DEFAULT_PORTS:
            raise PageRefused(Reason.UNSUPPORTED, f"only http and https are read, not {parts.scheme or 'no scheme'}")
        if parts.username is not None or parts.password is not None:
            raise PageRefused(Reason.UNSUPPORTED, "the address carries a user name")
        host = _host(parts)
        port = parts.port or _DEFAULT_PORTS[parts.scheme]
        if not self.allows(host, port):
            if port not in PORTS:
                raise PageRefused(Reason.UNSUPPORTED, f"port {port} is not one of a web site")
            if (address := literal(host)) is not None:
                _check(address)
        return Target(_rebuilt(parts, host), parts.scheme, host, port)

    def allows(self, host: str, port: int) -> bool:
        """Whether `tools.allow_private` names the pair."""
        return f"{f'[{host}]' if ':' in host else host}:{port}".lower() in self._allow

    async def addresses(self, host: str, port: int) -> list[str]:
        """The addresses to connect to, all of them checked. Raises PageRefused when one of them is not public.

        Raises ProviderError when the name cannot be looked up just now.
        """
        try:
            found = list(dict.fromkeys(await self._resolve(host, port)))
        except (UnicodeError, ValueError) as error:
            raise PageRefused(Reason.DEAD, f"{host} is not a host name") from error
        except socket.gaierror as error:
            if error.errno in (socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME)):
                raise PageRefused(Reason.DEAD, f"no such host: {host}") from error
            raise ProviderError(f"{host}: {error.strerror or error}", code="connection") from error
        if not found:
            raise PageRefused(Reason.DEAD, f"no such host: {host}")
        if not self.allows(host, port):
            for text in found:
                _check(ipaddress.ip_address(text.partition("%")[0]))
        return found


def literal(host: str) -> Address | None:
    """The address that a host spells: dotted, decimal, octal, hexadecimal or shortened IPv4, or IPv6; None for a name."""
    try:
        return ipaddress.ip_address(host.strip("[]").partition("%")[0])
    except ValueError:
        pass
    parts = host.removesuffix(".").split(".")
    numbers = [_number(part) for part in parts]
    if len(parts) > 4 or any(number is None for number in numbers):
        return None
    *leading, last = [number for number in numbers if number is not None]
    room = 256 ** (4 - len(leading))
    if any(number > 255 for number in leading) or last >= room:
        raise PageRefused(Reason.UNSUPPORTED, f"{host} is not an address")
    value = last + sum(number << (8 * (3 - place)) for place, number in enumerate(leading))
    return ipaddress.IPv4Address(value)


def refusal(address: Address) -> str | None:
    """Why an address may not be connected to; None for a public one. Addresses inside addresses count too."""
    for inner in (address, *_embedded(address)):
        flagged = (
            not inner.is_global
            or inner.is_private
            or inner.is_loopback
            or inner.is_link_local
            or inner.is_multicast
            or inner.is_reserved
            or inner.is_unspecified
            or any(inner.version == network.version and inner in network for network in _ALSO_REFUSED)
        )
        if flagged and not (inner is address and _carries_public_v4(address)):
            return f"{address} is not a public address"
    return None


def _carries_public_v4(address: Address) -> bool:
    """NAT64 with a public address inside: reserved by the letter, public in fact; the inner address is checked on its own."""
    return isinstance(address, ipaddress.IPv6Address) and address in _NAT64


def _embedded(address: Address) -> list[Address]:
    """IPv4 addresses that an IPv6 one stands for: mapped, compatible, 6to4, Teredo, NAT64."""
    if not isinstance(address, ipaddress.IPv6Address):
        return []
    inner: list[Address | None] = [address.ipv4_mapped, address.sixtofour, *(address.teredo or ())]
    if address in _NAT64 or address in _V4_COMPATIBLE:
        inner.append(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF))
    return [found for found in inner if found is not None]


def _check(address: Address) -> None:
    if why := refusal(address):
        raise PageRefused(Reason.PRIVATE_ADDRESS, why)


def _number(text: str) -> int | None:
    """A part of an IPv4 address as C's inet_aton reads it: 0x is hexadecimal, a leading 0 octal."""
    base = 16 if text[:2] in ("0x", "0X") else 8 if text.startswith("0") and len(text) > 1 else 10
    digits = text[2:] if base == 16 else text
    if not digits.isascii() or not digits.isalnum():
        return 0 if base == 16 and not digits else None
    try:
        return int(digits, base)
    except ValueError:
        return None


def _split(url: str) -> SplitResult:
    text = url.strip()
    if len(text) > _LONGEST_URL:
        raise PageRefused(Reason.UNSUPPORTED, f"the address has {len(text)} characters")
    if any(ord(char) < 33 or char in "\\\x7f" for char in text):
        raise PageRefused(Reason.UNSUPPORTED, "the address has spaces or control characters")
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError as error:
        raise PageRefused(Reason.UNSUPPORTED, f"not an address: {error}") from error
    return parts


def _host(parts: SplitResult) -> str:
    """The host in the one spelling that is checked and connected to: lower case, full-width digits folded, IDNA."""
    host = unicodedata.normalize("NFKC", parts.hostname or "").lower().removesuffix(".")
    if not host:
        raise PageRefused(Reason.UNSUPPORTED, "the address has no host")
    if host.isascii():
        return host
    try:
        import idna

        return idna.encode(host, uts46=True).decode()
    except UnicodeError as error:
        raise PageRefused(Reason.DEAD, f"{host} is not a host name") from error


def _rebuilt(parts: SplitResult, host: str) -> str:
    netloc = (f"[{host}]" if ":" in host else host) + (f":{parts.port}" if parts.port else "")
    return parts._replace(netloc=netloc, fragment="").geturl()


async def _system_resolve(host: str, port: int) -> list[str]:
    import asyncio

    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(entry[4][0]) for entry in found]
