"""From a log to the first real failure, whatever stands around it."""

from __future__ import annotations

import pytest

from kbtool.matching.prefixes import PREFIXES, Believed, believed, strip
from kbtool.matching.report import report_text
from kbtool.matching.signs import Kind
from kbtool.model import Phase

TRACEBACK = """\
Traceback (most recent call last):
  File "train.py", line 3, in <module>
    loss.backward()
  File "/opt/py/lib/python3.11/site-packages/torch/_tensor.py", line 521, in backward
    torch.autograd.backward(self)
RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn
"""

PREFIXED: dict[str, str] = {
    "torch rank": "[rank3]: ",
    "torchrun role": "[default3]:",
    "mpirun tag": "[1,3]<stderr>:",
    "ray": "(RayTrainWorker pid=71, ip=10.0.0.3) ",
    "vllm process": "(EngineCore_DP0 pid=323240) ",
    "kubernetes": "2026-11-30T04:11:00.123456789Z stderr F ",
    "loguru": "2024-04-27 10:13:05 | ERROR | stderr | ",
    "docker json": "worker-1  | 2026-11-30T04:11:00.123456789Z ",
    "absl": "E1130 04:12:01.000000 4711 ",
    "iso time": "2026-11-30 04:11:00,123 - ",
    "slash time": "2020/06/01 08:53:59 ",
    "clock": "[22:17:15.743119] ",
    "syslog": "Nov 30 04:11:00 gpu-7 python[4711]: ",
    "kernel": "[3138783.897230] ",
    "buildkit": "#12 2.465 ",
    "pytest": "E       ",
    "box": "│ ",
    "slurm": "3: ",
    "compose": "worker-utils-1  | ",
    "tagged": "[training STDERR] ",
    "quoted": "> ",
}


@pytest.mark.parametrize("prefix", PREFIXES, ids=lambda prefix: prefix.name)
def test_every_prefix_comes_off_and_leaves_plain_text_alone(prefix: object) -> None:
    """Each shape of the table has an example that it strips, and none of them touches a bare message."""
    name = prefix.name  # type: ignore[attr-defined]
    given = [PREFIXED[name] + line + (" │" if name == "box" else "") for line in ("the message here:1 stands", "another one:2 too", "and a third:3 here")]

    assert strip(given[0], believed(given))[0].startswith("the message")
    assert strip("RuntimeError: boom", Believed(PREFIXES)) == ("RuntimeError: boom", None)


@pytest.mark.parametrize("prefix", ["[rank3]: ", "(RayTrainWorker pid=71) ", "2026-11-30T04:11:00.123Z stderr F [rank3]: ", "worker-1  | ", "3: ", "\x1b[31m", ""])
def test_a_prefixed_traceback_reads_like_a_bare_one(prefix: str) -> None:
    """The same failure, line and phase with a launcher's prefix on every line."""
    report = report_text("".join(prefix + line + "\n" for line in TRACEBACK.splitlines()))

    assert report.failure is not None
    assert (report.failure.type, report.failure.line, report.failure.phase) == ("RuntimeError", 6, Phase.BACKWARD)
    assert report.failure.rank == (3 if "rank3" in prefix or prefix == "3: " else None)


FALLOUT = """\
[rank0]:[E ProcessGroupNCCL.cpp:616] [Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=8) ran for 600041 milliseconds before timing out.
terminate called after throwing an instance of 'c10::DistBackendError'
W1130 04:11:50.000000 4711 torch/distributed/elastic/multiprocessing/api.py:900] Sending process 4711 closing signal SIGTERM
E1130 04:12:01.000000 4711 torch/distributed/elastic/multiprocessing/api.py:874] failed (exitcode: 1) local_rank: 0 (pid: 4721) of binary: python
torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
"""


@pytest.mark.parametrize("order", ["before", "after", "around"])
def test_fallout_is_not_the_failure(order: str) -> None:
    """Watchdogs, closing signals and launcher tables before or after: the exception stays the failure."""
    text = (FALLOUT if order != "after" else "") + TRACEBACK + (FALLOUT if order != "before" else "")
    report = report_text(text)

    assert report.failure is not None and report.failure.type == "RuntimeError"
    assert all(line.weight < 0.5 for line in report.lines if line.kind is Kind.FALLOUT)


def test_fallout_alone_is_all_there_is() -> None:
    """Without another failure the first to complain counts, and those after it less."""
    weights = [line.weight for line in report_text(FALLOUT).lines]

    assert weights[0] > max(weights[1:])


def test_of_a_direct_chain_the_first_exception_is_the_cause() -> None:
    """raise … from: the root stands above, and both messages belong to the chain."""
    text = "OSError: [Errno 28] No space left on device\n\nThe above exception was the direct cause of the following exception:\n\nRuntimeError: saving failed\n"
    report = report_text(text)

    assert report.failure is not None and report.failure.type == "OSError"
    assert {"OSError", "RuntimeError"} == {report.lines[at].text.split(":")[0] for at in report.chain}


