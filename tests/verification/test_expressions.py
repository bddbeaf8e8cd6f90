"""Expressions over values: enough for any honest check, and nothing that reaches out of the given values."""

from __future__ import annotations

import math
import subprocess
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from kbtool.verification.expressions import evaluate, free_names
from kbtool.verification.permitted import ExpressionError


class Labels:
    """A stand-in for a tensor: compares element by element."""

    def __init__(self, values: list[float]):
        self.values = values
        self.shape = (len(values),)

    def __ge__(self, bound: float) -> Labels:
        return Labels([value >= bound for value in self.values])

    def __lt__(self, bound: float) -> Labels:
        return Labels([value < bound for value in self.values])

    def all(self) -> bool:
        return all(self.values)

    def size(self, at: int) -> int:
        return self.shape[at]

    def zero_(self) -> None:
        self.values = [0]

    def save(self, path: str) -> None:
        Path(path).write_text("saved")


GOOD = [
    ("(labels >= 0).all() and (labels < num_classes).all()", True),
    ("assert (labels >= 0).all() and (labels < num_classes).all()", True),
    ("labels.size(0) == 3 and labels.shape[0] != 4", True),
    ("size[0] == 1", False),
    ("max(row['n'] for row in rows) > 2", True),
    ("[x * 2 for x in size if x > 3]", [8, 10]),
    ("{k: v for k, v in config.items() if v}", {"lr": 0.1}),
    ("{len(row) for row in rows}", {1}),
    ("sum(x for pair in [(1, 2), (3,)] for x in pair)", 6),
    ("config['lr'] if 'lr' in config else None", 0.1),
    ("not any(math.isnan(x) for x in losses)", False),
    ("size[-1:] == [5] and (1, *size)[0] == 1", True),
    ("1 < num_classes <= 10 < 11", True),
    ("isinstance(config, dict) and type_name == 'float16'", True),
    ("-num_classes + +1 - ~1", -7),
    ("sorted(size, reverse=True)[0]", 5),
    ("round(1 / 3, 2)", 0.33),
    ("bool(labels.values)", True),
]


def values() -> dict[str, object]:
    """What a failed program's frame may hold."""
    return {
        "labels": Labels([0, 1, 9]),
        "num_classes": 10,
        "size": [3, 4, 5],
        "rows": [{"n": 1}, {"n": 3}],
        "config": {"lr": 0.1, "wd": 0},
        "losses": [1.0, math.nan],
        "math": math,
        "type_name": "float16",
    }


@pytest.mark.parametrize(("text", "expected"), GOOD)
def test_honest_checks_are_evaluated(text: str, expected: object) -> None:
    """Comparisons, methods, loops, indexing and the usual functions work as in Python."""
    assert evaluate(text, values()) == expected


BAD = [
    "__import__('os').system('touch canary')",
    "().__class__.__bases__[0].__subclasses__()",
    "labels.__class__",
    "labels.__init__.__globals__",
    "(lambda: 1)()",
    "(x := 1)",
    "x = 1",
    "import os",
    "exec('1')",
    "eval('1')",
    "open('canary', 'w')",
    "getattr(labels, '__class__')",
    "'{0.__class__}'.format(labels)",
    "'{0}'.format_map(config)",
    "f'{labels.__class__}'",
    "f'{labels}'",
    "os.system('touch canary')",
    "holder.os.system('touch canary')",
    "holder.run(['touch', 'canary'])",
    "subprocess.run(['touch', 'canary'])",
    "labels.zero_()",
    "labels.save('canary')",
    "sorted(['canary'], key=labels.save)",
    "max(['canary'], key=labels.save)",
    "[labels.save][0]('canary')",
    "(labels.save if True else 0)('canary')",
    "config.update(lr=1)",
    "config.pop('lr')",
    "size.append(1)",
    "function()",
    "(x for x in size).gi_frame.f_globals",
    "generator.gi_frame",
    "frame.f_globals",
    "function.func_globals",
    "math.__loader__",
    "math.factorial(100000)",
    "await labels",
    "[x async for x in size]",
    "(yield 1)",
    "path.write_text('canary')",
    "path.unlink()",
    "path.open('w')",
    "print('x')",
    "globals()",
    "vars(labels)",
    "dangerous[0]",
    "{**config}",
    "dict(**config)",
    "labels.size(",
    "",
    "__name__",
    "compile('1', '', 'eval')",
    "type(labels)",
    "super()",
]


@pytest.mark.parametrize("text", BAD)
def test_nothing_reaches_out(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Imports, private attributes, definitions, assignments, and calls that write, run or load are refused; nothing happens."""
    import os

    monkeypatch.chdir(tmp_path)
    given = {
        **values(),
        "os": os,
        "subprocess": subprocess,
        "holder": SimpleNamespace(os=os, run=subprocess.run),
        "function": lambda: Path("canary").write_text("x"),
        "generator": (x for x in [1]),
        "path": Path("canary"),
        "dangerous": [eval],
        "frame": __import__("sys")._getframe(),
    }
    before = dict(given["config"])  # type: ignore[call-overload]

    with pytest.raises(ExpressionError):
        evaluate(text, given)

    assert not Path("canary").exists()
    assert given["config"] == before and given["size"] == [3, 4, 5]


@pytest.mark.parametrize(
    "text",
    ["10 ** 10 ** 10", "1 << 10 ** 12", "'a' * 10 ** 10", "[0] * 10 ** 10", "[x for x in range(10 ** 9)]", "sum(range(10 ** 9))", "[x for a in range(10 ** 4) for x in range(10 ** 4)]"],
)
def test_an_expression_can_not_take_the_program_down(text: str) -> None:
    """What would fill the memory or run for ever is given up."""
    started = time.monotonic()

    with pytest.raises(ExpressionError):
        evaluate(text, {})

    assert time.monotonic() - started < 30


def test_deep_nesting_is_refused() -> None:
    """A tower of brackets is an error and no crash of the interpreter."""
    with pytest.raises(ExpressionError):
        evaluate("(" * 5000 + "1" + ")" * 5000, {})
    with pytest.raises(ExpressionError):
        evaluate("-" * 3000 + "1", {})


def test_what_goes_wrong_is_told() -> None:
    """An exception of the values themselves becomes the reason."""
    with pytest.raises(ExpressionError, match="ZeroDivisionError"):
        evaluate("1 / x", {"x": 0})
    with pytest.raises(ExpressionError, match="no value"):
        evaluate("nowhere", {})


def test_free_names() -> None:
    """The names that must be given: functions and loop variables are not among them."""
    assert free_names("all(x < num_classes for x in labels) and len(size)") == {"num_classes", "labels", "size"}
    assert free_names("[y for x in rows for y in x]") == {"rows"}


@pytest.mark.torch
def test_expressions_over_tensors() -> None:
    """Real tensors: labels out of range, not-a-number losses, shapes, and torch's own pure functions."""
    torch = pytest.importorskip("torch")
    given = {"labels": torch.tensor([0, 3, 12]), "num_classes": 10, "loss": torch.tensor(float("nan")), "torch": torch}

    assert not bool(evaluate("(labels >= 0).all() and (labels < num_classes).all()", given))
    assert bool(evaluate("torch.isnan(loss).any()", given))
    assert evaluate("labels.dtype == torch.int64 and labels.shape[0] == 3", given) is True
    for text in ("torch.load('x')", "torch.save(labels, 'x')", "torch.ops", "torch.hub.load('x', 'y')", "labels.zero_()", "labels.fill_(1)", "torch.set_num_threads(1)"):
        with pytest.raises(ExpressionError):
            evaluate(text, given)
