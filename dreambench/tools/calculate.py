"""Arithmetic in a restricted evaluator, so that a judge never does sums in its head.

The expression is parsed, never executed: numbers, + - * / // % **, parentheses, percentages (`12%`) and a few functions.
Names, attributes, subscripts and everything else are refused; length, depth, size of numbers and work are bounded.
Whole numbers stay exact.
"""

from __future__ import annotations

import ast
import math
import operator
import re
import statistics
from collections.abc import Callable, Mapping
from typing import Any

from dreambench.tools.tool import ToolCallError

Number = int | float

LONGEST = 500
DEEPEST = 30
MOST_DIGITS = 400
"""Whole numbers are exact up to this many digits; larger ones are refused."""
_LARGEST = 10**MOST_DIGITS
_EXPONENT = 2_000

_PERCENT = re.compile(r"((?:\d+(?:\.\d*)?|\.\d+))\s*%(?!\s*[\w(.])")
_THOUSANDS = re.compile(r"(?<![\w.])\d{1,3}(?:,\d{3})+(?![\d,])")
_SIGNS = str.maketrans(
    {"×": "*", "·": "*", "÷": "/", "−": "-", "–": "-", "^": "**", "％": "%", "＋": "+", "（": "(", "）": ")", "，": ","}
)


class CalculationError(ToolCallError):
    """The text is no expression that can be calculated; says what is wrong with it."""


def calculate(expression: str) -> Number:
    """The value of `expression`, an int where it is exact. Raises CalculationError.

    `(1,250 - 980) / 980 * 100`, `12% * 3.4`, `mean(3, 5, 9)`, `sqrt(2)`, `2 ^ 10`. A comma between groups of three digits
    belongs to the number outside of functions; `a % b` with a second operand is the remainder.
    """
    if len(expression) > LONGEST:
        raise CalculationError(f"the expression has {len(expression)} characters, at most {LONGEST} are taken")
    text = expression.translate(_SIGNS).strip().rstrip("=").strip()
    if not _has_call(text):
        text = _THOUSANDS.sub(lambda found: found.group().replace(",", ""), text)
    try:
        tree = ast.parse(_PERCENT.sub(r"(\1/100)", text), mode="eval")
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        raise CalculationError(f"not an arithmetic expression: {expression!r}") from error
    try:
        return _bounded(_value(tree.body, 0))
    except ZeroDivisionError as error:
        raise CalculationError("division by zero") from error
    except OverflowError as error:
        raise CalculationError("the result is too large") from error
    except (ValueError, statistics.StatisticsError, TypeError) as error:
        raise CalculationError(f"cannot be calculated: {error}") from error


def as_text(value: Number) -> str:
    """The number in full: all digits of a whole one, 15 significant ones of a fraction."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value) if isinstance(value, int) else format(value, ".15g")


def _has_call(text: str) -> bool:
    return re.search(r"[A-Za-z_]\w*\s*\(", text) is not None


def _value(node: ast.expr, depth: int) -> Number:
    if depth > DEEPEST:
        raise CalculationError(f"more than {DEEPEST} levels deep")
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return _bounded(value)
        case ast.UnaryOp(op=op, operand=operand) if type(op) in _UNARY:
            return _UNARY[type(op)](_value(operand, depth + 1))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            return _bounded(_BINARY[type(op)](_value(left, depth + 1), _value(right, depth + 1)))
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in _FUNCTIONS:
            return _bounded(_FUNCTIONS[name](*(_value(arg, depth + 1) for arg in args)))
        case ast.Call(func=ast.Name(id=name)):
            raise CalculationError(f"there is no function {name}; there are {', '.join(sorted(_FUNCTIONS))}")
        case ast.Name(id=name):
            raise CalculationError(f"{name!r} is not a number; only numbers can be calculated with")
    raise CalculationError(f"{ast.unparse(node)[:60]!r} is not arithmetic")


def _bounded(value: Number) -> Number:
    if isinstance(value, complex) or (isinstance(value, float) and not math.isfinite(value)):
        raise CalculationError("the result is not a real number")
    if isinstance(value, int) and abs(value) > _LARGEST:
        raise CalculationError(f"a number has more than {MOST_DIGITS} digits")
    return value


def _power(base: Number, exponent: Number) -> Number:
    """Refuses what would take long before it is begun."""
    if abs(exponent) > _EXPONENT:
        raise CalculationError(f"exponents go up to {_EXPONENT}")
    if isinstance(base, int) and isinstance(exponent, int) and base.bit_length() * max(exponent, 0) > 4 * MOST_DIGITS:
        raise CalculationError("the power is too large")
    return base**exponent


def _divide(left: Number, right: Number) -> Number:
    """Exact where it comes out even."""
    if isinstance(left, int) and isinstance(right, int) and right and left % right == 0:
        return left // right
    return left / right


def _round(value: Number, digits: Number = 0) -> Number:
    if not isinstance(digits, int) or abs(digits) > 30:
        raise CalculationError("round takes a whole number of digits, up to 30")
    return round(value, digits)


def _some(name: str, function: Callable[[list[Number]], Any]) -> Callable[..., Number]:
    def of(*values: Number) -> Number:
        if not values:
            raise CalculationError(f"{name} needs at least one number")
        result: Number = function(list(values))
        return result

    return of


_UNARY: Mapping[type[ast.unaryop], Callable[[Number], Number]] = {ast.UAdd: operator.pos, ast.USub: operator.neg}
_BINARY: Mapping[type[ast.operator], Callable[[Number, Number], Number]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: _divide,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: _power,
}
_FUNCTIONS: Mapping[str, Callable[..., Number]] = {
    "sqrt": math.sqrt,
    "log": math.log,
    "log10": math.log10,
    "log2": math.log2,
    "exp": math.exp,
    "abs": abs,
    "round": _round,
    "min": _some("min", min),
    "max": _some("max", max),
    "sum": _some("sum", sum),
    "mean": _some("mean", statistics.fmean),
    "median": _some("median", statistics.median),
}
