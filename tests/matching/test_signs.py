"""The tables of shapes: each kind has lines that are of it and lines that are not, and no shape can be made to hang."""

from __future__ import annotations

import re
import time

import pytest

from kbtool.matching import prefixes, ranks, report, signs, tokens
from kbtool.matching.report import report_text
from kbtool.matching.signs import Kind
from kbtool.patterns import Pattern

EXAMPLES: tuple[tuple[str, Kind], ...] = (
    ("RuntimeError: boom", Kind.EXCEPTION),
    ("torch.distributed.DistBackendError: NCCL error", Kind.EXCEPTION),
    ("KeyboardInterrupt", Kind.EXCEPTION),
    ("UserWarning: deprecated", Kind.WARNING),
    ('  File "x.py", line 3, in f', Kind.FRAME),
    ("/usr/lib/x.py:24 in <module>", Kind.FRAME),
    ("frame #4: c10::Error::Error(c10::SourceLocation)", Kind.FRAME),
    ("Traceback (most recent call last):", Kind.TRACEBACK),
    ("main.c:5:10: fatal error: Python.h: No such file or directory", Kind.SIGN),
    ("Segmentation fault (core dumped)", Kind.SIGN),
    ("{'loss': nan, 'lr': 0.0002, 'epoch': 0.09}", Kind.SIGN),
    ("{'loss': 1.266, 'grad_norm': 0.85, 'epoch': 0.07}", Kind.PROGRESS),
    ("28/28 - 105s 4s/step - loss: 0.0300 - mean_squared_error: 0.0300", Kind.PROGRESS),
    ("INFO 04-27 10:13:05 engine.py:275] # GPU blocks: 0", Kind.LOG),
    ("Killing subprocess 20311", Kind.FALLOUT),
    ("RuntimeError: [../third_party/gloo/gloo/transport/tcp/pair.cc:534] Connection closed by peer [198.51.100.4]:9021", Kind.FALLOUT),
    ("ncclRemoteError: A call failed possibly due to a network error or a remote process exited or there was a network error", Kind.FALLOUT),
    ("[../third_party/gloo/gloo/transport/tcp/unbound_buffer.cc:81] Timed out waiting 1800000ms for recv operation to complete", Kind.SIGN),
    ("ConnectionResetError: [Errno 104] Connection reset by peer", Kind.EXCEPTION),
    ("undefined symbol: _ZN3c104cuda9SetDeviceEi", Kind.SIGN),
    ("index 7 is out of bounds", Kind.SIGN),
    ("the symbols are defined in the second file", Kind.TEXT),
    ("RuntimeError: Caught RuntimeError in DataLoader worker process 3.", Kind.WRAPPER),
    ("显存不足，训练失败", Kind.SIGN),
    ("Timeout (0:00:04)!", Kind.ADVICE),
    ("Timeout (4 s) while waiting for the store", Kind.SIGN),
    ("We walked along the river.", Kind.TEXT),
)


@pytest.mark.parametrize(("line", "kind"), EXAMPLES, ids=lambda value: str(value)[:30])
def test_a_line_is_what_it_looks_like(line: str, kind: Kind) -> None:
    """Examples of every kind, healthy ones beside alarming ones."""
    assert report_text(line).lines[0].kind is kind


PATTERNS = sorted(
    {
        (f"{module.__name__.rsplit('.', 1)[-1]}.{name}", value if isinstance(value, re.Pattern) else value.regex)
        for module in (signs, report, ranks, tokens)
        for name, value in vars(module).items()
        if isinstance(value, (re.Pattern, Pattern))
    }
    | {(f"prefix {prefix.name}", prefix.pattern.regex) for prefix in prefixes.PREFIXES}
    | {(f"{shape.source}: {shape.pattern.literals[0]}", shape.pattern.regex) for shape in (*signs.ADVICE, *signs.FALLOUT)}
    | {(f"phase {phase.value}", pattern.regex) for phase, pattern in signs.PHASES},
    key=lambda item: item[0],
)

NASTY = ("a" * 4096, " " * 4096, "a " * 2048, "1" * 4096, "[" * 4096, "│ " * 2048, "/a" * 2048, "a.A" * 1365, "'" * 4096, "a:1 in " * 600, "0%|" * 1365, "[=" * 2048, "A_" * 2048, "-" * 4096)


@pytest.mark.parametrize(("name", "pattern"), PATTERNS, ids=[name for name, _ in PATTERNS])
def test_no_shape_can_be_made_to_hang(name: str, pattern: re.Pattern[str]) -> None:
    """The longest line that is kept, in its nastiest forms: every shape gives up soon, and a whole report too."""
    for text in NASTY:
        begun = time.process_time()
        pattern.search(text)
        assert time.process_time() - begun < 1.0, (name, text[:10])


@pytest.mark.parametrize("text", NASTY, ids=range(len(NASTY)))
def test_no_line_makes_a_report_hang(text: str) -> None:
    """All shapes together on the nastiest lines, as exceptions, frames and plain text."""
    begun = time.process_time()
    report_text(f"RuntimeError: {text}\n  File {text}\n{text}\n{text}x\n")

    assert time.process_time() - begun < 5.0
