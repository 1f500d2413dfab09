"""Units, currencies and scale words: how they are written, and what they are worth in their base unit.

A `Unit` belongs to one dimension and converts to the dimension's base by a factor; only units of one dimension compare.
Celsius and Fahrenheit are kept apart, because a difference and a reading convert differently and the text rarely says which.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit: canonical `name`, its `dimension`, and how many base units it is worth."""

    name: str
    dimension: str
    factor: float


# dimension -> (canonical name, factor to base, spellings in any case, spellings in this case only)
_TABLE: dict[str, list[tuple[str, float, str, str]]] = {
    "length": [
        ("mm", 1e-3, "mm|millimeter|millimetre|millimeters|millimetres|毫米", ""),
        ("cm", 1e-2, "cm|centimeter|centimetre|centimeters|centimetres|厘米", ""),
        ("m", 1.0, "meter|metre|meters|metres|米", "m"),
        ("km", 1e3, "km|kms|kilometer|kilometre|kilometers|kilometres|公里|千米", ""),
        ("mile", 1609.344, "mile|miles|英里", ""),
        ("foot", 0.3048, "foot|feet|ft|英尺", ""),
        ("inch", 0.0254, "inch|inches|英寸", ""),
        ("yard", 0.9144, "yard|yards", ""),
        ("nm", 1e-9, "nanometer|nanometers|nanometre|nanometres|纳米", "nm"),
        ("micrometre", 1e-6, "micrometer|micrometers|micrometre|micrometres|micron|microns|微米", "μm|µm"),
        ("light-year", 9.4607e15, "light year|light years|光年", ""),
        ("au", 1.495979e11, "astronomical unit|astronomical units", "AU"),
    ],
    "mass": [
        ("mg", 1e-6, "mg|milligram|milligrams|毫克", ""),
        ("microgram", 1e-9, "microgram|micrograms|mcg|微克", "μg|µg"),
        ("g", 1e-3, "gram|grams|gramme|grammes|克", "g"),
        ("kg", 1.0, "kg|kgs|kilogram|kilograms|kilo|kilos|公斤|千克", ""),
        ("tonne", 1e3, "tonne|tonnes|metric ton|metric tons|metric tonnes|ton|tons|吨|公吨", "t"),
        ("Mt", 1e9, "megatonne|megatonnes|megaton|megatons", "Mt|MtCO2|MtCO2e"),
        ("Gt", 1e12, "gigatonne|gigatonnes|gigaton|gigatons", "Gt|GtCO2|GtCO2e"),
        ("lb", 0.45359237, "lb|lbs|pound|pounds|磅", ""),
        ("oz", 0.028349523, "oz|ounce|ounces|盎司", ""),
        ("jin", 0.5, "斤", ""),
    ],
    "time": [
        ("ms", 1e-3, "millisecond|milliseconds|毫秒", "ms"),
        ("second", 1.0, "second|seconds|sec|secs|秒|秒钟", ""),
        ("minute", 60.0, "minute|minutes|min|mins|分钟", ""),
        ("hour", 3600.0, "hour|hours|hr|hrs|小时|个小时", "h"),
        ("day", 86400.0, "day|days|天", ""),
        ("week", 604800.0, "week|weeks|周|星期|个星期", ""),
        ("month", 2629800.0, "month|months|个月", ""),
        ("quarter", 7889400.0, "个季度", ""),
        ("year", 31557600.0, "year|years|yr|yrs|年", ""),
        ("decade", 315576000.0, "decade|decades", ""),
        ("century", 3155760000.0, "century|centuries|个世纪", ""),
    ],
    "age": [("year-old", 31557600.0, "year old|years old|years of age|岁", "")],
    "area": [
        ("m2", 1.0, "m2|m²|square meter|square meters|square metre|square metres|sq m|平方米", ""),
        ("km2", 1e6, "km2|km²|square kilometer|square kilometers|square kilometre|square kilometres|sq km|平方公里", ""),
        ("sq mile", 2589988.11, "square mile|square miles|sq mi|平方英里", ""),
        ("sq foot", 0.09290304, "square foot|square feet|sq ft|平方英尺", ""),
        ("hectare", 1e4, "hectare|hectares|公顷", "ha"),
        ("acre", 4046.8564, "acre|acres|英亩", ""),
        ("mu", 666.6667, "亩", ""),
    ],
    "volume": [
        ("ml", 1e-3, "ml|milliliter|millilitre|milliliters|millilitres|毫升", ""),
        ("litre", 1.0, "liter|litre|liters|litres|升", "L"),
        ("m3", 1e3, "m3|m³|cubic meter|cubic meters|cubic metre|cubic metres|立方米", ""),
        ("km3", 1e12, "km3|km³|cubic kilometer|cubic kilometers|cubic kilometre|cubic kilometres|立方公里", ""),
        ("cubic foot", 28.316847, "cubic foot|cubic feet", ""),
        ("gallon", 3.785412, "gallon|gallons|加仑", ""),
        ("barrel", 158.98729, "barrel|barrels|桶", ""),
    ],
    "energy": [
        ("joule", 1.0, "joule|joules|焦耳", "J"),
        ("kJ", 1e3, "kilojoule|kilojoules|千焦", "kJ"),
        ("MJ", 1e6, "megajoule|megajoules", "MJ"),
        ("GJ", 1e9, "gigajoule|gigajoules", "GJ"),
        ("EJ", 1e18, "exajoule|exajoules", "EJ"),
        ("Wh", 3.6e3, "watt hour|watt hours", "Wh"),
        ("kWh", 3.6e6, "kwh|kilowatt hour|kilowatt hours|千瓦时", ""),
        ("MWh", 3.6e9, "megawatt hour|megawatt hours|兆瓦时", "MWh"),
        ("GWh", 3.6e12, "gigawatt hour|gigawatt hours|吉瓦时", "GWh"),
        ("TWh", 3.6e15, "terawatt hour|terawatt hours|太瓦时", "TWh"),
        ("kcal", 4184.0, "kcal|kilocalorie|kilocalories|calorie|calories|千卡|大卡", ""),
        ("electronvolt", 1.602177e-19, "electronvolt|electronvolts", "eV"),
    ],
    "power": [
        ("W", 1.0, "watt|watts|瓦", "W"),
        ("kW", 1e3, "kilowatt|kilowatts|千瓦", "kW"),
        ("MW", 1e6, "megawatt|megawatts|兆瓦", "MW"),
        ("GW", 1e9, "gigawatt|gigawatts|吉瓦", "GW"),
        ("TW", 1e12, "terawatt|terawatts|太瓦", "TW"),
        ("horsepower", 745.7, "horsepower|hp|马力", ""),
    ],
    "speed": [
        ("m/s", 1.0, "m/s|meters per second|metres per second|meter per second|metre per second|米每秒|米/秒", ""),
        ("km/h", 1 / 3.6, "km/h|kph|kmh|kilometers per hour|kilometres per hour|公里/小时|千米/小时|公里每小时", ""),
        ("mph", 0.44704, "mph|miles per hour|英里/小时", ""),
        ("km/s", 1e3, "km/s|kilometers per second|kilometres per second|公里/秒", ""),
        ("knot", 0.514444, "knot|knots", ""),
    ],
    "celsius": [("°C", 1.0, "°c|℃|degrees celsius|degree celsius|degrees centigrade|摄氏度|度", "")],
    "fahrenheit": [("°F", 1.0, "°f|℉|degrees fahrenheit|degree fahrenheit|华氏度", "")],
    "kelvin": [("kelvin", 1.0, "kelvin|kelvins|开尔文", "")],
    "angle": [("degree", 1.0, "°|degree|degrees", "")],
    "data": [
        ("kB", 1e3, "kilobyte|kilobytes", "kB|KB"),
        ("MB", 1e6, "megabyte|megabytes", "MB"),
        ("GB", 1e9, "gigabyte|gigabytes", "GB"),
        ("TB", 1e12, "terabyte|terabytes", "TB"),
        ("PB", 1e15, "petabyte|petabytes", "PB"),
        ("byte", 1.0, "byte|bytes|字节", ""),
    ],
    "bitrate": [
        ("Mbps", 1e6, "mbps|mbit/s|megabits per second", ""),
        ("Gbps", 1e9, "gbps|gbit/s|gigabits per second", ""),
    ],
    "frequency": [
        ("Hz", 1.0, "hz|hertz|赫兹", ""),
        ("kHz", 1e3, "khz|kilohertz|千赫", ""),
        ("MHz", 1e6, "mhz|megahertz|兆赫", ""),
        ("GHz", 1e9, "ghz|gigahertz|吉赫", ""),
    ],
    "voltage": [("V", 1.0, "volt|volts|伏", "V"), ("kV", 1e3, "kilovolt|kilovolts|千伏", "kV")],
    "pressure": [("Pa", 1.0, "pascal|pascals", "Pa"), ("hPa", 100.0, "", "hPa"), ("mmHg", 133.322, "mmhg|毫米汞柱", "")],
    "fraction": [("ppm", 1e-6, "ppm|parts per million", ""), ("ppb", 1e-9, "ppb|parts per billion", "")],
    "magnitude": [("decibel", 1.0, "db|decibel|decibels|分贝", "")],
    "percentage_points": [
        ("percentage_points", 1.0, "percentage point|percentage points|pp|ppt|ppts|pps|% point|% points|个百分点|百分点", ""),
        ("percentage_points", 0.01, "basis point|basis points|bps|个基点|基点", ""),
    ],
    "percent": [
        ("percent", 1.0, "%|percent|per cent|pct|percentage|﹪|％", ""),
        ("percent", 0.1, "‰|per mille", ""),
    ],
    "multiple": [("times", 1.0, "fold|times|倍", "x|×|X")],
}

