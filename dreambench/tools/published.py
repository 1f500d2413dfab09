"""Dates as search services write them: ISO, e-mail style, in words, or counted back from today."""

from __future__ import annotations

import re
from datetime import date, timedelta
from email.utils import parsedate_to_datetime

_ISO = re.compile(r"\s*(\d{4})-(\d{2})-(\d{2})(?=$|[T\s])")
_CHINESE = re.compile(r"\s*(\d{4})年(\d{1,2})月(\d{1,2})日")
_MONTHS = {name: number for number, name in enumerate("jan feb mar apr may jun jul aug sep oct nov dec".split(), 1)}
_MONTH_DAY = re.compile(r"\s*([A-Za-z]{3,9})\.? (\d{1,2}), (\d{4})\b")
_DAY_MONTH = re.compile(r"\s*(\d{1,2}) ([A-Za-z]{3,9})\.? (\d{4})\b")
_AGO = re.compile(
    r"\s*(\d+)\s*(?:(second|minute|min|hour|day|week|month|year)s? ago|(秒|分钟|小时|天|周|个月|年)前)", re.IGNORECASE
)
_DAYS = {"day": 1, "week": 7, "month": 30, "year": 365, "天": 1, "周": 7, "个月": 30, "年": 365}


def published(text: str | None, today: date) -> date | None:
    """The day that `text` names; None when it names none. Months and years ago are counted as 30 and 365 days."""
    if not text:
        return None
    try:
        return _day(text, today)
    except (ValueError, OverflowError):
        return None


def _day(text: str, today: date) -> date | None:
    if found := _ISO.match(text) or _CHINESE.match(text):
        return date(*(int(part) for part in found.groups()))
    if (found := _MONTH_DAY.match(text)) and (month := _MONTHS.get(found.group(1)[:3].lower())):
        return date(int(found.group(3)), month, int(found.group(2)))
    if (found := _DAY_MONTH.match(text)) and (month := _MONTHS.get(found.group(2)[:3].lower())):
        return date(int(found.group(3)), month, int(found.group(1)))
    if found := _AGO.match(text):
        return today - timedelta(days=int(found.group(1)) * _DAYS.get((found.group(2) or found.group(3)).lower(), 0))
    if text.strip().lower() in ("yesterday", "昨天"):
        return today - timedelta(days=1)
    try:
        return parsedate_to_datetime(text).date()
    except (TypeError, ValueError):
        return None
