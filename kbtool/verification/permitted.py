"""What an expression may use: tables, and the guards that read them.

An allow-list where the world is known (functions, modules), a list of what writes, runs or loads where it is not (methods of values).
"""

from __future__ import annotations

import ast
import types
from collections.abc import Callable
from typing import Any

LENGTH_LIMIT = 10_000_000
"""Longest sequence that repetition may make, and largest result in bits of a power or shift."""

FUNCTIONS: dict[str, Callable[..., Any]] = {
    function.__name__: function
    for function in (abs, all, any, bool, dict, divmod, enumerate, float, frozenset, int, isinstance, len, list, max, min)
    + (range, repr, reversed, round, set, sorted, str, sum, tuple, zip)
}
"""The built-in functions an expression may call."""

PURE_MODULE_FUNCTIONS: dict[str, frozenset[str]] = {
    "torch": frozenset(
        "isnan isinf isfinite equal allclose is_tensor is_floating_point numel any all sum min max abs unique finfo iinfo "
        "float16 bfloat16 float32 float64 half float double int8 uint8 int16 int32 int64 long bool".split()
    ),
    "numpy": frozenset(
        "isnan isinf isfinite array_equal allclose any all sum min max abs unique shape ndim size mean std finfo iinfo "
        "float16 float32 float64 int8 uint8 int16 int32 int64 bool_".split()
    ),
    "math": frozenset("isnan isinf isfinite sqrt log log2 log10 exp ceil floor prod fsum gcd pi e inf nan".split()),
}
"""Modules that a failed program's frame names, and what of them an expression may use: what only looks."""

FORBIDDEN_ATTRIBUTES = ("gi_", "cr_", "ag_", "f_", "tb_", "co_", "func_")
"""Beginnings of attributes through which an interpreter's insides are reached without an underscore."""

FORBIDDEN_CALLS = frozenset(
    "format format_map mro eval exec query apply apply_ map map_ pipe system popen run check_call check_output spawn open write writelines "
    "save load dump dumps tofile memmap backward step zero_grad train requires_grad_ register_hook register_forward_hook "
    "register_full_backward_hook unlink remove rmdir rename replace_file mkdir kill terminate close shutdown send sendall connect "
    "add append extend insert pop popitem clear update setdefault discard sort reverse set_ resize share_memory data_ptr to_pickle "
    "write_text write_bytes touch chmod fill put itemset setflags setfield byteswap".split()
)
"""Methods that write, run, load, train or change the value they belong to."""

FORBIDDEN_CALL_BEGINNINGS = ("save_", "load_", "write_", "to_csv", "to_file", "to_sql", "to_parquet", "delete_", "remove_", "set_", "push_")


class ExpressionError(Exception):
    """The expression is not permitted, or could not be evaluated; the text says why."""


def permit_attribute(name: str) -> None:
    """Refuse private attributes and those that lead to frames and code."""
    if name.startswith(("_", *FORBIDDEN_ATTRIBUTES)):
        raise ExpressionError(f"not permitted in an expression: the attribute {name}")


def guarded(value: Any) -> Any:
    """`value`, unless it leads out of the given values: code, frames, and functions of the interpreter that run things."""
    if isinstance(value, (types.FrameType, types.CodeType, types.TracebackType)) or value in _DANGEROUS_FUNCTIONS:
        raise ExpressionError(f"not permitted in an expression: a {type(value).__name__}")
    return value


class _Identities:
    """Membership by identity: values may be tensors, whose equality is no truth."""

    def __init__(self, *members: object):
        self._ids = {id(member) for member in members}

    def __contains__(self, value: object) -> bool:
        return id(value) in self._ids


_DANGEROUS_FUNCTIONS = _Identities(eval, exec, compile, open, __import__, getattr, setattr, delattr, globals, locals, vars, input, breakpoint)


def permit_argument(value: Any) -> None:
    """Refuse functions and methods as arguments: `sorted(names, key=model.save)` would call them."""
    if isinstance(value, (types.FunctionType, types.MethodType, types.BuiltinFunctionType)) and value not in FUNCTIONS.values():
        raise ExpressionError("not permitted in an expression: a function as an argument")


def permit_call(name: str) -> None:
    """Refuse methods that write, run, load, train or change the value they belong to; an underscore at the end means in place."""
    if name in FORBIDDEN_CALLS or name.startswith(FORBIDDEN_CALL_BEGINNINGS) or name.endswith("_"):
        raise ExpressionError(f"not permitted in an expression: calling {name}")


def permit_module_attribute(module: types.ModuleType, name: str) -> None:
    """Refuse whatever of a module is not known to look only."""
    if name not in PURE_MODULE_FUNCTIONS.get(module.__name__, frozenset()):
        raise ExpressionError(f"not permitted in an expression: {module.__name__}.{name}")


def bound_size(op: ast.operator, left: Any, right: Any) -> None:
    """Refuse powers, shifts and repetitions whose result would fill the memory."""
    if isinstance(op, (ast.Pow, ast.LShift)) and isinstance(left, int) and isinstance(right, int):
        bits = left.bit_length() * right if isinstance(op, ast.Pow) else left.bit_length() + right
        if bits > LENGTH_LIMIT:
            raise ExpressionError("the expression takes too long")
    if isinstance(op, ast.Mult):
        for sequence, times in ((left, right), (right, left)):
            if isinstance(sequence, (str, bytes, list, tuple)) and isinstance(times, int) and len(sequence) * times > LENGTH_LIMIT:
                raise ExpressionError("the expression takes too long")