_CURRENCY_SIGNS = {
    "US$": "USD", "A$": "AUD", "AU$": "AUD", "C$": "CAD", "CA$": "CAD", "HK$": "HKD", "NT$": "TWD", "S$": "SGD", "R$": "BRL",
    "NZ$": "NZD", "$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY", "₹": "INR", "₩": "KRW", "₽": "RUB", "₺": "TRY",
    "CN¥": "CNY",
}  # fmt: skip
CURRENCY_CODES = [
    "USD", "EUR", "GBP", "JPY", "CNY", "RMB", "INR", "KRW", "RUB", "AUD", "CAD", "CHF", "HKD", "TWD", "SGD", "BRL", "NZD",
    "SEK", "NOK", "DKK", "PLN", "TRY", "ZAR", "MXN", "THB", "IDR", "AED", "SAR", "ILS", "CZK", "HUF", "BTC", "ETH",
]  # fmt: skip
_CURRENCY_WORDS = {
    "USD": "US dollar|US dollars|U.S. dollars|American dollars|dollar|dollars|bucks|美元|美金",
    "EUR": "euro|euros|欧元",
    "GBP": "pounds sterling|pound sterling|British pounds|英镑",
    "JPY": "yen|日元|日圆",
    "CNY": "yuan|renminbi|Chinese yuan|元人民币|人民币|块钱|元",
    "INR": "rupee|rupees|Indian rupees|印度卢比|卢比",
    "KRW": "South Korean won|Korean won|韩元",
    "RUB": "rouble|roubles|ruble|rubles|卢布",
    "HKD": "Hong Kong dollars|Hong Kong dollar|港元|港币",
    "TWD": "Taiwan dollars|New Taiwan dollars|新台币|台币",
    "AUD": "Australian dollars|Australian dollar|澳元",
    "CAD": "Canadian dollars|Canadian dollar|加元",
    "SGD": "Singapore dollars|新加坡元|新元",
    "CHF": "Swiss francs|Swiss franc|瑞士法郎|瑞郎",
}