def test_a_lookup_that_failed_on_the_way_is_only_a_detail() -> None:
    """KeyError, then during its handling another one: the later is the failure."""
    text = "KeyError: 'cuda'\n\nDuring handling of the above exception, another exception occurred:\n\nValueError: no such device\n"
    report = report_text(text)

    assert report.failure is not None and report.failure.type == "ValueError"


def test_a_later_cell_does_not_change_the_failure() -> None:
    """A NameError of the next notebook cell is not what failed first."""
    report = report_text(TRACEBACK + "\nTraceback (most recent call last):\n  File \"x.py\", line 1, in <module>\nNameError: name 'model' is not defined\n")

    assert report.failure is not None and report.failure.type == "RuntimeError"


def test_a_native_assertion_outweighs_its_echo() -> None:
    """CUDA's assert line is the failure, "device-side assert triggered" only reports it, wherever they stand."""
    text = "RuntimeError: CUDA error: device-side assert triggered\n../Loss.cu:90: operator(): block: [0,0,0] Assertion `t >= 0 && t < n_classes` failed.\n"
    report = report_text(text)

    assert report.failure is not None and "n_classes" in report.failure.message


@pytest.mark.parametrize(
    "advice",
    [
        "For debugging consider passing CUDA_LAUNCH_BLOCKING=1.",
        "Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.",
        "CUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below might be incorrect.",
        "If reserved memory is >> allocated memory try setting max_split_size_mb to avoid fragmentation.",
    ],
)
def test_advice_is_no_evidence(advice: str) -> None:
    """A sentence that is printed with many errors has no weight, alone or inside of a message."""
    alone = report_text(f"RuntimeError: CUDA error\n{advice}\n")
    inside = report_text(f"RuntimeError: CUDA out of memory. {advice} Yes.\n")

    assert all(line.weight == 0 for line in alone.lines[1:])
    assert advice.split()[3] not in inside.lines[0].text
    assert inside.lines[0].text.endswith("Yes.")


def test_an_error_glued_to_a_progress_bar_is_seen() -> None:
    """The bar goes, whatever follows it in the line stays; states of the bar count once."""
    bar = "".join(f"\rEpoch 3:  {i}%|{'#' * 4}      | {i}/100 [00:0{i % 10}<00:10,  9.71it/s]" for i in range(60))
    report = report_text(bar + "RuntimeError: boom\n")

    assert report.failure is not None
    assert (report.failure.type, report.failure.message, report.failure.line) == ("RuntimeError", "boom", 1)


def test_a_wrapped_name_is_mended() -> None:
    """A terminal that breaks a name in two: the line also carries the name as one word."""
    report = report_text("ValueError: a rather long message about the thing that is called max_pos\nition_embeddings here\n")

    assert "max_position_embeddings" in report.lines[0].mended


def test_a_rich_box_is_opened() -> None:
    """The message below a boxed traceback, and the box's frames as frames."""
    text = "╭─ Traceback (most recent call last) ─╮\n│ /job/run.py:6 in <module>            │\n│   3 import x                         │\n╰──────────────────────────────────────╯\nTypeError: no\n"
    report = report_text(text)

    assert report.failure is not None and report.failure.type == "TypeError"
    assert Kind.FRAME in {line.kind for line in report.lines}


def test_repeated_lines_count_once() -> None:
    """A thousand equal complaints are one."""
    report = report_text("ERROR: worker 3 failed\n" * 1000)

    assert len([line for line in report.lines if line.text]) == 1


@pytest.mark.parametrize(
    ("frame", "phase"),
    [
        ('File "/x/site-packages/torch/autograd/__init__.py", line 1, in backward', Phase.BACKWARD),
        ('File "/x/site-packages/torch/optim/adamw.py", line 1, in step', Phase.STEP),
        ('File "/x/site-packages/torch/utils/data/dataloader.py", line 1, in __next__', Phase.DATA),
        ('File "/x/site-packages/torch/nn/modules/module.py", line 1, in _call_impl', Phase.FORWARD),
        ('File "/x/site-packages/torch/serialization.py", line 1, in load', Phase.LOAD),
        ('File "/x/site-packages/uvicorn/server.py", line 1, in serve', Phase.SERVE),
        ('File "train.py", line 1, in <module>', Phase.UNKNOWN),
    ],
)
def test_the_phase_is_read_from_the_frames(frame: str, phase: Phase) -> None:
    """The innermost telling frame says where it failed."""
    report = report_text(f"Traceback (most recent call last):\n  {frame}\nRuntimeError: CUDA out of memory\n")

    assert report.failure is not None and report.failure.phase is phase
