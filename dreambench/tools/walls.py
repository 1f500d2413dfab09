"""What stands in front of a page: robot checks, logins, consent forms, paywalls, and error pages that claim to be fine.

The rules are conservative: a wall is called one only when the text behind it is short, so that an article about captchas
is never taken for one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from dreambench.tools.results import Reason

_SHORT = 1_500
"""Characters of readable text up to which a page can be a robot check, a login or an error page."""
_TEASER = 4_000
"""Up to which it can be the free beginning of a paid article."""
_FORM = 800
"""Up to which a page with a password field is a login and not an article with a login box."""

_CHECK_TITLE = re.compile(
    r"^\s*(just a moment|attention required|access (to this page has been )?denied|are you (a )?(robot|human)|robot check|"
    r"pardon our interruption|security (check|verification)|(please )?verify (that )?you are (a )?human|"
    r"human verification|bot verification|checking your browser|ddos protection|request blocked|403 forbidden|"
    r"请稍候|人机验证|安全验证|访问验证|访问被拒绝|验证码)",
    re.IGNORECASE,
)
_CHECK_TEXT = re.compile(
    r"(enable (javascript and cookies|cookies and javascript) to continue|verify (that )?you are (a )?human|"
    r"confirm (that )?you are (not a robot|human)|checking (if the site connection is secure|your browser before)|"
    r"unusual (traffic|activity) from your|complete the (captcha|security check)|performing security verification|"
    r"请完成(安全|人机)?验证|请输入验证码|系统检测到(您的)?(网络|异常)|拖动滑块)",
    re.IGNORECASE,
)
_LOGIN = re.compile(r"\b(sign in|log ?in|log on|sign-in)\b|登录|登入|请先登", re.IGNORECASE)
_PASSWORD = re.compile(r"<input[^>]{0,500}type\s*=\s*[\"']?password", re.IGNORECASE)
_CONSENT = re.compile(
    r"(before you continue to|we (value|care about) your privacy|your privacy choices|cookie (consent|preferences)|"
    r"we and our \d* ?partners)",
    re.IGNORECASE,
)
_CONSENT_CHOICE = re.compile(r"\b(accept all|reject all|i agree|manage (my )?(options|choices|preferences))\b", re.IGNORECASE)
_PAYWALL = re.compile(
    r"(subscribe (now )?to (continue|keep) reading|to (continue|keep) reading,? (please )?(subscribe|sign up|register)|"
    r"this (article|content|story) is (for|only available to|available to|exclusive to|reserved for) (our )?"
    r"(paying |premium )?(subscribers|members)|you have reached your (monthly )?(article )?limit|"
    r"(订阅|登录|付费|开通会员)后?(即可|可以|方可)?(继续)?(阅读|查看)(全文|全部)?|付费阅读|试读结束)",
    re.IGNORECASE,
)
_PAYWALL_HINT = re.compile(
    r"already (a )?(subscriber|subscribed)\?|\bsubscribers only\b|purchase (this article|access|pdf)|"
    r"get (full )?access to (this|the) (full )?(article|story)",
    re.IGNORECASE,
)
_NOT_FREE = re.compile(r"[\"']isAccessibleForFree[\"']\s*:\s*[\"']?(false|no|0)\b", re.IGNORECASE)
_SCRIPT = re.compile(r"(need|have) to enable javascript|please (enable|turn on) javascript|requires javascript", re.IGNORECASE)
_GONE = re.compile(
    r"^\s*((error )?(404|410)( error)?\s*($|[-–—|:.,(]|page\b|not found)|"
    r"(sorry,? )?(the )?page (you (requested|are looking for) )?(was |can ?not be |is )?"
    r"(not found|found|no longer available|does ?n[o']t exist)\b|页面(不存在|未找到|找不到)|找不到(该|此)?页面|您访问的页面)",
    re.IGNORECASE,
)


def wall(markup: str, title: str, text: str, headers: Mapping[str, str]) -> tuple[Reason, str] | None:
    """What stands in front of the page and how it was recognised; None when the text is the page itself.

    `markup` is the HTML as it came, `text` what is readable of it, `headers` have lower-case names.
    """
    if headers.get("cf-mitigated", "").lower() == "challenge":
        return Reason.BLOCKED, "a robot check"
    short = len(text) <= _SHORT
    if short and (_CHECK_TITLE.search(title) or _CHECK_TEXT.search(text) or (len(text) < 200 and _CHECK_TEXT.search(markup))):
        return Reason.BLOCKED, "a robot check"
    if len(text) < 200 and _SCRIPT.search(text):
        return Reason.UNSUPPORTED, "no readable text: it is built by a script"
    if short and _GONE.search(title):
        return Reason.DEAD, "a page that says it is not there"
    paid = _PAYWALL.search(text[-_SHORT:]) or _NOT_FREE.search(markup) or (short and _PAYWALL_HINT.search(text))
    if len(text) <= _TEASER and paid:
        return Reason.PAYWALL, "the beginning of a paid text"
    if len(text) <= _FORM and _PASSWORD.search(markup) and (_LOGIN.search(title) or _LOGIN.search(text) or not text.strip()):
        return Reason.BLOCKED, "a login"
    if short and _CONSENT.search(f"{title}\n{text}") and _CONSENT_CHOICE.search(text):
        return Reason.BLOCKED, "a consent form"
    return None


def refused_status(status: int, headers: Mapping[str, str], beginning: str) -> tuple[Reason, str] | None:
    """What a 4xx status, or a robot check with any error status, says about the page; None for trouble of the moment."""
    if headers.get("cf-mitigated", "").lower() == "challenge" or (status in (403, 503) and _CHECK_TEXT.search(beginning)):
        return Reason.BLOCKED, f"a robot check (HTTP {status})"
    if status in (404, 410):
        return Reason.DEAD, f"HTTP {status}"
    if status == 402:
        return Reason.PAYWALL, f"HTTP {status}"
    if 400 <= status < 500 and status not in (408, 429):
        return Reason.BLOCKED, f"HTTP {status}"
    return None