# English scale words and suffixes; the single letters count only when glued to the digits or after a currency.
SCALES = {
    "hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12, "quadrillion": 1e15, "hundreds": 1e2,
    "thousands": 1e3, "millions": 1e6, "billions": 1e9, "trillions": 1e12, "lakh": 1e5, "crore": 1e7, "mn": 1e6, "mln": 1e6,
    "bn": 1e9, "bln": 1e9, "tn": 1e12, "trn": 1e12, "dozen": 12.0,
}  # fmt: skip
GLUED_SCALES = {"k": 1e3, "K": 1e3, "M": 1e6, "B": 1e9, "T": 1e12, "b": 1e9}
MONEY_SCALES = {"k": 1e3, "K": 1e3, "m": 1e6, "M": 1e6, "b": 1e9, "B": 1e9, "T": 1e12, "t": 1e12}
CHINESE_SCALES = {
    "百": 1e2, "千": 1e3, "万": 1e4, "十万": 1e5, "百万": 1e6, "千万": 1e7, "亿": 1e8, "十亿": 1e9, "百亿": 1e10, "千亿": 1e11,
    "万亿": 1e12, "兆": 1e12,
}  # fmt: skip


@cache
def unit_spellings() -> tuple[dict[str, Unit], dict[str, Unit]]:
    """Two maps from spelling to unit: of any case (keys in lower case), and of exactly this case."""
    any_case: dict[str, Unit] = {}
    exact: dict[str, Unit] = {}
    for dimension, rows in _TABLE.items():
        for name, factor, loose, strict in rows:
            unit = Unit(name, dimension, factor)
            any_case.update((word, unit) for word in loose.split("|") if word)
            exact.update((word, unit) for word in strict.split("|") if word)
    for code, words in _CURRENCY_WORDS.items():
        any_case.update((word.lower(), currency(code)) for word in words.split("|"))
    exact.update((code, currency(code)) for code in CURRENCY_CODES)
    exact.update((sign, currency(code)) for sign, code in _CURRENCY_SIGNS.items())
    any_case["cents"] = any_case["cent"] = Unit("USD", "money:USD", 0.01)
    return any_case, exact


@cache
def currency(code: str) -> Unit:
    """The unit of a currency, each its own dimension, because no rate is known; RMB is CNY."""
    code = "CNY" if code == "RMB" else code
    return Unit(code, f"money:{code}", 1.0)


def currency_signs() -> dict[str, str]:
    """Signs and codes that stand before an amount, and the currency code of each."""
    return _CURRENCY_SIGNS | {code: code for code in CURRENCY_CODES}
