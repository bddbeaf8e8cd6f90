"""Python expressions over the values of a failed program, walked and never compiled: what is not in the tables can not happen.

An expression may name the given values, read their attributes, call their methods and a few built-in functions, compare, count and
index. It may not import, assign, define, reach a module, a private or interpreter attribute, or call what writes, loads or trains.
"""

from __future__ import annotations

import ast
import operator
import time
import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from kbtool.verification.permitted import (
    FUNCTIONS,
    ExpressionError,
    bound_size,
    guarded,
    permit_argument,
    permit_attribute,
    permit_call,
    permit_module_attribute,
)

STEP_LIMIT = 1_000_000
SECONDS_LIMIT = 5.0
"""An expression that takes more steps or time than this is given up."""

_BINARY: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.MatMult: operator.matmul,
}
_UNARY: dict[type, Callable[[Any], Any]] = {ast.Not: operator.not_, ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Invert: operator.invert}
_COMPARE: dict[type, Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda left, right: left in right,
    ast.NotIn: lambda left, right: left not in right,
}


def parse(text: str) -> ast.expr:
    """The expression's tree. Raises ExpressionError when it is no expression or uses what is not permitted."""
    try:
        tree = ast.parse(text.strip().removeprefix("assert "), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ExpressionError(f"syntax error in the expression: {getattr(error, 'msg', error)}") from None
    for node in ast.walk(tree):
        _permit(node)
    return tree


def _permit(node: ast.AST) -> None:
    if not isinstance(node, (*_EVALUATORS, ast.expr_context, ast.operator, ast.unaryop, ast.cmpop, ast.boolop, ast.comprehension, ast.keyword)):
        raise ExpressionError(f"not permitted in an expression: {type(node).__name__}")
    if isinstance(node, ast.Attribute):
        permit_attribute(node.attr)
    if isinstance(node, ast.Name) and node.id.startswith("__"):
        raise ExpressionError(f"not permitted in an expression: the name {node.id}")
    if isinstance(node, ast.comprehension) and node.is_async:
        raise ExpressionError("not permitted in an expression: an asynchronous loop")


def free_names(text: str) -> set[str]:
    """Names that must be given for the expression to be evaluated: built-in functions and the loops' own names left out."""
    tree = parse(text)
    bound = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    return used - bound - set(FUNCTIONS)


def evaluate(text: str, values: Mapping[str, Any]) -> Any:
    """The value of the expression `text` over `values`.

    Raises ExpressionError for what is not permitted and for whatever goes wrong on the way.
    """
    tree = parse(text)
    try:
        return _Evaluation(values).value(tree)
    except ExpressionError:
        raise
    except Exception as error:
        raise ExpressionError(f"the expression raised {type(error).__name__}: {str(error)[:200]}") from None


class _Evaluation:
    """One walk over a tree, with its names, its steps and its deadline; one method for each kind of node (`_EVALUATORS`)."""

    def __init__(self, values: Mapping[str, Any]):
        self.scopes: list[dict[str, Any]] = [dict(values)]
        self.steps = 0
        self.deadline = time.monotonic() + SECONDS_LIMIT

    def value(self, node: ast.expr) -> Any:
        """The value of any node; every value passes the guard."""
        self.steps += 1
        if self.steps > STEP_LIMIT or (self.steps % 256 == 0 and time.monotonic() > self.deadline):
            raise ExpressionError("the expression takes too long")
        return guarded(_EVALUATORS[type(node)](self, node))

    def constant(self, node: ast.Constant) -> Any:
        return node.value

    def name(self, node: ast.Name) -> Any:
        for scope in reversed(self.scopes):
            if node.id in scope:
                return scope[node.id]
        if node.id in FUNCTIONS:
            return FUNCTIONS[node.id]
        raise ExpressionError(f"the name {node.id} has no value")

    def attribute(self, node: ast.Attribute) -> Any:
        owner = self.value(node.value)
        if isinstance(owner, types.ModuleType):
            permit_module_attribute(owner, node.attr)
        return getattr(owner, node.attr)

    def call(self, node: ast.Call) -> Any:
        function = self.function(node.func)
        arguments = [item for argument in node.args for item in self.items(argument)]
        named = {keyword.arg: self.value(keyword.value) for keyword in node.keywords if keyword.arg}
        if any(keyword.arg is None for keyword in node.keywords):
            raise ExpressionError("not permitted in an expression: ** in a call")
        for argument in (*arguments, *named.values()):
            permit_argument(argument)
        if function is FUNCTIONS["range"] and len(range(*arguments)) > STEP_LIMIT:
            raise ExpressionError("the expression takes too long")
        return function(*arguments, **named)

    def function(self, node: ast.expr) -> Callable[..., Any]:
        """What a call calls: a method of a value, a function of a known module, or a built-in one; never a value itself."""
        if isinstance(node, ast.Attribute):
            permit_call(node.attr)
            return self.attribute(node)  # type: ignore[no-any-return]
        if isinstance(node, ast.Name) and node.id in FUNCTIONS and not any(node.id in scope for scope in self.scopes):
            return FUNCTIONS[node.id]
        raise ExpressionError(f"not permitted in an expression: calling {ast.unparse(node)}")

    def items(self, node: ast.expr) -> list[Any]:
        return list(self.value(node.value)) if isinstance(node, ast.Starred) else [self.value(node)]

    def binary(self, node: ast.BinOp) -> Any:
        left, right = self.value(node.left), self.value(node.right)
        bound_size(node.op, left, right)
        return _BINARY[type(node.op)](left, right)

    def unary(self, node: ast.UnaryOp) -> Any:
        return _UNARY[type(node.op)](self.value(node.operand))

    def boolean(self, node: ast.BoolOp) -> Any:
        stops_at = isinstance(node.op, ast.Or)
        result: Any = None
        for part in node.values:
            result = self.value(part)
            if bool(result) is stops_at:
                break
        return result

    def compare(self, node: ast.Compare) -> Any:
        left, result = self.value(node.left), True
        for test, part in zip(node.ops, node.comparators, strict=True):
            right = self.value(part)
            result = _COMPARE[type(test)](left, right)
            if len(node.ops) > 1 and not result:
                return result
            left = right
        return result

    def conditional(self, node: ast.IfExp) -> Any:
        return self.value(node.body if self.value(node.test) else node.orelse)

    def subscript(self, node: ast.Subscript) -> Any:
        return self.value(node.value)[self.value(node.slice)]

    def slice(self, node: ast.Slice) -> slice:
        return slice(*(self.value(part) if part else None for part in (node.lower, node.upper, node.step)))

    def sequence(self, node: ast.List | ast.Tuple | ast.Set) -> Any:
        kind = {ast.List: list, ast.Tuple: tuple, ast.Set: set}[type(node)]
        return kind(item for element in node.elts for item in self.items(element))

    def dictionary(self, node: ast.Dict) -> dict[Any, Any]:
        if None in node.keys:
            raise ExpressionError("not permitted in an expression: ** in a dictionary")
        return {self.value(key): self.value(value) for key, value in zip(node.keys, node.values, strict=True) if key}

    def comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> Any:
        found = [self.value(node.elt) for _ in self.loop(node.generators)]
        return set(found) if isinstance(node, ast.SetComp) else found  # a generator object would lead to its frame

    def dictionary_comprehension(self, node: ast.DictComp) -> dict[Any, Any]:
        return {self.value(node.key): self.value(node.value) for _ in self.loop(node.generators)}

    def loop(self, generators: list[ast.comprehension]) -> Iterator[None]:
        if not generators:
            yield
            return
        first, rest = generators[0], generators[1:]
        scope: dict[str, Any] = {}
        self.scopes.append(scope)
        try:
            for item in self.value(first.iter):
                self.bind(first.target, item, scope)
                if all(self.value(condition) for condition in first.ifs):
                    yield from self.loop(rest)
        finally:
            self.scopes.remove(scope)

    def bind(self, target: ast.expr, item: Any, scope: dict[str, Any]) -> None:
        if isinstance(target, ast.Name):
            scope[target.id] = guarded(item)
        elif isinstance(target, (ast.Tuple, ast.List)):
            for part, value in zip(target.elts, item, strict=True):
                self.bind(part, value, scope)
        else:
            raise ExpressionError("not permitted in an expression: this loop target")


_EVALUATORS: dict[type, Callable[[_Evaluation, Any], Any]] = {
    ast.Constant: _Evaluation.constant,
    ast.Name: _Evaluation.name,
    ast.Attribute: _Evaluation.attribute,
    ast.Call: _Evaluation.call,
    ast.BinOp: _Evaluation.binary,
    ast.UnaryOp: _Evaluation.unary,
    ast.BoolOp: _Evaluation.boolean,
    ast.Compare: _Evaluation.compare,
    ast.IfExp: _Evaluation.conditional,
    ast.Subscript: _Evaluation.subscript,
    ast.Slice: _Evaluation.slice,
    ast.List: _Evaluation.sequence,
    ast.Tuple: _Evaluation.sequence,
    ast.Set: _Evaluation.sequence,
    ast.Dict: _Evaluation.dictionary,
    ast.ListComp: _Evaluation.comprehension,
    ast.SetComp: _Evaluation.comprehension,
    ast.GeneratorExp: _Evaluation.comprehension,
    ast.DictComp: _Evaluation.dictionary_comprehension,
    ast.Starred: lambda evaluation, node: evaluation.value(node.value),
}
"""The nodes of an expression and how each is evaluated; a node that is not here is not permitted."""
